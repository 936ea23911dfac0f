#include "runs/request.hpp"

#include <fmt/format.h>

#include "pipeline/limits.hpp"

namespace sb::runs {

Result<pipeline::Ticket> load_ticket(const Seams& seams, pipeline::Forge& forge, const std::string& given,
                                     std::string* source) {
  const pipeline::ForgeKind& kind = forge.kind();
  const bool is_address =
      given.starts_with("https://") || given.starts_with("http://") || !pipeline::ticket_reference(given, kind).empty();
  // `owner/name#12`, `#12`: unless there is such a file.
  const bool is_number =
      kind.is_ticket_name != nullptr && kind.is_ticket_name(given) && seams.files.kind(given) == FileKind::kMissing;
  if (is_address || is_number) {
    pipeline::Ticket ticket = SB_TRY(forge.ticket(given));
    if (source != nullptr) *source = is_number ? ticket.id : given;
    return ticket;
  }
  if (given == "-") {
    const std::string bytes = SB_TRY(seams.streams.read_input(pipeline::limits::kTicketBytes + 1));
    return pipeline::read_ticket(bytes, "<input>");
  }
  auto bytes = seams.files.read(given, pipeline::limits::kTicketBytes);
  if (!bytes && bytes.error().code == ErrorCode::kLimit) {
    return fail(ErrorCode::kLimit,
                fmt::format("the ticket {} has more than {} bytes", given, pipeline::limits::kTicketBytes),
                "Shorten it, and link to the rest");
  }
  const std::string text = SB_TRY(std::move(bytes));
  if (source != nullptr) *source = SB_TRY(seams.files.canonical(given));
  return pipeline::read_ticket(text, given);
}

std::optional<pipeline::RunRequest> restart_of(const pipeline::RunState& state) {
  if (state.outcome != "abandoned") return std::nullopt;
  for (const pipeline::RunQuestion& asked : state.asked) {
    if (asked.choice != "restart") continue;
    auto ticket = pipeline::Ticket::from(asked.packet["more"]["ticket"]);
    if (!ticket) return std::nullopt;
    const bool is_title = state.goal == state.ticket.title;
    return pipeline::RunRequest{.goal = is_title ? ticket->title : state.goal,
                                .workspace = state.workspace,
                                .ticket = std::move(*ticket),
                                .ticket_source = state.ticket_source,
                                .mode = state.wanted,
                                .trigger = state.trigger,
                                .restart_of = state.id};
  }
  return std::nullopt;
}

}  // namespace sb::runs

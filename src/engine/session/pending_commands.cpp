#include "engine/session/pending_commands.hpp"

#include <algorithm>

#include "engine/advance/advance.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/new_session.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

Result<bool> was_gap_reported(store::Snapshot& snapshot, const SessionToken& token) {
  const std::string_view code = to_string(BlockerCode::kDeclaredFiles);
  for (int number = 1; number < token.attempt; ++number) {
    const auto attempt = SB_TRY(read_attempt(snapshot, token.session, token.node, number));
    if (!attempt || attempt->ended != Attempt::Ended::kBlocked || attempt->output_seq == 0) continue;
    const Value blocked = SB_TRY(read_event(snapshot, token.session, attempt->output_seq, "attempt_blocked"));
    if (!blocked["blockers"].is_array()) continue;
    const bool is_it = std::ranges::any_of(blocked["blockers"].items(),
                                           [&](const Value& blocker) { return blocker.string_at("code") == code; });
    if (is_it) return true;
  }
  return false;
}

}  // namespace

Result<std::optional<PendingCommand>> PendingCommands::find(const SessionToken& token) {
  constexpr std::size_t kRemembered = 10'000;
  if (without_commands_.contains(token.session)) return std::nullopt;
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::optional<PendingCommand>> {
    const auto summary = SB_TRY(read_summary(snapshot, token.session));
    const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
    if (!node) return std::nullopt;
    const auto program = SB_TRY(programs_.get(snapshot, summary->hash));
    if (!program->has_commands() && !program->has_hand_off()) {
      if (without_commands_.size() >= kRemembered) without_commands_.clear();
      without_commands_.insert(token.session);
      return std::nullopt;
    }
    if (node->attempt != token.attempt || node->kind != NodeKind::kStep) return std::nullopt;
    if (node->waiting && node->waiting->what != Waiting::Kind::kBreaker) return std::nullopt;
    const workflow::Step& step = program->step(node->position.step);
    PendingCommand pending{.session = *summary, .command = step.command, .origins = {}};
    pending.hands_over = program->hands_over(step) && !summary->is_driven() && !summary->git_head.empty();
    if (pending.command.empty() && !pending.hands_over) return std::nullopt;
    if (!pending.command.empty()) pending.origins = SB_TRY(origins_of(snapshot, *summary));
    if (pending.hands_over) pending.was_gap_reported = SB_TRY(was_gap_reported(snapshot, token));
    return pending;
  });
}

}  // namespace sb::engine

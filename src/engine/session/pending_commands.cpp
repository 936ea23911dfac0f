#include "engine/session/pending_commands.hpp"

#include "engine/state/rows.hpp"
#include "engine/steps/new_session.hpp"

namespace sb::engine {

Result<std::optional<PendingCommand>> PendingCommands::find(const SessionToken& token) {
  constexpr std::size_t kRemembered = 10'000;
  if (without_commands_.contains(token.session)) return std::nullopt;
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::optional<PendingCommand>> {
    const auto summary = SB_TRY(read_summary(snapshot, token.session));
    const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
    if (!node) return std::nullopt;
    const auto program = SB_TRY(programs_.get(snapshot, summary->hash));
    if (!program->has_commands()) {
      if (without_commands_.size() >= kRemembered) without_commands_.clear();
      without_commands_.insert(token.session);
      return std::nullopt;
    }
    if (node->attempt != token.attempt || node->kind != NodeKind::kStep) return std::nullopt;
    if (node->waiting && node->waiting->what != Waiting::Kind::kBreaker) return std::nullopt;
    const workflow::Step& step = program->step(node->position.step);
    if (step.command.empty()) return std::nullopt;
    return PendingCommand{*summary, step.command, SB_TRY(origins_of(snapshot, *summary))};
  });
}

}  // namespace sb::engine

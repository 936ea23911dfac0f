#include "engine/steps/step_update.hpp"

#include "engine/steps/new_session.hpp"

namespace sb::engine {
namespace {

// The files that the session's workflow was made from. Without them the author is unknown, and not trusted.
std::vector<workflow::Origin> origins_in(SessionUpdate& update) {
  const auto started = update.started();
  if (started && update.summary().parent_session.empty()) return origins_from(*started);
  auto origins = origins_of(update.transaction(), update.summary());
  return origins ? std::move(*origins) : origins_from(Value());
}

}  // namespace

Status StepUpdate::emit(std::string type, Value payload) const {
  payload.set("node", number);
  return session.emit(std::move(type), std::move(payload));
}

Result<std::string> ask(inbox::Inbox& inbox, SessionUpdate& update, const Checked<decision::Declaration>& question,
                        bool is_gate) {
  if (!question) return std::unexpected(question.error().front());
  const Summary& summary = update.summary();
  const inbox::DecisionHandle handle =
      SB_TRY(inbox.open_in(update.transaction(), *question,
                           {.workspace = summary.workspace, .session = summary.id, .asker = {}, .is_gate = is_gate}));
  return handle.id;
}

Result<std::string> ask_step(inbox::Inbox& inbox, SessionUpdate& update, const SessionNode& asked, const Value& context,
                             const CommandRunner& commands) {
  const bool counts = claims_safety(asked) && commands.may_claim_safety(origins_in(update));
  const auto question = step_question(asked, context, counts);
  const decision::Decision* declared = question ? question->decision() : nullptr;
  const bool is_gate = declared != nullptr && (declared->kind == decision::DecisionKind::kApproval ||
                                               declared->kind == decision::DecisionKind::kConfirmation);
  return ask(inbox, update, question, is_gate);
}

}  // namespace sb::engine

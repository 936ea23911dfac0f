#include "engine/steps/step_update.hpp"

namespace sb::engine {

Status StepUpdate::emit(std::string type, Value payload) const {
  payload.set("node", number);
  return session.emit(std::move(type), std::move(payload));
}

Result<std::string> ask(inbox::Inbox& inbox, SessionUpdate& update, const Checked<decision::Declaration>& question) {
  if (!question) return std::unexpected(question.error().front());
  const inbox::DecisionHandle handle = SB_TRY(inbox.open_in(
      update.transaction(), *question, {.workspace = update.summary().workspace, .session = update.summary().id}));
  return handle.id;
}

}  // namespace sb::engine

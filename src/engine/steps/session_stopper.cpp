#include "engine/steps/session_stopper.hpp"

#include "engine/state/child_rows.hpp"

namespace sb::engine {

Status SessionStopper::stop(store::Transaction& transaction, std::string_view session, std::string_view reason,
                            std::string_view by) {
  SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, clock_.now_ms()));
  // Also below one that is over: an agent may have left its own sessions open.
  for (const std::string& child : SB_TRY(list_children(transaction, session))) {
    if (SB_TRY(read_summary(transaction, child))) {
      SB_TRY(stop(transaction, child, "its parent session was stopped", by));
    }
  }
  if (update.summary().status == SessionStatus::kComplete || update.summary().status == SessionStatus::kStopped)
    return {};
  const Node tip = *SB_TRY(update.node(update.summary().tip));
  for (const Child& child : tip.children) {
    if (!child.session.empty() && child.outcome.empty()) {
      SB_TRY(stop(transaction, child.session, "its parent session was stopped", by));
    }
  }
  if (tip.waiting && !tip.waiting->decision.empty()) SB_TRY(inbox_.discard_in(transaction, tip.waiting->decision));
  if (tip.waiting && !tip.waiting->session.empty()) {
    SB_TRY(stop(transaction, tip.waiting->session, "the session it evaluated was stopped", by));
  }
  SB_TRY(update.emit("session_stopped", Value::object({{"reason", reason}, {"by", by}})));
  return writer_.finish(update);
}

}  // namespace sb::engine

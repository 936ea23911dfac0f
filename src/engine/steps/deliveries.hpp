// Continues a session with what a caller submitted: delivers it to the open step, or looks whether what the session
// waits for has happened. Refers to its parts.
#pragma once

#include "engine/steps/decisions.hpp"
#include "engine/steps/gates.hpp"
#include "engine/steps/joins.hpp"

namespace sb::engine {

class Deliveries {
 public:
  Deliveries(Attempts& attempts, Gates& gates, Decisions& decisions, Joins& joins, const ResponseWriter& responses,
             PinnedPrograms& programs, inbox::Inbox& inbox, Surface surface)
      : attempts_(attempts),
        gates_(gates),
        decisions_(decisions),
        joins_(joins),
        responses_(responses),
        programs_(programs),
        inbox_(inbox),
        surface_(surface) {}

  // A token whose attempt has ended returns the answer that was recorded with its end. `delivers`: the submission is to
  // be delivered, even if it is empty. If the session was waiting and still is, the answer says that the input was
  // ignored.
  Result<SessionResponse> continue_session(SessionUpdate& update, const SessionToken& token,
                                           const Submission& submission, bool delivers);

 private:
  Status check_can_continue(const SessionNode& at) const;
  Result<SessionResponse> deliver(const StepUpdate& step, const Submission& submission);
  Result<SessionResponse> poll_waiting(const StepUpdate& step, const Submission& submission, bool delivers);
  Result<SessionResponse> poll_breaker(const StepUpdate& step, const Submission& submission, bool delivers);

  Attempts& attempts_;
  Gates& gates_;
  Decisions& decisions_;
  Joins& joins_;
  const ResponseWriter& responses_;
  PinnedPrograms& programs_;
  inbox::Inbox& inbox_;
  const Surface surface_;
};

}  // namespace sb::engine

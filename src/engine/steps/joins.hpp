// Steps that child sessions end: children that ended are recorded, queued ones are started, and once enough of them
// succeeded their results are captured and the session advances. If enough can no longer succeed, a person decides.
// Refers to its parts.
#pragma once

#include "engine/steps/attempts.hpp"
#include "engine/steps/session_stopper.hpp"

namespace sb::engine {

class Joins {
 public:
  Joins(Attempts& attempts, StepOpener& opener, SessionStopper& stopper, const ResponseWriter& responses,
        inbox::Inbox& inbox)
      : attempts_(attempts), opener_(opener), stopper_(stopper), responses_(responses), inbox_(inbox) {}

  // `delivers`: the caller wants to advance, so open children block it. A `wr.child_outcome` artifact ends a child
  // whose agent is gone.
  Result<SessionResponse> poll(const StepUpdate& step, const Submission& submission, bool delivers);
  // With the children as they are; those still running are stopped.
  Result<SessionResponse> join(const StepUpdate& step, const Submission& submission);

 private:
  Status record_ended_children(const StepUpdate& step, const Submission& submission);
  Status record_end(const StepUpdate& step, const Child& child, const Submission& submission);
  Result<SessionResponse> ask_about_quorum(const StepUpdate& step, const std::string& why);

  Attempts& attempts_;
  StepOpener& opener_;
  SessionStopper& stopper_;
  const ResponseWriter& responses_;
  inbox::Inbox& inbox_;
};

}  // namespace sb::engine

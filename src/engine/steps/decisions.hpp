// Steps that a person decides: the answer is stored under the step's context key, and the session advances. Refers to
// its parts.
#pragma once

#include "engine/steps/attempts.hpp"

namespace sb::engine {

class Decisions {
 public:
  Decisions(Attempts& attempts, const ResponseWriter& responses, inbox::Inbox& inbox, const CommandRunner& commands)
      : attempts_(attempts), responses_(responses), inbox_(inbox), commands_(commands) {}

  // Continues if it was answered, else says what the step waits for; a question that ended without an answer is asked
  // again. Of the submission only the context is used.
  Result<SessionResponse> poll(const StepUpdate& step, const Submission& submission);

 private:
  Result<SessionResponse> ask_again(const StepUpdate& step, const Value& context);
  Result<SessionResponse> take(const StepUpdate& step, const Value& context, const inbox::DecisionOutcome& outcome,
                               const Submission& submission);

  Attempts& attempts_;
  const ResponseWriter& responses_;
  inbox::Inbox& inbox_;
  const CommandRunner& commands_;
};

}  // namespace sb::engine

// Gates: what a step delivered is accepted or rejected by a person or, in an autonomous session, by an evaluator's
// session. An evaluator that cannot start, ends without a verdict or is not sure is replaced by a person.
//
// A gate judges the stored delivery; what is submitted while it is open is ignored. Refers to its parts.
#pragma once

#include <string>
#include <string_view>

#include "engine/steps/attempts.hpp"

namespace sb::engine {

class Gates {
 public:
  Gates(Attempts& attempts, StepOpener& opener, const ResponseWriter& responses, PinnedPrograms& programs,
        inbox::Inbox& inbox)
      : attempts_(attempts), opener_(opener), responses_(responses), programs_(programs), inbox_(inbox) {}

  // The delivery has been recorded; `outcome` says who judges it.
  Result<SessionResponse> open(const StepUpdate& step, const AdvanceResult& outcome, const Submission& submission);
  // Continues if there is a verdict, else says what the step waits for.
  Result<SessionResponse> poll(const StepUpdate& step, const Submission& submission);

 private:
  Result<SessionResponse> ask_person(const StepUpdate& step, const AttemptOutput& output, bool needs_signature,
                                     std::string_view reason);
  Result<SessionResponse> poll_evaluator(const StepUpdate& step, const Submission& submission);
  Result<SessionResponse> poll_person(const StepUpdate& step, const Submission& submission);
  // There is no verdict: records why, and asks a person, who is shown `shown_reason`.
  Result<SessionResponse> ask_again(const StepUpdate& step, std::string_view reason, Value by,
                                    std::string_view shown_reason);
  Result<SessionResponse> approve(const StepUpdate& step, const Submission& submission);

  Attempts& attempts_;
  StepOpener& opener_;
  const ResponseWriter& responses_;
  PinnedPrograms& programs_;
  inbox::Inbox& inbox_;
};

}  // namespace sb::engine

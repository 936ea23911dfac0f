// How an attempt on a step ends: the session advances, or the submission is blocked or rejected. Its token returns the
// same answer from then on.
//
// Too many refusals in a row, or rejections, trip the breaker: a person decides whether the step is tried again. Refers
// to its parts.
#pragma once

#include <string_view>
#include <vector>

#include "engine/advance/advance.hpp"
#include "engine/steps/response_writer.hpp"
#include "engine/steps/step_opener.hpp"

namespace sb::engine {

class Attempts {
 public:
  Attempts(StepOpener& opener, const ResponseWriter& responses, inbox::Inbox& inbox)
      : opener_(opener), responses_(responses), inbox_(inbox) {}

  // Opens the step at the cursor, which nothing may block.
  Result<SessionResponse> advance(const StepUpdate& step, const AdvanceResult& outcome);
  // `artifacts`: those of the submission, already stored.
  Result<SessionResponse> block(const StepUpdate& step, const std::vector<Blocker>& blockers,
                                const Submission& submission, const std::vector<SubmittedArtifact>& artifacts);
  // Its gate did not accept what was delivered.
  Result<SessionResponse> reject(const StepUpdate& step, std::string_view reason);

 private:
  Result<SessionResponse> end(const StepUpdate& step, std::string_view ended, NodeNo successor,
                              SessionResponse response);
  Result<SessionResponse> trip_breaker(const StepUpdate& step, std::string_view ended, int count,
                                       const std::string& why);

  StepOpener& opener_;
  const ResponseWriter& responses_;
  inbox::Inbox& inbox_;
};

}  // namespace sb::engine

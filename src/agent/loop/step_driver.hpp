// The state of a session as its worker sees it, and how it advances: a step is submitted, gates are asked, child
// sessions and evaluators run, until the agent has something to do again or someone else must act first.
//
// Everything here may be repeated after a crash: a submitted attempt returns its stored answer, an ended child stays
// ended.
#pragma once

#include <string>

#include "agent/loop/work_context.hpp"
#include "engine/session/sessions.hpp"

namespace sb::agent {

struct StepOutcome {
  enum class Kind {
    kStep,       // the agent has a step to do
    kRefused,    // the submission was rejected; the same step is open
    kFault,      // what it sent is not a submission; not counted as an attempt
    kComplete,   // the workflow is complete
    kSuspended,  // someone else must act first, or the work ends here
  };
  Kind kind = Kind::kSuspended;
  std::string text = {};     // for the agent
  std::string notices = {};  // the start of `text`: what happened since the last step
  std::string token = {};    // of the open attempt
  std::string step = {}, place = {};
  Value blockers = {};    // kRefused: as the engine's answer has them
  WorkResult ended = {};  // kSuspended
};

// The current state.
StepOutcome advance_session(WorkContext& work_context);
// Submits the open step with the token of its attempt, then advances.
StepOutcome submit_step(WorkContext& work_context, const std::string& token, engine::Submission submission);
// The complete open step for a reader without context: goal, what was submitted so far, the step.
Result<std::string> full_step_text(WorkContext& work_context);

// The text of an answer without its hints about tokens, which built-in agents never see. Pure.
std::string without_token_hints(std::string text);

}  // namespace sb::agent

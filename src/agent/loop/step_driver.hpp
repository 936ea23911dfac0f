// Where a session stands for whoever works it, and how it is moved on: a step is delivered, gates are asked, child
// sessions and evaluators are worked, until the agent has something to do again or somebody else must move first.
//
// Everything here may be done again after a crash: a delivered attempt gives its stored answer, an ended child is
// ended.
#pragma once

#include <string>

#include "agent/loop/work_context.hpp"
#include "engine/session/sessions.hpp"

namespace sb::agent {

struct StepOutcome {
  enum class Kind {
    kStep,       // the agent has a step to do
    kRefused,    // what it delivered was not accepted; the same step is open
    kFault,      // what it sent is no submission at all; nothing was counted
    kComplete,   // the workflow is
    kSuspended,  // somebody else must move first, or the work ends here
  };
  Kind kind = Kind::kSuspended;
  std::string text = {};     // for the agent
  std::string notices = {};  // what it begins with: what happened on the way here
  std::string token = {};    // of the open attempt
  std::string step = {}, place = {};
  Value blockers = {};    // kRefused: as the engine's answer has them
  WorkResult ended = {};  // kSuspended
};

// As it stands.
StepOutcome advance_session(WorkContext& work_context);
// Delivers the open step with the token of its attempt, and settles.
StepOutcome submit_step(WorkContext& work_context, const std::string& token, engine::Submission submission);
// The whole of the open step as a newcomer needs it: goal, what was delivered so far, the step.
Result<std::string> full_step_text(WorkContext& work_context);

// An answer's text without the words about tokens, which agents of ours never see. Pure.
std::string without_token_hints(std::string text);

}  // namespace sb::agent

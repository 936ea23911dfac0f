// Sessions as programs are shown them: by the commands, and as resources. Pure.
#pragma once

#include "base/document/value.hpp"
#include "engine/recall/ranking.hpp"

namespace sb::engine {

// {sessionId, workflowId, workflowName, title, goal, status, stepId, stepTitle, …}
Value session_value(const Summary& summary);
// The same with {why, tier}, and without the goal, which its title begins.
Value candidate_value(const ResumeCandidate& candidate);

}  // namespace sb::engine

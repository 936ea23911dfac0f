// Sessions as JSON, for commands and resources. Pure.
#pragma once

#include "base/document/value.hpp"
#include "engine/recall/ranking.hpp"

namespace sb::engine {

// The title for a person or an agent: with "…" if the goal goes on.
std::string shown_title(const Summary& summary);
// {sessionId, workflowId, workflowName, title, goal, status, stepId, stepTitle, …}
Value session_value(const Summary& summary);
// The same plus {why, tier}, without the goal, which the title starts with.
Value candidate_value(const ResumeCandidate& candidate);

}  // namespace sb::engine

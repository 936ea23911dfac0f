// Sessions as the commands show them.
#pragma once

#include <string>

#include "base/value.hpp"
#include "engine/ranking.hpp"

namespace sb::cli {

// Title and all, safe for a terminal, on one line.
std::string session_line(const engine::Summary& summary);
// {sessionId, workflowId, workflowName, title, goal, status, stepId, stepTitle, …}
Value session_value(const engine::Summary& summary);
// The same with {why, tier}, and without the goal, which its title begins.
Value candidate_value(const engine::Candidate& candidate);

}  // namespace sb::cli

// The child sessions that a step starts: its call, its parallel delegations, the iterations of a parallel loop. Pure.
#pragma once

#include <vector>

#include "engine/state/session_node.hpp"

namespace sb::engine {

// `context` is what the step sees (context_at). None of them has a session yet; one whose workflow is unknown has no
// hash.
std::vector<Child> children_of_step(const SessionNode& at, const Value& context);

}  // namespace sb::engine

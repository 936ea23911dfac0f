// How a step ended that has no notes of its own: what its child sessions left, what a person decided. Reads only.
#pragma once

#include <string>
#include <string_view>

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

// A few lines; empty for other steps. `context_after`: the hash of the context of the node that came next.
Result<std::string> outcome_of_step(store::Snapshot& snapshot, const Program& program, const Node& node,
                                    std::string_view context_after);

}  // namespace sb::engine

// What earlier iterations of a loop delivered, for the agent that works on a later one. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

struct IteratedStep {
  int iteration = 0;  // from 0
  std::string title = {}, step_id = {}, notes = {};
  std::vector<std::string> keys = {};  // of the context, set by it
  std::vector<Value> artifacts = {};
};

// At most `budget` bytes; newest first. `has_more`: there are older steps that were not read.
std::string earlier_iterations_text(const std::vector<IteratedStep>& newest_first, bool has_more, std::size_t budget);

// Whether this is a later iteration of a loop that repeats the same work. A forEach has another item each time.
bool repeats(const Program& program, const LoopFrame& frame);

// The innermost loop around a position that `repeats`; nullptr if there is none.
const LoopFrame* repeated_loop(const Program& program, const Position& position);

// The loop of which `to` begins a later iteration, coming from `from`; nullptr if it does not.
const LoopFrame* begun_iteration(const Program& program, const Position& from, const Position& to);

}  // namespace sb::engine

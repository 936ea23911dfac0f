// What a session needs to be told when it is taken up again: its newest notes first, within a budget, with a word on
// what was left out. Pure over what the caller reads; the caller stops reading when the budget is full.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/state.hpp"

namespace sb::engine {

struct PastStep {
  NodeNo node = 0;
  std::string step_id, title, notes;
  NodeNo parent = 0;
};

// `before` gives the delivered step behind a node, nothing at the root. At most `budget` bytes; a note that does not
// fit whole is left out and named, never cut.
Result<std::string> recall(NodeNo from, std::size_t budget,
                           const std::function<Result<std::optional<PastStep>>(NodeNo)>& before);

}  // namespace sb::engine

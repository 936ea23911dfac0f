// What a session needs to be told when it is taken up again: its newest notes first, within a budget, with a word on
// what was left out. Pure over what the caller reads; the caller stops reading when the budget is full.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/state/session_state.hpp"

namespace sb::engine {

struct RecalledStep {
  NodeNo node = 0;
  std::string step_id, title, notes;
  NodeNo parent = 0;
};

// `before` gives the step whose delivery led to a node (RecalledStep::node is that step's own), nothing at the root. At
// most `budget` bytes; a note that does not fit whole is left out and named, never cut. `depth` is how many deliveries
// stand behind `from` (Node::depth), so that those never read are counted too; -1 where nobody knows. Empty when
// nothing was delivered.
Result<std::string> recall(NodeNo from, std::size_t budget,
                           const std::function<Result<std::optional<RecalledStep>>(NodeNo)>& before, int depth = -1);

}  // namespace sb::engine

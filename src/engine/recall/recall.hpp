// What an agent is shown when a session is resumed: the newest notes first, within a budget, with a line about omitted
// ones. Pure over what the caller reads; the caller stops reading when the budget is full.
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

// `before` returns the step whose delivery led to a node (RecalledStep::node is that step's own), nothing at the root.
// At most `budget` bytes; a note that does not fit is omitted and named, never cut. `depth` is the number of deliveries
// before `from` (Node::depth), so that unread ones are counted too; -1 if unknown. Empty if nothing was delivered.
Result<std::string> recall(NodeNo from, std::size_t budget,
                           const std::function<Result<std::optional<RecalledStep>>(NodeNo)>& before, int depth = -1);

}  // namespace sb::engine

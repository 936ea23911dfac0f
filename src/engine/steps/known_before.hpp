// What came before a node, as its agent is shown it: notes, context values, results of child sessions, earlier
// iterations of its loop. Each is a text within its own limit, empty if there is nothing. Reads only.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/advance/advance.hpp"
#include "engine/answer/remedy.hpp"
#include "engine/state/session_node.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The newest notes on the way to this node.
Result<std::string> recall_before(store::Snapshot& snapshot, const SessionNode& at);

// The nodes with child sessions that were joined since the last step of the session's own agent, the newest last.
// `before`: the node before the one that is shown.
Result<std::vector<Node>> joined_before(store::Snapshot& snapshot, const std::string& session,
                                        std::optional<Node> before);
// What their children left.
Result<std::string> results_before(store::Snapshot& snapshot, const std::vector<Node>& joined, Surface surface);

// The context values of the node's branch, except those that its text shows anyway (`shown`: those of the step's own).
Result<std::string> values_before(store::Snapshot& snapshot, const SessionNode& at, const std::vector<Node>& joined,
                                  std::set<std::string, std::less<>> shown, Surface surface);

// For the first step of a later iteration, coming from `from`; for an agent that resumes, also for its other steps.
// Reads a bounded number of steps, however long the loop is. `outcome`: what has just been delivered there and is not
// in the rows yet; may be null.
Result<std::string> iterations_before(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                      const AdvanceResult* outcome, bool is_resumed);
// For the sessions that a step of a later iteration starts, whichever step of it.
Result<std::string> iterations_for_children(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                            const AdvanceResult* outcome);

}  // namespace sb::engine

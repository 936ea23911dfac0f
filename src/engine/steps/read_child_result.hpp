// Reads what a child session left. Thread safety: that of the snapshot.
#pragma once

#include "engine/answer/child_results.hpp"
#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

// Of a child that still runs: what it has so far, with the outcome `stopped`, because it is not waited for.
// Of one whose last step was done by sessions of its own, its notes are what they left.
Result<ChildResult> read_child_result(store::Snapshot& snapshot, const Child& child);

// One line for each session that the node started, within a limit.
Result<std::string> brief_of_children(store::Snapshot& snapshot, const Node& node);

}  // namespace sb::engine

// Reads what a child session left. Thread safety: that of the snapshot.
#pragma once

#include "engine/answer/child_results.hpp"
#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

// Of a child that still runs: what it has so far, with the outcome `stopped`, because it is not waited for.
Result<ChildResult> read_child_result(store::Snapshot& snapshot, const Child& child);

}  // namespace sb::engine

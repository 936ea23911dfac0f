// The sessions that a session started: in a step, for a gate, or through its agent. Rows `session-children`, key
// PARENT/CHILD, no value; sessions started before these rows existed have none. Thread safety: that of the transaction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace sb::engine {

Status record_child(store::Transaction& transaction, std::string_view parent, std::string_view child);
Result<std::vector<std::string>> list_children(store::Snapshot& snapshot, std::string_view parent);
// Removes the rows of a deleted session: those of its children and its own under its parent.
Status remove_child_rows(store::Transaction& transaction, std::string_view session, std::string_view parent);

}  // namespace sb::engine

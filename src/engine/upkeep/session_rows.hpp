// What maintenance shares about a session's rows: compare, delete and write them again from the events.
#pragma once

#include <optional>
#include <string_view>

#include "engine/state/events.hpp"
#include "guard/open_step.hpp"

namespace sb::engine {

// Whether the events end between two advances: one that is cut in the middle cannot be continued.
bool is_between_advances(const SessionState& state);

// The row about the open step, without its token; nothing if there must be none. An error: its content is damaged.
Result<std::optional<guard::OpenStep>> expected_open_step(store::Snapshot& snapshot, const Summary& summary,
                                                          const Node& tip);

Status write_session_rows(store::Transaction& transaction, const SessionState& state);
// All rows of one collection that belong to the session.
Status remove_session_rows(store::Transaction& transaction, std::string_view collection, std::string_view session);

}  // namespace sb::engine

// Sessions by the time they were last used, in pages. Their rows are sorted by class and time (engine/state/rows.hpp);
// all of them are merged from the classes.
#pragma once

#include <string>
#include <vector>

#include "engine/state/session_state.hpp"
#include "store/paging.hpp"
#include "store/store.hpp"

namespace sb::engine {

enum class SessionScope {
  kOpen,  // in progress, and no child of another session
  kAll,
};

struct SessionPage {
  std::vector<Summary> sessions;     // newest first
  std::vector<std::string> damaged;  // ids of the page whose record cannot be read
  store::PageFacts facts;
};

Result<SessionPage> list_sessions(store::Store& store, SessionScope scope, const store::PageRequest& request);

// TIME/ID of a session's row.
std::string time_part(const store::Row& row);
// At most `limit` rows of all classes after a TIME/ID, which may be empty.
Result<std::vector<store::Row>> rows_by_time(store::Snapshot& snapshot, bool descending, std::string_view after,
                                             int limit);

}  // namespace sb::engine

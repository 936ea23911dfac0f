// Looking after stored sessions: export, import, verify, delete, collect what nobody refers to.
//
// Export is one JSON object a line, an event each: {seq, type, time, payload, previous, hash, [events],
// [blobs: {hash: text}]}. The first line says how many events there are; `time` is RFC 3339; a blob's text is its
// canonical JSON. The first event that refers to a blob carries it, so the lines alone are the whole session. Import
// checks every hash, the chain, every blob and that the events make a session, and writes all of it or nothing; an id
// that is there is kConflict. Tokens do not travel: each home mints its own. Neither do decisions that are open and
// child sessions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/state/session_state.hpp"
#include "store/store.hpp"

namespace sb::engine {

using ProgressCallback = std::function<void(std::int64_t done, std::int64_t all)>;

Status export_session(store::Store& store, std::string_view session,
                      const std::function<Status(std::string_view)>& line);

// The id of the session. `next_line` gives nothing at the end. Faults are kInvalid with Place::line.
Result<std::string> import_session(store::Store& store,
                                   const std::function<Result<std::optional<std::string>>()>& next_line);

// What is wrong with one session; empty when it is whole: chain, payloads, blobs, and every row against what the events
// say.
struct Damage {
  std::string where;  // event 14, node 3, blob …
  std::string message;
};
Result<std::vector<Damage>> verify_session(store::Store& store, std::string_view session);
// Every session that has events or rows; `told` hears of the damaged ones. How many were looked at.
Result<std::int64_t> verify_sessions(
    store::Store& store, const std::function<void(const std::string& session, const std::vector<Damage>&)>& on_damaged,
    const ProgressCallback& progress);

struct PruneResult {
  std::vector<std::string> sessions;
  std::int64_t blobs = 0;
  std::int64_t bytes = 0;
  std::string not_collected;  // why blobs were left where they are: damage that hides who refers to them
};
// Removes sessions last touched before then (never an open one unless `also_open`, and a child only with its parent),
// then blobs nobody refers to.
Result<PruneResult> prune(store::Store& store, TimestampMs before, bool also_open, bool dry_run,
                          const ProgressCallback& progress);
Status remove_session(store::Store& store, std::string_view session);
// Blobs no session refers to. Safe beside processes that write.
Result<PruneResult> collect_garbage(store::Store& store, bool dry_run, const ProgressCallback& progress);

}  // namespace sb::engine

// Maintenance of stored sessions: export, import, verify, delete, collect unreferenced blobs.
//
// An export is one JSON object per line, one per event: {seq, type, time, payload, previous, hash, [events],
// [blobs: {hash: text}]}. The first line contains the number of events; `time` is RFC 3339; a blob's text is its
// canonical JSON. The first event that refers to a blob carries it, so the lines alone are the complete session. Import
// checks every hash, the chain, every blob and that the events form a session, and writes everything or nothing; an
// existing id is kConflict. Tokens are not exported: each home creates its own. Neither are open decisions and child
// sessions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/state/session_state.hpp"
#include "inbox/inbox.hpp"
#include "store/store.hpp"

namespace sb::engine {

using ProgressCallback = std::function<void(std::int64_t done, std::int64_t all)>;

Status export_session(store::Store& store, std::string_view session,
                      const std::function<Status(std::string_view)>& line);

// Returns the id of the session. `next_line` returns nothing at the end. Faults are kInvalid with SourceLocation::line.
Result<std::string> import_session(store::Store& store,
                                   const std::function<Result<std::optional<std::string>>()>& next_line);

// What is wrong with one session; empty if it is intact: chain, payloads, blobs, and every row compared with the
// events.
struct Damage {
  std::string where;  // event 14, node 3, blob …
  std::string message;
};
Result<std::vector<Damage>> verify_session(store::Store& store, std::string_view session);
// Checks every session that has events or rows; calls `on_damaged` for damaged ones. Returns the number checked.
Result<std::int64_t> verify_sessions(
    store::Store& store, const std::function<void(const std::string& session, const std::vector<Damage>&)>& on_damaged,
    const ProgressCallback& progress);

// A session that did not fit its events, and what was done: its rows are written again; `undone` events at its end, of
// an advance that was cut in the middle, are removed.
struct RebuiltSession {
  std::string session;
  std::int64_t events = 0;  // that it has now
  std::int64_t undone = 0;
  bool is_gone = false;              // nothing of it could be kept
  bool has_changed = false;          // false: there was nothing to improve
  std::string goal = {}, step = {};  // where it continues
  std::vector<Damage> left = {};     // what no event can restore: contents that are gone
};
// Its title, or its id if it has none.
std::string step_name(const Summary& summary);
// For a store that is being repaired: every chain is whole already.
Result<std::vector<RebuiltSession>> rebuild_sessions(store::Store& store);

struct PruneResult {
  std::vector<std::string> sessions;
  std::int64_t blobs = 0;
  std::int64_t bytes = 0;
  std::string not_collected;  // why blobs were not removed: damage that hides references to them
};
// Removes sessions last updated before then (never an open one unless `also_open`, and a child only with its parent),
// then unreferenced blobs. In small transactions, between which others can write.
Result<PruneResult> prune(store::Store& store, TimestampMs before, bool also_open, bool dry_run,
                          const ProgressCallback& progress);
Status remove_session(store::Store& store, std::string_view session);
// Closes the open decisions of sessions that are gone, those in `gone` included. The number of them.
Result<std::int64_t> close_orphaned_decisions(store::Store& store, inbox::Inbox& inbox,
                                              const std::vector<std::string>& gone, bool dry_run);
// Gives unused space back to the disk, in small transactions. A store of an older version is rewritten first if it has
// at most so many bytes of content; otherwise it keeps the space, and uses it for what comes.
inline constexpr std::int64_t kMostRewrittenBytes = 64 << 20;  // others wait about a second
Result<store::SpaceReport> return_space(store::Store& store, std::int64_t most_rewritten);
// Removes blobs that no session refers to. Safe while other processes write.
Result<PruneResult> collect_garbage(store::Store& store, bool dry_run, const ProgressCallback& progress);

}  // namespace sb::engine

// Repairs a damaged store: what is whole is put into a new file, the damaged files are set aside.
//
// The log's whole frames are applied to a copy of the file (log_salvage.hpp). If the copy has a sound structure, it is
// the new file; else every row that can be read is copied into an empty store (row_salvage.hpp). Then every chain of
// events and every blob is checked (chains.hpp): a stream keeps its events up to the first that is damaged or missing.
// Last, `rebuild` makes rows fit the events that are left; the store does not know what they mean.
//
// Safe beside other processes: writers wait for the lock, readers see the old store until their next transaction, and a
// process that has it open continues with the new file. A kill leaves the old store or the new one (replace.hpp). A
// second repair finds nothing. The calling process must not have the store open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sb::store {

// Events at the end of a stream that are gone.
struct LostEvents {
  std::int64_t kept = 0;                      // the stream now ends with this one; 0: nothing is left of it
  std::int64_t last = 0;                      // the last one known to have been stored
  std::map<std::int64_t, std::string> types;  // of those that were seen
};

struct RepairReport {
  std::vector<std::string> found;                   // what is damaged, one sentence each; empty: nothing
  std::map<std::string, LostEvents> lost;           // by stream
  std::vector<std::string> lost_blobs;              // hex
  std::int64_t streams = 0, events = 0, blobs = 0;  // in the repaired store
  std::string aside;                                // the folder with the damaged files; empty if nothing was replaced

  bool is_damaged() const { return !found.empty(); }
};

struct RepairOptions {
  bool is_dry_run = false;
  int busy_wait_ms = 30'000;
  // Called on the repaired store before it takes the place of the damaged one; adds to `found` what it changes.
  std::function<Status(Store&, RepairReport&)> rebuild = {};
};

// kNotFound, kUnavailable (others hold the lock), kUnsupported (of a newer version), kCorrupt (not a store: nothing of
// one was found in it), kIo (no space).
Result<RepairReport> repair_store(const std::string& path, const RepairOptions& options);

}  // namespace sb::store

// The embedded store: one SQLite file in WAL mode with synchronous=FULL, so a commit is one fsync and on disk when it
// returns.
//
// Beside FILE stand FILE-wal and FILE-shm (SQLite's) and FILE-lock (ours). Writers and checkpoints take turns under
// FILE-lock: SQLite 3.40 can lose commits when one connection starts a checkpoint at the moment another restarts the
// WAL. So no checkpoint is ever automatic; all are made by SqliteStore::checkpoint, with writers held off.
//
// Thread-safe as store.hpp says. Threads that want to read in parallel open a store each.
#pragma once

#include <memory>
#include <string>

#include "store/store.hpp"

namespace sb::store {

enum class Access {
  kReadOnly,   // makes no file and takes no lock of ours; a missing store is kNotFound
  kReadWrite,  // makes the directory (0700) and the file (0600) when missing, and brings an older file up to date
};

struct SqliteOptions {
  int busy_wait_ms = 30'000;                        // how long to wait for other processes before kUnavailable
  std::int64_t checkpoint_bytes = 4 << 20;          // after a commit that leaves the WAL longer than this, checkpoint
  std::int64_t close_checkpoint_bytes = 256 << 10;  // the same when closing, so that the next open has little to read
  std::string vfs;                                  // SQLite VFS to use; empty for the system's
};

// What was asked of SQLite since opening, for tests and benchmarks.
struct SqliteCost {
  std::int64_t statements = 0;
  std::int64_t checkpoints = 0;
};

class SqliteStore : public Store {
 public:
  // kNotFound, kIo, kCorrupt (not a store of ours, damaged), kUnsupported (written by a newer version), kUnavailable.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, Access access, SqliteOptions options = {});

  // Moves the WAL's content into the file and empties the WAL, as far as readers allow.
  virtual Status checkpoint() = 0;
  virtual SqliteCost cost() const = 0;
};

}  // namespace sb::store

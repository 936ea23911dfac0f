// The embedded store: one SQLite file in WAL mode with synchronous=FULL, so a commit is one fsync and durable when it
// returns.
//
// Next to FILE there are FILE-wal and FILE-shm (SQLite's, not removed when the store is closed) and FILE-lock (ours).
// Writers and checkpoints take turns under FILE-lock: SQLite 3.40 can lose commits when one connection starts a
// checkpoint at the moment another restarts the WAL. So no checkpoint is automatic; all are made in one place here,
// with writers locked out.
//
// A store that is repaired (store/repair) gets a new file. A process that has the old one open notices before
// its next transaction and continues with the new one.
//
// Thread-safe as described in store.hpp. Threads that want to read concurrently open one store each.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "store/store.hpp"

namespace sb::store {

namespace sqlite {
class Connection;
class LockFile;
}  // namespace sqlite

enum class Access {
  kReadOnly,   // never creates a store or waits for writers; a missing or empty one is kNotFound
  kReadWrite,  // creates the directory (0700) and the file (0600) if missing, and migrates an older file
};

struct SqliteOptions {
  int busy_wait_ms = 30'000;  // how long to wait for other processes before kUnavailable
  // Checkpoint after a commit that leaves more than this in the WAL, and on close if more than that is left: the first
  // process to open a store reads its whole WAL, which takes about a millisecond per MiB.
  std::int64_t checkpoint_bytes = 4 << 20;
  std::int64_t close_checkpoint_bytes = 256 << 10;
  std::string vfs;  // the SQLite VFS to use; empty for the system's
};

// Counters since opening, for tests and benchmarks.
struct SqliteStats {
  std::int64_t statements = 0;       // BEGIN and COMMIT included
  std::int64_t unindexed_steps = 0;  // rows read by full table scans, and sorts
  std::int64_t checkpoints = 0;
};

class SqliteStore final : public Store {
 public:
  // kNotFound, kIo, kCorrupt (damaged, or not our store), kUnsupported (written by a newer version), kUnavailable.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, Access access, SqliteOptions options = {});
  ~SqliteStore() override;

  // Moves the WAL's content into the file and empties the WAL, as far as readers allow.
  Status checkpoint();
  void give_way() override;
  Result<SpaceReport> make_space_releasable(std::int64_t most_bytes) override;
  SqliteStats cost() const;

 private:
  SqliteStore(std::unique_ptr<sqlite::Connection> connection, Access access, SqliteOptions options);
  Status run_write(const std::function<Status(Transaction&)>& work) override;
  Status run_read(const std::function<Status(Snapshot&)>& work) override;
  Result<std::unique_lock<std::mutex>> enter();
  Status commit(const std::function<Status(Transaction&)>& work);
  Status checkpoint_locked();
  Status check_log();
  Status check_note();
  Status follow_replacement();
  Status continue_with_new_file();
  void checkpoint_when_long();

  const Access access_;
  const SqliteOptions options_;
  mutable std::mutex mutex_;
  std::atomic<std::thread::id> inside_;  // the thread that runs work now, to reject nested calls
  std::unique_ptr<sqlite::Connection> connection_;
  std::unique_ptr<sqlite::LockFile> lock_;
  std::int64_t checkpoint_at_bytes_;
  std::int64_t checkpoints_ = 0;
};

}  // namespace sb::store

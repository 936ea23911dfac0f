// The embedded store: one SQLite file in WAL mode with synchronous=FULL, so a commit is one fsync and on disk when it
// returns.
//
// Beside FILE stand FILE-wal and FILE-shm (SQLite's, left in place when the store is closed) and FILE-lock (ours).
// Writers and checkpoints take turns under FILE-lock: SQLite 3.40 can lose commits when one connection begins a
// checkpoint at the moment another restarts the WAL. So no checkpoint is ever automatic; all are made in one place
// here, with writers held off.
//
// Thread-safe as store.hpp says. Threads that want to read at the same time open a store each.
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
  kReadOnly,   // never makes a store nor waits for writers; a missing or empty one is kNotFound
  kReadWrite,  // makes the directory (0700) and the file (0600) when missing, and brings an older file up to date
};

struct SqliteOptions {
  int busy_wait_ms = 30'000;  // how long to wait for other processes before kUnavailable
  // Checkpoint after a commit that leaves more than this in the WAL, and at closing when more than that is left: the
  // first to open a store reads its whole WAL, which takes about a millisecond a MiB.
  std::int64_t checkpoint_bytes = 4 << 20;
  std::int64_t close_checkpoint_bytes = 256 << 10;
  std::string vfs;  // the SQLite VFS to use; empty for the system's
};

// What was asked of SQLite since opening, for tests and benchmarks.
struct SqliteStats {
  std::int64_t statements = 0;       // BEGIN and COMMIT included
  std::int64_t unindexed_steps = 0;  // rows passed by scanning a whole table, and sorts
  std::int64_t checkpoints = 0;
};

class SqliteStore final : public Store {
 public:
  // kNotFound, kIo, kCorrupt (damaged, or not a store of ours), kUnsupported (written by a newer version),
  // kUnavailable.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, Access access, SqliteOptions options = {});
  ~SqliteStore() override;

  // Moves the WAL's content into the file and empties the WAL, as far as readers allow.
  Status checkpoint();
  SqliteStats cost() const;

 private:
  SqliteStore(std::unique_ptr<sqlite::Connection> connection, Access access, SqliteOptions options);
  Status run_write(const std::function<Status(Transaction&)>& work) override;
  Status run_read(const std::function<Status(Snapshot&)>& work) override;
  Result<std::unique_lock<std::mutex>> enter();
  Status commit(const std::function<Status(Transaction&)>& work);
  Status checkpoint_locked();
  Status check_log();
  void checkpoint_when_long();

  const Access access_;
  const SqliteOptions options_;
  mutable std::mutex mutex_;
  std::atomic<std::thread::id> inside_;  // who runs work now, to refuse a call from inside it
  std::unique_ptr<sqlite::Connection> connection_;
  std::unique_ptr<sqlite::LockFile> lock_;
  std::int64_t checkpoint_at_bytes_;
  std::int64_t checkpoints_ = 0;
};

}  // namespace sb::store

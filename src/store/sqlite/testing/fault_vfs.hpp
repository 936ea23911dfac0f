// A SQLite VFS that forwards everything to the system's VFS, counts it, and fails on request: a full disk, a broken
// disk, a torn write. For tests and the simulator.
//
// Registered with SQLite during its lifetime; pass its name() to SqliteOptions::vfs, and destroy the stores that use it
// first. Thread-safe.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace sb::store::sqlite {

struct IoCounts {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t bytes_written = 0;
  std::int64_t syncs = 0;

  bool operator==(const IoCounts&) const = default;
};

enum class Fault {
  kFull,  // SQLITE_FULL for writes, an I/O error for syncs
  kIo,    // an I/O error
  kTorn,  // like kIo, but the first failing write leaves its first half on disk
  kFlip,  // nothing fails, but one write changes a byte
};

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  // Counts for all files since the last reset.
  IoCounts counts() const;
  void reset_counts();

  // The n-th change from now (1 is the next; a change is a write, a sync or a truncation) fails, and all after it. For
  // kFlip only the n-th, or the first write after it.
  void fail_at(std::int64_t n, Fault fault);
  void clear_fault();
  bool has_failed() const { return has_failed_; }
  std::int64_t changes() const { return changes_; }  // since the last reset, failed ones included

 private:
  struct File;
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags);
  static const sqlite3_io_methods* methods();
  // SQLITE_OK, or the code that this change must fail with.
  int change(int io_error);
  bool tears_now();
  // Writes the bytes, incorrectly if the fault is due.
  int write(sqlite3_file* system, const void* bytes, int size, sqlite3_int64 at);

  sqlite3_vfs vfs_;
  sqlite3_vfs* system_;
  std::string name_;
  std::atomic<std::int64_t> reads_ = 0, writes_ = 0, bytes_written_ = 0, syncs_ = 0, changes_ = 0;
  std::atomic<std::int64_t> left_ = -1;  // changes until the fault; negative if none is planned
  std::atomic<Fault> fault_ = Fault::kIo;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> has_torn_ = false;
  std::atomic<bool> flips_next_ = false;
};

}  // namespace sb::store::sqlite

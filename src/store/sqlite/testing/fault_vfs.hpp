// A SQLite VFS that passes everything on to the system's, counts it, and fails when told to: a disk that fills up, a
// disk that breaks, a write torn in the middle. For tests and the simulator.
//
// Registered with SQLite while it lives; give its name() to SqliteOptions::vfs, and let the stores that use it die
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
  kTorn,  // as kIo, and the first failing write leaves its first half on disk
  kFlip,  // nothing fails, but in one write a byte is another
};

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  // Of all files since the last reset.
  IoCounts counts() const;
  void reset_counts();

  // The n-th change from now (1 is the next; a change is a write, a sync or a truncation) fails, and all after it; of
  // kFlip only the n-th, or the first write after it.
  void fail_at(std::int64_t n, Fault fault);
  void clear_fault();
  bool has_failed() const { return has_failed_; }
  std::int64_t changes() const { return changes_; }  // since the last reset, failed ones included

 private:
  struct File;
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags);
  static const sqlite3_io_methods* methods();
  // SQLITE_OK, or the code that this change is to fail with.
  int change(int io_error);
  bool tears_now();
  // Writes the bytes, wrongly when it is time to.
  int write(sqlite3_file* system, const void* bytes, int size, sqlite3_int64 at);

  sqlite3_vfs vfs_;
  sqlite3_vfs* system_;
  std::string name_;
  std::atomic<std::int64_t> reads_ = 0, writes_ = 0, bytes_written_ = 0, syncs_ = 0, changes_ = 0;
  std::atomic<std::int64_t> left_ = -1;  // changes until the fault; negative when none is planned
  std::atomic<Fault> fault_ = Fault::kIo;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> has_torn_ = false;
  std::atomic<bool> flips_next_ = false;
};

}  // namespace sb::store::sqlite

#include "store/sqlite/testing/fault_vfs.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"

namespace sb::store::sqlite {

// The system's file follows in the same allocation, as SQLite's szOsFile provides.
struct FaultVfs::File {
  sqlite3_file base;
  FaultVfs* owner;

  static File* of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static FaultVfs& vfs(sqlite3_file* file) { return *of(file)->owner; }
  static sqlite3_file* system(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(of(file) + 1); }
};

FaultVfs::FaultVfs() : system_(sqlite3_vfs_find(nullptr)), name_(fmt::format("sb-fault-{}", fmt::ptr(this))) {
  SB_ASSERT(system_ != nullptr);
  vfs_ = *system_;
  vfs_.pNext = nullptr;
  vfs_.zName = name_.c_str();
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + system_->szOsFile;
  vfs_.pAppData = this;
  vfs_.xOpen = open;
  // The other methods do not care which VFS they are called through.
  sqlite3_vfs_register(&vfs_, 0);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&vfs_);
}

IoCounts FaultVfs::counts() const {
  return {reads_, writes_, bytes_written_, syncs_};
}

void FaultVfs::reset_counts() {
  reads_ = writes_ = bytes_written_ = syncs_ = changes_ = 0;
}

void FaultVfs::fail_at(std::int64_t n, Fault fault) {
  fault_ = fault;
  has_failed_ = has_torn_ = flips_next_ = false;
  left_ = n - 1;
}

void FaultVfs::clear_fault() {
  left_ = -1;
  flips_next_ = false;
}

int FaultVfs::change(int io_error) {
  ++changes_;
  if (left_ < 0) return SQLITE_OK;
  if (left_ > 0) {
    --left_;
    return SQLITE_OK;
  }
  has_failed_ = true;
  if (fault_ == Fault::kFlip) {
    left_ = -1;
    flips_next_ = true;
    return SQLITE_OK;
  }
  const bool is_full = fault_ == Fault::kFull && io_error != SQLITE_IOERR_FSYNC;
  return is_full ? SQLITE_FULL : io_error;
}

bool FaultVfs::tears_now() {
  return fault_ == Fault::kTorn && !has_torn_.exchange(true);
}

int FaultVfs::write(sqlite3_file* system, const void* bytes, int size, sqlite3_int64 at) {
  if (size == 0 || !flips_next_.exchange(false)) return system->pMethods->xWrite(system, bytes, size, at);
  std::string wrong(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  // A different position each time, but the same in every run.
  char& byte = wrong[static_cast<std::size_t>(changes_) * 2'654'435'761 % wrong.size()];
  byte = static_cast<char>(byte ^ 0x20);
  return system->pMethods->xWrite(system, wrong.data(), size, at);
}

int FaultVfs::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* self = static_cast<FaultVfs*>(vfs->pAppData);
  File::of(file)->owner = self;
  sqlite3_file* system = File::system(file);
  const int code = self->system_->xOpen(self->system_, name, system, flags, out_flags);
  // Without methods, SQLite does not close the file.
  file->pMethods = system->pMethods ? methods() : nullptr;
  return code;
}

const sqlite3_io_methods* FaultVfs::methods() {
  static const sqlite3_io_methods kMethods = {
      .iVersion = 3,
      .xClose = [](sqlite3_file* f) { return File::system(f)->pMethods->xClose(File::system(f)); },
      .xRead =
          [](sqlite3_file* f, void* bytes, int size, sqlite3_int64 at) {
            ++File::vfs(f).reads_;
            return File::system(f)->pMethods->xRead(File::system(f), bytes, size, at);
          },
      .xWrite =
          [](sqlite3_file* f, const void* bytes, int size, sqlite3_int64 at) {
            FaultVfs& vfs = File::vfs(f);
            sqlite3_file* system = File::system(f);
            if (const int code = vfs.change(SQLITE_IOERR_WRITE); code != SQLITE_OK) {
              if (vfs.tears_now()) system->pMethods->xWrite(system, bytes, size / 2, at);
              return code;
            }
            ++vfs.writes_;
            vfs.bytes_written_ += size;
            return vfs.write(system, bytes, size, at);
          },
      .xTruncate =
          [](sqlite3_file* f, sqlite3_int64 size) {
            if (const int code = File::vfs(f).change(SQLITE_IOERR_TRUNCATE); code != SQLITE_OK) return code;
            return File::system(f)->pMethods->xTruncate(File::system(f), size);
          },
      .xSync =
          [](sqlite3_file* f, int) {
            if (const int code = File::vfs(f).change(SQLITE_IOERR_FSYNC); code != SQLITE_OK) return code;
            ++File::vfs(f).syncs_;
            return SQLITE_OK;
          },
      .xFileSize = [](sqlite3_file* f,
                      sqlite3_int64* size) { return File::system(f)->pMethods->xFileSize(File::system(f), size); },
      .xLock = [](sqlite3_file* f, int kind) { return File::system(f)->pMethods->xLock(File::system(f), kind); },
      .xUnlock = [](sqlite3_file* f, int kind) { return File::system(f)->pMethods->xUnlock(File::system(f), kind); },
      .xCheckReservedLock =
          [](sqlite3_file* f, int* held) {
            return File::system(f)->pMethods->xCheckReservedLock(File::system(f), held);
          },
      .xFileControl =
          [](sqlite3_file* f, int what, void* argument) {
            return File::system(f)->pMethods->xFileControl(File::system(f), what, argument);
          },
      .xSectorSize = [](sqlite3_file* f) { return File::system(f)->pMethods->xSectorSize(File::system(f)); },
      .xDeviceCharacteristics =
          [](sqlite3_file* f) { return File::system(f)->pMethods->xDeviceCharacteristics(File::system(f)); },
      .xShmMap =
          [](sqlite3_file* f, int page, int size, int extend, void volatile** mapped) {
            return File::system(f)->pMethods->xShmMap(File::system(f), page, size, extend, mapped);
          },
      .xShmLock = [](sqlite3_file* f, int offset, int count,
                     int flags) { return File::system(f)->pMethods->xShmLock(File::system(f), offset, count, flags); },
      .xShmBarrier = [](sqlite3_file* f) { File::system(f)->pMethods->xShmBarrier(File::system(f)); },
      .xShmUnmap = [](sqlite3_file* f,
                      int remove) { return File::system(f)->pMethods->xShmUnmap(File::system(f), remove); },
      .xFetch = [](sqlite3_file* f, sqlite3_int64 at, int size,
                   void** mapped) { return File::system(f)->pMethods->xFetch(File::system(f), at, size, mapped); },
      .xUnfetch = [](sqlite3_file* f, sqlite3_int64 at,
                     void* mapped) { return File::system(f)->pMethods->xUnfetch(File::system(f), at, mapped); },
  };
  return &kMethods;
}

}  // namespace sb::store::sqlite

// Loaded into the real program (LD_PRELOAD): kills it at a chosen commit of its store.
//
//   KILL_AT=before:17   just before the 17th commit is written: its events have happened, unrecorded
//   KILL_AT=after:17    just after the 17th commit is on disk, before any reaction to it
//   KILL_COUNT=FILE     writes the number of commits at the end
//
// A commit is what SQLite writes between two syncs of a write-ahead log. Only the program itself is affected, not its
// children: the variables are removed from the environment when this is loaded.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

struct FileWatch {
  std::mutex mutex;
  long commits = 0;        // on disk so far
  bool is_within = false;  // part of a commit was written
  long before = 0, after = 0;
  std::string count_file;

  FileWatch() {
    if (const char* at = std::getenv("KILL_AT")) {
      if (std::strncmp(at, "before:", 7) == 0) before = std::atol(at + 7);
      if (std::strncmp(at, "after:", 6) == 0) after = std::atol(at + 6);
    }
    if (const char* file = std::getenv("KILL_COUNT")) count_file = file;
    for (const char* name : {"KILL_AT", "KILL_COUNT", "LD_PRELOAD"}) ::unsetenv(name);
  }
  ~FileWatch() {
    if (count_file.empty()) return;
    if (FILE* file = std::fopen(count_file.c_str(), "w")) {
      std::fprintf(file, "%ld\n", commits);
      std::fclose(file);
    }
  }
};

FileWatch& watch() {
  static FileWatch one;
  return one;
}

__attribute__((constructor)) void begin() {
  watch();
}

bool is_log(int descriptor) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path);
  return length > 4 && std::memcmp(path + length - 4, "-wal", 4) == 0;
}

void writing(int descriptor) {
  if (!is_log(descriptor)) return;
  FileWatch& w = watch();
  const std::lock_guard guard(w.mutex);
  if (!w.is_within && w.before == w.commits + 1) ::kill(::getpid(), SIGKILL);
  w.is_within = true;
}

void synced(int descriptor) {
  if (!is_log(descriptor)) return;
  FileWatch& w = watch();
  const std::lock_guard guard(w.mutex);
  if (!w.is_within) return;
  w.is_within = false;
  if (++w.commits == w.after) ::kill(::getpid(), SIGKILL);
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  writing(descriptor);
  return real(descriptor, bytes, count, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  writing(descriptor);
  return real(descriptor, bytes, count, at);
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  const int result = real(descriptor);
  synced(descriptor);
  return result;
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  const int result = real(descriptor);
  synced(descriptor);
  return result;
}
}

// Which process holds a lock that others wait for, as the system's list of locks (/proc/locks) says.
#pragma once

#include <optional>
#include <string>

namespace sb::store::sqlite {

struct LockHolder {
  int pid = 0;
  std::string program;      // its name and subcommand: `signalbox session continue`; empty if it cannot be read
  bool is_stopped = false;  // by a signal or a debugger: it will not release anything

  // `process 4711 (signalbox mcp), which is stopped`
  std::string to_string() const;
  // `Continue it (kill -CONT 4711) or end it (kill 4711), then try again.`
  std::string remedy() const;
};

// Nothing if the system does not say: the holder may be in another container.
std::optional<LockHolder> holder_of_flock(const std::string& path);
// Who holds SQLite's lock for writing; `path` is the shared memory file.
std::optional<LockHolder> holder_of_write_lock(const std::string& path);

}  // namespace sb::store::sqlite

// Reads, writes and walks below a folder without following links: every path component is opened relative to the one
// before, so that nothing can be swapped in between the fence's check and the open.
//
// Only regular files are read; pipes and devices are detected without blocking. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/tools/fence.hpp"
#include "base/result.hpp"

namespace sb::agent {

struct FileContent {
  std::string bytes;
  unsigned mode = 0644;
};

// kNotFound; kInvalid: a folder, pipe or device; kLimit: too large, with the size in the message; kForbidden: a link on
// the path.
Result<FileContent> read_guarded(const FencedPath& at, std::size_t max_bytes);

// Atomic: writes a temporary file and renames it, so that a hard link elsewhere keeps its content. Creates missing
// folders. An existing file keeps its mode.
Status write_guarded(const FencedPath& at, std::string_view bytes);
// Whether this is the name of a temporary file that a killed write_guarded() left.
bool is_interrupted_write(std::string_view name);

struct WalkedFile {
  std::string path;  // absolute
  std::int64_t modified_ns = 0;
  std::uint64_t size = 0;
};
struct WalkResult {
  bool is_whole = true;  // false: too many entries, or stopped by should_continue
};
// Every regular file below, folders in order of their names. Links, folders named in `skipped` and paths that `shows`
// rejects are skipped.
WalkResult walk_guarded(const FencedPath& at, const Fence& fence, const std::vector<std::string>& skipped,
                        const std::function<bool()>& should_continue, const std::function<void(WalkedFile)>& on_file);

}  // namespace sb::agent

// Reading, writing and walking below a place without ever following a link: every part of the path is opened from the
// one before, so that nothing can be put in its way between the fence's look and the opening.
//
// Only ordinary files are read: pipes and devices are told apart without being waited for. Thread-safe.
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

// kNotFound; kInvalid: a folder, a pipe, a device; kLimit with the size in the message; kForbidden: a link on the way.
Result<FileContent> read_guarded(const FencedPath& at, std::size_t max_bytes);

// All or nothing: written beside, then renamed over it, so that a hard link to it elsewhere keeps its content. Folders
// on the way are made. An existing file keeps its mode.
Status write_guarded(const FencedPath& at, std::string_view bytes);
// Whether a file of this name is what a killed write_guarded() left.
bool is_interrupted_write(std::string_view name);

struct WalkedFile {
  std::string path;  // absolute
  std::int64_t modified_ns = 0;
  std::uint64_t size = 0;
};
struct WalkResult {
  bool is_whole = true;  // false: too many entries, or should_continue said so
};
// Every ordinary file below, folders in order of their names; links are passed over, and so are folders named in
// `skipped` and what `shows` refuses.
WalkResult walk_guarded(const FencedPath& at, const Fence& fence, const std::vector<std::string>& skipped,
                        const std::function<bool()>& should_continue, const std::function<void(WalkedFile)>& on_file);

}  // namespace sb::agent

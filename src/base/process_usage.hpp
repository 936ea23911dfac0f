// What a process and its descendants use, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sb {

struct ProcessUsage {
  std::int64_t processes = 0;
  // Not backed by a file, resident or swapped out, and page tables; memory that processes share counts for each.
  std::int64_t memory_bytes = 0;
};
ProcessUsage usage_of_tree(pid_t root);
// The same memory, but what processes share is divided among them. Slower.
std::int64_t exact_memory_of_tree(pid_t root);
// What files take up in these folders as the tree's processes see them, where they are file systems in memory of its
// own; empty files count too.
std::int64_t memory_in_folders(pid_t root, const std::vector<std::string>& folders);

}  // namespace sb

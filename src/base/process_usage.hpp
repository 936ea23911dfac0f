// What a process and its descendants use, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sb {

struct ProcessUsage {
  std::int64_t processes = 0;  // with their threads, as the kernel counts
  // Not backed by a file, resident or swapped out, and page tables; memory that processes share counts for each.
  std::int64_t memory_bytes = 0;
};
ProcessUsage usage_of_tree(pid_t root);
// The same memory, but what processes share is divided among them. Slower.
std::int64_t exact_memory_of_tree(pid_t root);
// All shared memory of the machine, also what no process has mapped at the moment.
std::int64_t shared_memory_of_machine();
// Whether one of them has mapped memory that can be shared and has no name: only the machine's total shows its size.
bool shares_memory_without_files(pid_t root);
// What files take up in these folders as the tree's processes see them, where they are file systems in memory of its
// own; empty files count too.
std::int64_t memory_in_folders(pid_t root, const std::vector<std::string>& folders);

}  // namespace sb

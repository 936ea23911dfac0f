// What a process and its descendants use, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sb {

struct ProcessUsage {
  std::int64_t processes = 0;
  std::int64_t memory_bytes = 0;  // resident and not backed by a file; memory that processes share counts for each
};
ProcessUsage usage_of_tree(pid_t root);
// The same, with shared memory divided among those that share it, and with memory in files that only descriptors hold.
// Slower.
std::int64_t exact_memory_of_tree(pid_t root);

}  // namespace sb

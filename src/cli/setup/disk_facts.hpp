// What the system reports about a folder or file.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.hpp"

namespace sb::cli {

enum class DiskKind {
  kLocal,
  kMemory,   // lost when the machine restarts
  kNetwork,  // shared memory and locks do not work as the store needs them
  kKernel,   // holds no user files (/proc, /sys)
};

struct DiskFacts {
  FileKind kind = FileKind::kMissing;
  unsigned mode = 0;  // permission bits
  bool is_owned_by_user = true;
  bool is_writable = true;  // by this process; for a folder: new files can be created
  bool is_read_only = false;
  DiskKind disk = DiskKind::kLocal;
  std::uint64_t free_bytes = 0;
  bool has_free_files = true;
};

// Follows links. With kMissing no other field is set.
DiskFacts disk_facts(const std::string& path);

// `12.3 GB`. Pure.
std::string readable_size(std::uint64_t bytes);

}  // namespace sb::cli

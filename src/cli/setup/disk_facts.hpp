// What the system says about a folder or file, and what that means for one of ours.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.hpp"

namespace sb::cli {

enum class DiskKind {
  kLocal,
  kMemory,   // gone when the machine is started anew
  kNetwork,  // shared memory and locks do not work there as the store needs them
  kKernel,   // holds no files of anybody (/proc, /sys)
};

struct DiskFacts {
  FileKind kind = FileKind::kMissing;
  unsigned mode = 0;  // permission bits
  bool is_owned_by_user = true;
  bool is_writable = true;  // by this process: new files in a folder
  bool is_read_only = false;
  DiskKind disk = DiskKind::kLocal;
  std::uint64_t free_bytes = 0;
  bool has_free_files = true;
};

// Links followed. With kMissing nothing else says anything.
DiskFacts disk_facts(const std::string& path);

// `12.3 GB`. Pure.
std::string readable_size(std::uint64_t bytes);

}  // namespace sb::cli

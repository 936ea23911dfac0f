// Inspects a store file from outside, to find out what is wrong with it. Creates and changes nothing, even where
// opening the store would repair, migrate or lock something.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sb::store {

struct Inspection {
  std::uint64_t bytes = 0;  // size of the file and its log
  std::int64_t version = 0;
  std::int64_t newest = 0;               // the version this program writes
  std::vector<std::string> faults = {};  // the first few reported by SQLite's check
  bool is_checked = false;               // false: too large for a quick check
  // Whether the log next to the file was read too. That is impossible without writing if no process has it open.
  bool has_log_read = false;
};

// Quick: only of stores that take a few seconds, and without comparing indexes with their tables.
enum class Thoroughness { kQuick, kFull };

// kNotFound if there is no store yet; kCorrupt if it is not ours or cannot be read as a store; kIo, kUnavailable.
Result<Inspection> inspect_store(const std::string& path, Thoroughness thoroughness = Thoroughness::kQuick);

}  // namespace sb::store

// A store's file looked at from outside, for somebody who wants to know what is wrong with it. Makes and changes
// nothing, also where opening the store would mend, migrate or lock something.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sb::store {

struct Inspection {
  std::uint64_t bytes = 0;  // of the file and its log
  std::int64_t version = 0;
  std::int64_t newest = 0;               // the version this program writes
  std::vector<std::string> faults = {};  // as SQLite's quick check tells them, the first few; empty when it found none
  bool is_checked = false;               // false: too large to be checked in passing
  // Whether the log beside the file was read too. It cannot be without writing when nobody had it open before.
  bool has_log_read = false;
};

// kNotFound when there is no store yet; kCorrupt when it is none of ours or cannot be read as one, kIo, kUnavailable.
Result<Inspection> inspect_store(const std::string& path);

}  // namespace sb::store

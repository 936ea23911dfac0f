// Reads everything in a store and reports damage. Works on any implementation.
#pragma once

#include "store/store.hpp"

namespace sb::store {

struct VerifyReport {
  std::int64_t streams = 0;
  std::int64_t events = 0;
  std::int64_t blobs = 0;
  std::vector<Error> faults;  // one per damaged stream or blob, at most kMaxFaults; empty if all is intact

  static constexpr std::size_t kMaxFaults = 100;
};

// The stream's head if its whole chain is valid, otherwise kCorrupt with the first wrong event. kNotFound if there is
// no such stream.
Result<Head> verify(Snapshot& snapshot, std::string_view stream);

// Verifies all streams and blobs. An error only if the store could not be read at all.
Result<VerifyReport> verify_all(Snapshot& snapshot);
// All blobs, and those streams.
using StreamFilter = std::function<bool(std::string_view stream)>;
Result<VerifyReport> verify_some(Snapshot& snapshot, const StreamFilter& wants);

}  // namespace sb::store

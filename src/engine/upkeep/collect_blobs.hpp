// The implementation of `collect` in upkeep.hpp: finds the referenced blobs and removes the others.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {

// Blobs that are referred to. Stored as the first eight bytes of their hash: on a collision an unused blob is kept,
// which does no harm, and a million of them take eight megabytes.
class LiveBlobs {
 public:
  // Marks what all events not seen before refer to, except those of the given streams.
  Status add_since(store::Snapshot& snapshot, const std::set<std::string>& gone_streams,
                   const ProgressCallback& progress);
  bool has(const Digest& digest) const;

 private:
  // Every hash in the text, and in the pinned workflows it names.
  Status add_from(store::Snapshot& snapshot, std::string_view text);
  void add(const Digest& digest);
  void tidy();

  std::vector<std::uint64_t> marks_;  // the first `tidy_` are sorted and unique
  std::size_t tidy_ = 0;
  std::set<Digest> workflows_;  // already searched
  std::int64_t position_ = 0;
};

// Like `collect`, as if the given streams were gone.
Result<PruneResult> collect_garbage_without(store::Store& store, const std::set<std::string>& gone_streams,
                                            bool dry_run, const ProgressCallback& progress);

}  // namespace sb::engine

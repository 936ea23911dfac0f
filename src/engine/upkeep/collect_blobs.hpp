// The inside of upkeep.hpp's `collect`: which blobs are referred to, and removing the others.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {

// Blobs that are referred to. Kept by the first eight bytes of their hash: one that is mistaken for another is kept,
// which does no harm, and a million of them take eight megabytes.
class LiveBlobs {
 public:
  // Marks what every event refers to that was not looked at before, apart from those of the streams given.
  Status add_since(store::Snapshot& snapshot, const std::set<std::string>& gone_streams,
                   const ProgressCallback& progress);
  bool has(const Digest& digest) const;

 private:
  // Every hash in the text, and in the pinned workflows it names.
  Status add_from(store::Snapshot& snapshot, std::string_view text);
  void add(const Digest& digest);
  void tidy();

  std::vector<std::uint64_t> marks_;  // the first `tidy_` ascending and each once
  std::size_t tidy_ = 0;
  std::set<Digest> workflows_;  // looked into already
  std::int64_t position_ = 0;
};

// As `collect`, as if the streams given were gone.
Result<PruneResult> collect_garbage_without(store::Store& store, const std::set<std::string>& gone_streams,
                                            bool dry_run, const ProgressCallback& progress);

}  // namespace sb::engine

// Finds unreferenced blobs. References are recognized by form, not by meaning: 64 hex digits anywhere in any event
// count, so events of unknown types keep their blobs too.
#include "engine/upkeep/collect_blobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/state/events.hpp"

namespace sb::engine {
namespace {

constexpr int kCollectPage = 500;
constexpr std::size_t kHexDigits = 64;
constexpr std::string_view kHashPrefix = "sha256:";

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Calls `visit(hex, is_workflow)` for every run of exactly 64 hex digits.
template <class Visit>
Status each_hash(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_hex_digit(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_hex_digit(text[end])) ++end;
    if (end - at == kHexDigits) SB_TRY(visit(text.substr(at, kHexDigits), text.substr(0, at).ends_with(kHashPrefix)));
    at = end;
  }
  return {};
}

std::uint64_t mark_of(const Digest& digest) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, digest.data(), sizeof mark);
  return mark;
}

Digest digest_of(std::string_view hex) {
  const auto value = [](char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(value(hex[2 * i]) << 4 | value(hex[2 * i + 1]));
  }
  return digest;
}

}  // namespace

void LiveBlobs::add(const Digest& digest) {
  constexpr std::size_t kUntidy = 1 << 16;
  marks_.push_back(mark_of(digest));
  if (marks_.size() > 2 * tidy_ + kUntidy) tidy();
}

void LiveBlobs::tidy() {
  std::ranges::sort(marks_);
  marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
  tidy_ = marks_.size();
}

bool LiveBlobs::has(const Digest& digest) const {
  return std::ranges::binary_search(marks_, mark_of(digest));
}

Status LiveBlobs::add_from(store::Snapshot& snapshot, std::string_view text) {
  return each_hash(text, [&](std::string_view hex, bool is_workflow) -> Status {
    const Digest digest = digest_of(hex);
    add(digest);
    if (!is_workflow || !workflows_.insert(digest).second) return {};
    const auto pinned = SB_TRY(snapshot.blob(digest));
    return pinned ? add_from(snapshot, *pinned) : Status();
  });
}

Status LiveBlobs::add_since(store::Snapshot& snapshot, const std::set<std::string>& gone_streams,
                            const ProgressCallback& progress) {
  const std::int64_t end = SB_TRY(snapshot.last_position());
  for (;;) {
    const auto events = SB_TRY(snapshot.events_after(position_, kCollectPage));
    for (const store::Event& event : events) {
      if (!gone_streams.contains(event.stream)) SB_TRY(add_from(snapshot, event.payload));
    }
    if (!events.empty()) position_ = events.back().position;
    if (progress && !events.empty()) progress(position_, end);
    if (events.size() < static_cast<std::size_t>(kCollectPage)) break;
  }
  tidy();
  return {};
}

namespace {

// One page of blobs after `after`; those without a mark are counted, and removed if `transaction` is given.
Result<bool> sweep_page(store::Snapshot& snapshot, store::Transaction* transaction, const LiveBlobs& marks,
                        std::optional<Digest>& after, PruneResult& pruned) {
  const auto hashes = SB_TRY(snapshot.blobs(after, kCollectPage));
  for (const Digest& hash : hashes) {
    if (marks.has(hash)) continue;
    // Damaged ones are removed too: they are of no use.
    const auto blob = snapshot.blob(hash);
    if (!blob && blob.error().code != ErrorCode::kCorrupt) return std::unexpected(blob.error());
    ++pruned.blobs;
    if (blob && *blob) pruned.bytes += static_cast<std::int64_t>((*blob)->size());
    if (transaction != nullptr) SB_TRY(transaction->remove_blob(hash));
  }
  if (!hashes.empty()) after = hashes.back();
  return hashes.size() == static_cast<std::size_t>(kCollectPage);
}

Status sweep(store::Store& store, LiveBlobs& marks, PruneResult& pruned) {
  std::optional<Digest> after;
  for (bool more = true; more;) {
    // Writers put a blob and the event that names it in one commit. So everything named before this transaction began
    // is seen here, and everything named after it is stored again.
    more = SB_TRY(store.write([&](store::Transaction& transaction) -> Result<bool> {
      SB_TRY(marks.add_since(transaction, {}, nullptr));
      return sweep_page(transaction, &transaction, marks, after, pruned);
    }));
    store.give_way();
  }
  return {};
}

}  // namespace

Result<PruneResult> collect_garbage_without(store::Store& store, const std::set<std::string>& gone_streams,
                                            bool dry_run, const ProgressCallback& progress) {
  PruneResult pruned;
  LiveBlobs marks;
  SB_TRY(store.read([&](store::Snapshot& snapshot) -> Status {
    SB_TRY(marks.add_since(snapshot, gone_streams, progress));
    if (!dry_run) return {};
    std::optional<Digest> after;
    while (SB_TRY(sweep_page(snapshot, nullptr, marks, after, pruned))) {
    }
    return {};
  }));
  if (!dry_run) SB_TRY(sweep(store, marks, pruned));
  return pruned;
}

Result<PruneResult> collect_garbage(store::Store& store, bool dry_run, const ProgressCallback& progress) {
  Result<PruneResult> pruned = collect_garbage_without(store, {}, dry_run, progress);
  if (pruned || pruned.error().code != ErrorCode::kCorrupt) return pruned;
  return fail(ErrorCode::kCorrupt,
              fmt::format("nothing was removed, because references are damaged: {}", pruned.error().message),
              "List what is damaged: signalbox store verify");
}

}  // namespace sb::engine

#include "store/verify.hpp"

#include <fmt/format.h>

#include "store/checks.hpp"

namespace sb::store {
namespace {

constexpr int kBatch = 256;

void note(VerifyReport& verification, Error fault) {
  if (verification.faults.size() < VerifyReport::kMaxFaults) verification.faults.push_back(std::move(fault));
}

// Returns how many events the other streams say they have.
Result<std::int64_t> verify_streams(Snapshot& snapshot, const StreamFilter& wants, VerifyReport& verification) {
  std::int64_t others = 0;
  std::string after;
  for (;;) {
    const auto names = SB_TRY(snapshot.streams("", after, kBatch));
    if (names.empty()) return others;
    for (const std::string& name : names) {
      if (!wants(name)) {
        others += SB_TRY(snapshot.head(name)).seq;
        continue;
      }
      ++verification.streams;
      const auto head = verify(snapshot, name);
      if (head) {
        verification.events += head->seq;
      } else if (head.error().code == ErrorCode::kCorrupt) {
        note(verification, head.error());
      } else {
        return std::unexpected(head.error());
      }
    }
    after = names.back();
  }
}

// Events after a stream's head, and of a stream without one, are in no stream; reading the whole log still finds them.
Status find_strays(Snapshot& snapshot, std::int64_t others, VerifyReport& verification) {
  std::int64_t counted = 0;
  std::int64_t position = 0;
  for (;;) {
    const auto events = snapshot.events_after(position, kBatch);
    if (!events && events.error().code == ErrorCode::kCorrupt) return {};  // already reported for its stream
    if (!events) return std::unexpected(events.error());
    if (events->empty()) break;
    counted += static_cast<std::int64_t>(events->size());
    position = events->back().position;
  }
  const std::int64_t known = verification.events + others;
  if (counted != known && verification.faults.empty()) {
    note(verification, Error{ErrorCode::kCorrupt,
                             fmt::format("the log has {} events, its streams {}", counted, known),
                             std::string(kRepairRemedy),
                             {},
                             false});
  }
  return {};
}

Status verify_blobs(Snapshot& snapshot, VerifyReport& verification) {
  std::optional<Digest> after;
  for (;;) {
    const auto hashes = SB_TRY(snapshot.blobs(after, kBatch));
    if (hashes.empty()) return {};
    for (const Digest& hash : hashes) {
      ++verification.blobs;
      const auto bytes = snapshot.blob(hash);
      if (bytes) continue;
      if (bytes.error().code != ErrorCode::kCorrupt) return std::unexpected(bytes.error());
      note(verification, bytes.error());
    }
    after = hashes.back();
  }
}

}  // namespace

Result<Head> verify(Snapshot& snapshot, std::string_view stream) {
  const Head end = SB_TRY(snapshot.head(stream));
  if (end.seq == 0) return fail(ErrorCode::kNotFound, fmt::format("no stream \"{}\"", stream));
  for (std::int64_t seq = 1; seq <= end.seq;) {
    // The store checks each event and its link to the previous one while reading.
    const auto events = SB_TRY(snapshot.events(stream, seq, kBatch));
    if (events.empty())
      return fail(ErrorCode::kCorrupt, fmt::format("event {} of stream \"{}\" is missing", seq, stream),
                  std::string(kRepairRemedy));
    seq = events.back().seq + 1;
  }
  return end;
}

Result<VerifyReport> verify_some(Snapshot& snapshot, const StreamFilter& wants) {
  VerifyReport verification;
  const std::int64_t others = SB_TRY(verify_streams(snapshot, wants, verification));
  SB_TRY(find_strays(snapshot, others, verification));
  SB_TRY(verify_blobs(snapshot, verification));
  return verification;
}

Result<VerifyReport> verify_all(Snapshot& snapshot) {
  return verify_some(snapshot, [](std::string_view) { return true; });
}

}  // namespace sb::store

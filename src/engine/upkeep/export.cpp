#include <fmt/format.h>

#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "engine/state/blob_refs.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

constexpr int kExportPage = 256;

Result<std::string> stored_blob(store::Snapshot& snapshot, const BlobRef& ref, std::int64_t seq) {
  const auto text = SB_TRY(snapshot.blob(SB_TRY(digest_from(ref.hex))));
  if (text) return *text;
  return fail(ErrorCode::kCorrupt, fmt::format("content {} of event {} is missing", ref.hex, seq),
              std::string(store::kRepairRemedy));
}

// The payload is written as JSON and must be read back as the same bytes, or its hash could not be checked.
Result<Value> payload_of(const store::Event& event) {
  Result<Value> payload = parse_stored(event.payload);
  if (payload && to_canonical_json(*payload) == event.payload) return payload;
  return fail(ErrorCode::kCorrupt, fmt::format("event {} of {} is not canonical JSON", event.seq, event.stream));
}

Result<std::string> line_for(store::Snapshot& snapshot, const store::Event& event, std::int64_t count,
                             std::set<std::string>& seen) {
  const Event meant{event.type, SB_TRY(payload_of(event))};
  Value blobs = Value::object();
  SB_TRY(visit_blobs(
      meant, seen, [&](const BlobRef& ref) { return stored_blob(snapshot, ref, event.seq); },
      [&](const BlobRef& ref, const std::string& text) -> Status {
        blobs.set(ref.hex, text);
        return {};
      }));
  Value line = Value::object({{"seq", event.seq},
                              {"type", event.type},
                              {"time", to_rfc3339(event.time_ms)},
                              {"payload", meant.payload},
                              {"previous", to_hex(as_bytes(event.previous))},
                              {"hash", to_hex(as_bytes(event.hash))}});
  if (event.seq == 1) line.set("events", count);
  if (blobs.size() > 0) line.set("blobs", std::move(blobs));
  return to_json(line);
}

}  // namespace

Status export_session(store::Store& store, std::string_view session,
                      const std::function<Status(std::string_view)>& line) {
  const std::string stream = session_stream(session);
  return store.read([&](store::Snapshot& snapshot) -> Status {
    const store::Head end = SB_TRY(snapshot.head(stream));
    if (end.seq == 0) return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(session)));
    std::set<std::string> seen;
    for (std::int64_t seq = 1; seq <= end.seq;) {
      for (const store::Event& event : SB_TRY(snapshot.events(stream, seq, kExportPage))) {
        SB_TRY(line(SB_TRY(line_for(snapshot, event, end.seq, seen))));
        seq = event.seq + 1;
      }
    }
    return {};
  });
}

}  // namespace sb::engine

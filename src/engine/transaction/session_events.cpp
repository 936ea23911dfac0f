#include "engine/transaction/session_events.hpp"

#include <fmt/format.h>

#include "base/document/stored_reader.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "store/checks.hpp"

namespace sb::engine {

Status check_newest_event(store::Snapshot& snapshot, std::string_view session) {
  const store::Head head = SB_TRY(snapshot.head(session_stream(session)));
  for (const store::Event& event : SB_TRY(snapshot.events(session_stream(session), head.seq, 1))) {
    if (!is_known_event(event.type)) return unknown_event(event.stream, event.seq, event.type);
  }
  return {};
}

Result<Value> read_event(store::Snapshot& snapshot, std::string_view session, std::int64_t seq, std::string_view type) {
  const auto events = SB_TRY(snapshot.events(session_stream(session), seq, 1));
  if (events.empty() || events.front().seq != seq || events.front().type != type) {
    return fail(ErrorCode::kCorrupt, fmt::format("event {} of session {} does not match its row", seq, session),
                std::string(store::kRepairRemedy));
  }
  return parse_stored(events.front().payload);
}

namespace {

// Of an output_recorded or attempt_blocked.
Result<Value> output_payload(store::Snapshot& snapshot, std::string_view session, std::int64_t seq) {
  const auto events = SB_TRY(snapshot.events(session_stream(session), seq, 1));
  if (events.empty() || events.front().seq != seq) {
    return fail(ErrorCode::kCorrupt, fmt::format("event {} of session {} is missing", seq, session));
  }
  return parse_stored(events.front().payload);
}

}  // namespace

Result<std::string> read_notes(store::Snapshot& snapshot, std::string_view session, std::int64_t seq) {
  if (seq == 0) return std::string();
  return SB_TRY(output_payload(snapshot, session, seq)).string_at("notes").value_or("");
}

Result<AttemptOutput> read_output(store::Snapshot& snapshot, std::string_view session, std::int64_t seq) {
  AttemptOutput out;
  if (seq == 0) return out;
  const Value payload = SB_TRY(output_payload(snapshot, session, seq));
  out.notes = payload.string_at("notes").value_or("");
  if (const Value* set = payload.find("context_set")) out.context_set = *set;
  if (const Value* removed = payload.find("removed"); removed != nullptr && removed->is_array()) {
    for (const Value& key : removed->items()) out.context_set.set(key.as_string(), Value());
  }
  const Value* artifacts = payload.find("artifacts");
  if (artifacts == nullptr || !artifacts->is_array()) return out;
  for (const Value& hash : artifacts->items()) {
    if (!hash.is_string())
      return fail(ErrorCode::kCorrupt, fmt::format("event {} of session {} is damaged", seq, session));
    out.artifacts.push_back(SB_TRY(read_json_blob(snapshot, hash.as_string())));
  }
  return out;
}

}  // namespace sb::engine

#include "engine/state/events.hpp"

#include <fmt/format.h>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/state/fold.hpp"

namespace sb::engine {

std::string session_stream(std::string_view session) {
  return fmt::format("session/{}", session);
}

bool is_known_event(std::string_view type) {
  return SessionFold::is_known(type);
}

Event node_opened(const Node& node) {
  Value row = to_value(node);
  Value payload = Value::object({{"node", node.number}, {"parent", node.parent}, {"attempt", node.parent_attempt}});
  for (const char* name : {"kind", "step", "title", "loops", "context", "jumps", "artifacts", "depth"})
    payload.set(name, std::move(*row.find(name)));
  if (Value* children = row.find("children")) payload.set("children", std::move(*children));
  if (node.waiting) payload.set("decision", node.waiting->decision);
  return {"node_opened", std::move(payload)};
}

Status apply(SessionState& state, const Event& event, std::int64_t seq, TimestampMs at) {
  return SessionFold(state, event, seq, at).run();
}

Result<SessionState> replay(std::span<const store::Event> events) {
  SessionState state;
  for (const store::Event& event : events) {
    Result<Value> payload = parse_stored(event.payload);
    if (!payload) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("event {} of {} is not JSON: {}", event.seq, event.stream, payload.error().message));
    }
    SB_TRY(apply(state, {event.type, std::move(*payload)}, event.seq, event.time_ms));
  }
  if (state.summary.events == 0) return fail(ErrorCode::kCorrupt, "the session has no events");
  return state;
}

}  // namespace sb::engine

#include "engine/session/lineage.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/answer/session_error.hpp"
#include "engine/state/lineage_proof.hpp"
#include "engine/state/rows.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {

Status attach_to_parent(store::Snapshot& snapshot, NewSession& new_session, const std::string& parent,
                        Surface surface) {
  const auto above = SB_TRY(read_summary(snapshot, parent));
  if (!above) {
    return refuse("NOT_FOUND", ErrorCode::kNotFound, fmt::format("no such parent session: {}", quote_json(parent)),
                  remedy_for(RemedyKind::kFindSession, surface));
  }
  if (above->depth + 1 > limits::kChildDepth) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kForbidden,
                  fmt::format("sessions may be nested at most {} deep", limits::kChildDepth),
                  "Do the work in this session");
  }
  new_session.run = above->run;
  new_session.parent_session = above->id;
  new_session.parent_node = above->tip;
  new_session.parent_child = "spawned";
  new_session.depth = above->depth + 1;
  return {};
}

Status check_lineage(store::Snapshot& snapshot, const Keyring& keys, std::string_view session) {
  const auto find_key = [&](std::uint16_t key) { return keys.find(key); };
  std::string id(session);
  for (;;) {
    const Value started = SB_TRY(read_event(snapshot, id, 1, "session_started"));
    const Value& parent = started["parent"];
    const auto depth = started["depth"].is_integer() ? started["depth"].as_integer() : 0;
    if (!parent.is_object()) {
      if (depth == 0) return {};
      return fail(ErrorCode::kForbidden, fmt::format("session {} has a depth but no parent", id),
                  "Start it again from its parent");
    }
    const std::string above = parent.string_at("session").value_or("");
    SB_TRY(verify_lineage({above, id, static_cast<int>(depth)}, started.string_at("lineage").value_or(""), find_key));
    const Value first = SB_TRY(read_event(snapshot, above, 1, "session_started"));
    const bool is_one_below = first["depth"].is_integer() && first["depth"].as_integer() + 1 == depth;
    if (depth < 1 || depth > limits::kChildDepth || !is_one_below) {
      return fail(ErrorCode::kForbidden, fmt::format("session {} is not one level below {}", id, above),
                  "Start it again from its parent");
    }
    id = above;
  }
}

}  // namespace sb::engine

// Sessions started with an id of the caller's choice, or as children of other sessions.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/session/parts.hpp"
#include "engine/state/lineage_proof.hpp"

namespace sb::engine {
namespace {

std::unexpected<Error> taken(const Summary& summary, std::string_view what, std::string_view has) {
  return refuse("PRECONDITION_FAILED",
                Error{ErrorCode::kConflict,
                      fmt::format("session {} already exists with another {}: {}", summary.id, what, has),
                      "Start with another id, or without one",
                      {},
                      false});
}

}  // namespace

Result<std::optional<SessionResponse>> Sessions::find_started(store::Snapshot& snapshot,
                                                              const StartRequest& start_request) {
  if (start_request.id.empty()) return std::nullopt;
  const auto summary = SB_TRY(read_summary(snapshot, start_request.id));
  if (!summary) return std::nullopt;
  if (summary->workflow_id != start_request.bundle.back()->definition.id) {
    return taken(*summary, "workflow", summary->workflow_id);
  }
  if (summary->goal != start_request.goal) return taken(*summary, "goal", quote_json(summary->goal));
  if (summary->parent_session != start_request.parent) {
    return taken(*summary, "parent", summary->parent_session.empty() ? "none" : summary->parent_session);
  }
  const auto tip = SB_TRY(read_node(snapshot, summary->id, summary->tip));
  if (!tip) return fail(ErrorCode::kCorrupt, fmt::format("node {} of {} is missing", summary->tip, summary->id));
  return SB_TRY(show(snapshot, *summary, *tip));
}

Status Sessions::Parts::attach_to_parent(store::Snapshot& snapshot, NewSession& new_session,
                                         const std::string& parent) {
  const auto above = SB_TRY(read_summary(snapshot, parent));
  if (!above) {
    return refuse("NOT_FOUND", Error{ErrorCode::kNotFound,
                                     fmt::format("no such parent session: {}", quote_json(parent)),
                                     remedy(RemedyKind::kFindSession),
                                     {},
                                     false});
  }
  if (above->depth + 1 > limits::kChildDepth) {
    return refuse("PRECONDITION_FAILED",
                  Error{ErrorCode::kForbidden,
                        fmt::format("sessions may be nested at most {} deep", limits::kChildDepth),
                        "Do the work in this session",
                        {},
                        false});
  }
  new_session.parent_session = above->id;
  new_session.parent_node = above->tip;
  new_session.parent_child = "spawned";
  new_session.depth = above->depth + 1;
  return {};
}

Status Sessions::check_lineage(std::string_view session) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.read([&](store::Snapshot& snapshot) -> Status {
    SB_TRY(parts_->keys.load(snapshot));
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
      const auto find_key = [this](std::uint16_t key) { return parts_->keys.find(key); };
      SB_TRY(verify_lineage({above, id, static_cast<int>(depth)}, started.string_at("lineage").value_or(""), find_key));
      const Value first = SB_TRY(read_event(snapshot, above, 1, "session_started"));
      const bool is_one_below = first["depth"].is_integer() && first["depth"].as_integer() + 1 == depth;
      if (depth < 1 || depth > limits::kChildDepth || !is_one_below) {
        return fail(ErrorCode::kForbidden, fmt::format("session {} is not one level below {}", id, above),
                    "Start it again from its parent");
      }
      id = above;
    }
  });
}

}  // namespace sb::engine

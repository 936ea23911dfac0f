#include "engine/session/driver.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/answer/session_error.hpp"
#include "engine/state/rows.hpp"

namespace sb::engine {
namespace {

// Whether the run drives it and every session above it.
Result<bool> is_driven(store::Snapshot& snapshot, Summary summary) {
  for (int up = 0; summary.is_driven() && !summary.parent_session.empty() && up <= limits::kChildDepth; ++up) {
    auto parent = SB_TRY(read_summary(snapshot, summary.parent_session));
    if (!parent) return true;
    summary = std::move(*parent);
  }
  return summary.is_driven();
}

}  // namespace

Status check_driver(store::Snapshot& snapshot, const Summary& summary, Surface surface) {
  if (surface == Surface::kWorkers || summary.run.empty() || !SB_TRY(is_driven(snapshot, summary))) return {};
  return refuse(
      "PRECONDITION_FAILED", ErrorCode::kForbidden,
      fmt::format("session {} belongs to run {}; only the run's own agent continues it", summary.id, summary.run),
      remedy_for(RemedyKind::kLeaveToRun, surface));
}

}  // namespace sb::engine

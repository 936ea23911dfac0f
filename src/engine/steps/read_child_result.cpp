#include "engine/steps/read_child_result.hpp"

#include "engine/state/rows.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {

Result<ChildResult> read_child_result(store::Snapshot& snapshot, const Child& child) {
  const bool is_left = child.outcome.empty();
  ChildResult result{.id = child.id, .label = child.label, .session = child.session};
  result.outcome = is_left ? "stopped" : child.outcome;
  result.reason = is_left ? "not waited for" : child.reason;
  const auto summary = child.session.empty() ? std::nullopt : SB_TRY(read_summary(snapshot, child.session));
  const auto tip = summary ? SB_TRY(read_node(snapshot, child.session, summary->tip)) : std::nullopt;
  if (!tip) return result;
  result.recap = summary->recap;
  const auto last =
      tip->parent == 0 ? std::nullopt : SB_TRY(read_attempt(snapshot, child.session, tip->parent, tip->parent_attempt));
  if (last) result.notes = SB_TRY(read_notes(snapshot, child.session, last->output_seq));
  for (const auto& [kind, hash] : tip->artifacts) {
    ChildResult::Artifact artifact{.kind = kind, .hash = hash, .bytes = 0, .value = {}};
    Value value = SB_TRY(read_json_blob(snapshot, hash));
    artifact.bytes = to_json(value).size();
    if (artifact.bytes <= kIncludedArtifactBytes) artifact.value = std::move(value);
    result.artifacts.push_back(std::move(artifact));
  }
  return result;
}

}  // namespace sb::engine

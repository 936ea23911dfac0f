#include "engine/steps/read_child_result.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"
#include "engine/state/rows.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kReadChildren = 12;
constexpr std::size_t kBriefOfAllBytes = 2u << 10;

constexpr std::size_t kTheirsBytes = 8u << 10;

Result<ChildResult> child_result(store::Snapshot& snapshot, const Child& child, bool with_theirs);

// Of the first sessions that a node started, without what theirs left: that could be many.
Result<std::vector<ChildResult>> first_results(store::Snapshot& snapshot, const Node& node) {
  std::vector<ChildResult> results;
  const std::size_t count = std::min(node.children.size(), kReadChildren);
  for (std::size_t i = 0; i < count; ++i) {
    results.push_back(SB_TRY(child_result(snapshot, node.children[i], false)));
  }
  return results;
}

// `with_theirs`: if sessions of its own did its last step, what they left.
Result<ChildResult> child_result(store::Snapshot& snapshot, const Child& child, bool with_theirs) {
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
  if (with_theirs && tip->parent != 0 && is_blank(result.notes)) {
    const auto before = SB_TRY(read_node(snapshot, child.session, tip->parent));
    if (before && before->kind == NodeKind::kChildren) {
      result.notes =
          results_text(SB_TRY(first_results(snapshot, *before)), kTheirsBytes, "`signalbox session show SESSION`");
    }
  }
  for (const auto& [kind, hash] : tip->artifacts) {
    ChildResult::Artifact artifact{.kind = kind, .hash = hash, .bytes = 0, .value = {}};
    Value value = SB_TRY(read_json_blob(snapshot, hash));
    artifact.bytes = to_json(value).size();
    if (artifact.bytes <= kIncludedArtifactBytes) artifact.value = std::move(value);
    result.artifacts.push_back(std::move(artifact));
  }
  return result;
}

}  // namespace

Result<ChildResult> read_child_result(store::Snapshot& snapshot, const Child& child) {
  return child_result(snapshot, child, true);
}

Result<std::string> brief_of_children(store::Snapshot& snapshot, const Node& node) {
  const std::vector<ChildResult> results = SB_TRY(first_results(snapshot, node));
  return results_brief(results, node.children.size() - results.size(), kBriefOfAllBytes);
}

}  // namespace sb::engine

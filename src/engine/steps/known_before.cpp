#include "engine/steps/known_before.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "base/document/shown_values.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/answer/answer.hpp"
#include "engine/recall/recall.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/read_child_result.hpp"
#include "engine/steps/step_outcome.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

constexpr int kJoinedNodes = 64;  // of a loop whose only step starts sessions
constexpr std::size_t kShownTwiceBytes = 200;

Result<std::vector<ChildResult>> results_of(store::Snapshot& snapshot, const std::vector<Node>& joined) {
  std::vector<ChildResult> results;
  for (const Node& node : joined) {
    for (const Child& child : node.children) results.push_back(SB_TRY(read_child_result(snapshot, child)));
  }
  return results;
}

// Keys of the context that the text shows already, or that are not for this agent. `keys`: those of the step's own
// text.
std::set<std::string, std::less<>> left_out_keys(const SessionNode& at, const Value& context,
                                                 const std::vector<Node>& joined,
                                                 std::set<std::string, std::less<>> keys) {
  // A short value is found more easily in one place with the others.
  std::erase_if(keys, [&](const std::string& key) { return to_json(context[key]).size() <= kShownTwiceBytes; });
  if (context["goal"] == Value(at.summary.goal)) keys.insert("goal");
  for (const Node& node : joined) {
    const workflow::LoopStep* loop = at.program.step(node.position.step).loop();
    if (loop != nullptr) keys.insert(loop->loop.capture_as);
    for (const Child& child : node.children) keys.insert(child.capture_as);
  }
  for (const Value::Member& member : context.members()) {
    if (!workflow::may_see(at.program.definition(), member.name)) keys.insert(member.name);
  }
  return keys;
}

}  // namespace

Result<std::vector<Node>> joined_before(store::Snapshot& snapshot, const std::string& session,
                                        std::optional<Node> before) {
  std::vector<Node> joined;
  for (int steps = 0; before && before->kind != NodeKind::kStep && steps < kJoinedNodes; ++steps) {
    const NodeNo parent = before->parent;
    if (before->kind == NodeKind::kChildren) joined.push_back(std::move(*before));
    before = parent == 0 ? std::nullopt : SB_TRY(read_node(snapshot, session, parent));
  }
  std::ranges::reverse(joined);
  return joined;
}

Result<std::string> results_before(store::Snapshot& snapshot, const std::vector<Node>& joined, Surface surface) {
  return results_text(SB_TRY(results_of(snapshot, joined)), limits::kResultsBytes, where_to_read("SESSION", surface));
}

Result<std::string> values_before(store::Snapshot& snapshot, const SessionNode& at, const std::vector<Node>& joined,
                                  std::set<std::string, std::less<>> shown, Surface surface) {
  const Value context = SB_TRY(read_json_blob(snapshot, at.node.context));
  return shown_values(context, limits::kShownContextBytes, where_to_read(at.summary.id, surface),
                      left_out_keys(at, context, joined, std::move(shown)));
}

Result<std::string> recall_before(store::Snapshot& snapshot, const SessionNode& at) {
  const std::string& session = at.summary.id;
  Node current = at.node;
  const auto before = [&](NodeNo number) -> Result<std::optional<RecalledStep>> {
    SB_ASSERT(number == current.number);
    if (current.parent == 0) return std::nullopt;
    auto parent = SB_TRY(read_node(snapshot, session, current.parent));
    const auto attempt = SB_TRY(read_attempt(snapshot, session, current.parent, current.parent_attempt));
    if (!parent || !attempt) {
      return fail(ErrorCode::kCorrupt, fmt::format("node {} of session {} is missing", current.parent, session));
    }
    RecalledStep past;
    past.node = parent->number;
    past.parent = parent->parent;
    past.step_id = parent->position.step;
    past.title = parent->title;
    past.notes = SB_TRY(read_notes(snapshot, session, attempt->output_seq));
    if (is_blank(past.notes)) past.notes = SB_TRY(outcome_of_step(snapshot, at.program, *parent, current.context));
    current = std::move(*parent);
    return past;
  };
  return recall(at.node.number, limits::kRecallBytes, before, at.node.depth);
}

}  // namespace sb::engine

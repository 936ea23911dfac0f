#include "engine/steps/known_before.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "base/document/shown_values.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "engine/answer/answer.hpp"
#include "engine/answer/earlier_iterations.hpp"
#include "engine/recall/recall.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/read_child_result.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

constexpr int kJoinedNodes = 64;  // of a loop whose only step starts sessions
constexpr std::size_t kIteratedSteps = 6;
constexpr std::size_t kShownTwiceBytes = 200;

Result<std::vector<ChildResult>> results_of(store::Snapshot& snapshot, const std::vector<Node>& joined) {
  std::vector<ChildResult> results;
  for (const Node& node : joined) {
    for (const Child& child : node.children) results.push_back(SB_TRY(read_child_result(snapshot, child)));
  }
  return results;
}

std::vector<std::string> keys_in(const Value& set) {
  std::vector<std::string> keys;
  if (!set.is_object()) return keys;
  for (const Value::Member& member : set.members()) keys.push_back(member.name);
  return keys;
}

// What a step at `node` delivered with its attempt.
Result<IteratedStep> iterated_step(store::Snapshot& snapshot, const SessionNode& at, const Node& node, int attempt,
                                   int iteration) {
  IteratedStep step{.iteration = iteration, .title = node.title, .step_id = node.position.step};
  const auto made = SB_TRY(read_attempt(snapshot, at.summary.id, node.number, attempt));
  if (!made) return step;
  AttemptOutput output = SB_TRY(read_output(snapshot, at.summary.id, made->output_seq));
  step.notes = std::move(output.notes);
  step.keys = keys_in(output.context_set);
  step.artifacts = std::move(output.artifacts);
  return step;
}

// The same for what is delivered in this transaction; nothing if it was delivered before and waited for its gate.
Result<std::optional<IteratedStep>> iterated_now(const AdvanceResult& outcome, const Node& node, int iteration) {
  const auto recorded = std::ranges::find(outcome.delivered, "output_recorded", &Event::type);
  if (recorded == outcome.delivered.end()) return std::nullopt;
  IteratedStep step{.iteration = iteration, .title = node.title, .step_id = node.position.step};
  step.notes = recorded->payload.string_at("notes").value_or("");
  step.keys = keys_in(recorded->payload["context_set"]);
  for (const SubmittedArtifact& artifact : outcome.submitted) {
    step.artifacts.push_back(SB_TRY(parse_stored(artifact.json)));
  }
  return step;
}

// What its definition lets the agent see: a blind one only the named inputs.
bool may_see(const workflow::Definition& definition, const std::string& key) {
  const auto& isolation = definition.isolation;
  return !isolation || isolation->mode != "blind" ||
         std::ranges::find(isolation->inputs, key) != isolation->inputs.end();
}

// Keys of the context that the text shows already, or that are not for this agent.
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
    if (!may_see(at.program.definition(), member.name)) keys.insert(member.name);
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

Result<std::string> iterations_before(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                      const AdvanceResult* outcome) {
  const LoopFrame* frame = begun_iteration(at.program, from.position, at.node.position);
  if (frame == nullptr) return std::string();
  const auto depth = static_cast<std::size_t>(frame - at.node.position.loops.data());
  const auto iteration_in_loop = [&](const Node& node) -> std::optional<int> {
    const auto& loops = node.position.loops;
    const bool is_in_loop =
        loops.size() > depth && loops[depth].loop == frame->loop &&
        std::equal(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(depth), at.node.position.loops.begin());
    return is_in_loop ? std::optional(loops[depth].iteration) : std::nullopt;
  };
  std::vector<IteratedStep> steps;
  int attempt = at.node.parent_attempt;
  std::optional<Node> node = from;
  while (node && steps.size() < kIteratedSteps) {
    const auto iteration = iteration_in_loop(*node);
    if (!iteration) break;
    const bool is_newest = node->number == from.number && outcome != nullptr;
    auto step = is_newest ? SB_TRY(iterated_now(*outcome, *node, *iteration)) : std::nullopt;
    if (!step && node->kind == NodeKind::kStep) {
      step = SB_TRY(iterated_step(snapshot, at, *node, attempt, *iteration));
    }
    if (step) steps.push_back(std::move(*step));
    attempt = node->parent_attempt;
    node = node->parent == 0 ? std::nullopt : SB_TRY(read_node(snapshot, at.summary.id, node->parent));
  }
  return earlier_iterations_text(steps, node && iteration_in_loop(*node), limits::kIterationsBytes);
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
    if (const StepNo step = at.program.find(past.step_id); step != kNoStep) {
      past.title = at.program.at(step).step->title;
    }
    past.notes = SB_TRY(read_notes(snapshot, session, attempt->output_seq));
    current = std::move(*parent);
    return past;
  };
  return recall(at.node.number, limits::kRecallBytes, before, at.node.depth);
}

}  // namespace sb::engine

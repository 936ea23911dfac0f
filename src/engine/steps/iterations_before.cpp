#include <fmt/format.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "engine/advance/questions.hpp"
#include "engine/answer/earlier_iterations.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/known_before.hpp"
#include "engine/steps/step_outcome.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kIteratedSteps = 6;
constexpr int kVisitedNodes = 64;  // of a loop with many steps that left nothing

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

// The way back from `from` through earlier iterations of one loop.
class EarlierIterations {
 public:
  EarlierIterations(store::Snapshot& snapshot, const SessionNode& at, const LoopFrame& frame)
      : snapshot_(snapshot), at_(at), frame_(frame), depth_(&frame - at.node.position.loops.data()) {}

  Result<std::string> text(const Node& from, const AdvanceResult* outcome) const {
    std::vector<IteratedStep> steps;
    int attempt = at_.node.parent_attempt;
    std::string context_after = at_.node.context;
    std::optional<Node> node = from;
    for (int visited = 0; node && visited < kVisitedNodes && steps.size() < kIteratedSteps; ++visited) {
      const auto iteration = iteration_of(*node);
      if (!iteration) break;
      if (*iteration < frame_.iteration) {
        const bool is_newest = node->number == from.number;
        auto step = SB_TRY(step_at(*node, attempt, *iteration, context_after, is_newest ? outcome : nullptr));
        if (step) steps.push_back(std::move(*step));
      }
      attempt = node->parent_attempt;
      context_after = node->context;
      node = node->parent == 0 ? std::nullopt : SB_TRY(read_node(snapshot_, at_.summary.id, node->parent));
    }
    return earlier_iterations_text(steps, node && iteration_of(*node), limits::kIterationsBytes);
  }

 private:
  std::optional<int> iteration_of(const Node& node) const {
    const auto& loops = node.position.loops;
    const auto depth = static_cast<std::size_t>(depth_);
    const bool is_in_loop = loops.size() > depth && loops[depth].loop == frame_.loop &&
                            std::equal(loops.begin(), loops.begin() + depth_, at_.node.position.loops.begin());
    return is_in_loop ? std::optional(loops[depth].iteration) : std::nullopt;
  }

  Result<std::optional<IteratedStep>> step_at(const Node& node, int attempt, int iteration,
                                              const std::string& context_after, const AdvanceResult* outcome) const {
    if (node.kind == NodeKind::kStep) {
      auto now = outcome == nullptr ? std::nullopt : SB_TRY(iterated_now(*outcome, node, iteration));
      if (now) return now;
      return SB_TRY(iterated_step(snapshot_, at_, node, attempt, iteration));
    }
    IteratedStep step{.iteration = iteration, .title = node.title, .step_id = node.position.step};
    step.notes = SB_TRY(outcome_of_step(snapshot_, at_.program, node, context_after));
    return step.notes.empty() ? std::nullopt : std::optional(std::move(step));
  }

  store::Snapshot& snapshot_;
  const SessionNode& at_;
  const LoopFrame& frame_;
  const std::ptrdiff_t depth_;
};

}  // namespace

Result<std::string> iterations_before(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                      const AdvanceResult* outcome, bool is_resumed) {
  const LoopFrame* frame = is_resumed ? repeated_loop(at.program, at.node.position)
                                      : begun_iteration(at.program, from.position, at.node.position);
  if (frame == nullptr) return std::string();
  return EarlierIterations(snapshot, at, *frame).text(from, outcome);
}

Result<std::string> iterations_for_children(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                            const AdvanceResult* outcome) {
  const LoopFrame* frame = repeated_loop(at.program, at.node.position);
  if (frame == nullptr) return std::string();
  const std::string earlier = SB_TRY(EarlierIterations(snapshot, at, *frame).text(from, outcome));
  if (earlier.empty()) return earlier;
  const Value context = context_at(at.program, at.node.position, SB_TRY(read_json_blob(snapshot, at.node.context)));
  const std::string title = workflow::fill_in_line(at.program.step(frame->loop).title, context, at.braces());
  return fmt::format(
      "This is iteration {} of \"{}\". Keep what the earlier ones produced and add what they missed.\n\n{}",
      frame->iteration + 1, title, earlier);
}

}  // namespace sb::engine

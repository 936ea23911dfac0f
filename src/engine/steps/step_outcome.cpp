#include "engine/steps/step_outcome.hpp"

#include <fmt/format.h>

#include "base/document/shown_values.hpp"
#include "engine/answer/child_results.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/read_child_result.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kDecidedBytes = 300;

}  // namespace

Result<std::string> outcome_of_step(store::Snapshot& snapshot, const Program& program, const Node& node,
                                    std::string_view context_after) {
  if (node.kind == NodeKind::kChildren) return brief_of_children(snapshot, node);
  const StepNo number = program.find(node.position.step);
  const workflow::DecisionStep* decision = number == kNoStep ? nullptr : program.at(number).step->decision();
  if (decision == nullptr || node.kind != NodeKind::kDecision) return std::string();
  const Value context = SB_TRY(read_json_blob(snapshot, context_after));
  const Value* chosen = context.find(decision->capture_as);
  if (chosen == nullptr) return std::string();
  return fmt::format("Decided: {} is {}\n", decision->capture_as, shown_value(*chosen, kDecidedBytes));
}

}  // namespace sb::engine

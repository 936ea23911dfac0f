#include "engine/state/session_node.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kBodyArguments = "arguments", kBodyIfSet = "if_set";

}  // namespace

bool is_loop_body(std::string_view workflow_id) {
  return workflow_id.ends_with("#body");
}

std::string braces_below(const Summary& summary, std::string_view child_workflow) {
  if (!is_loop_body(child_workflow)) return {};
  switch (braces_in(summary)) {
    case workflow::Braces::kText:
      break;
    case workflow::Braces::kIfSet:
      return std::string(kBodyIfSet);
    case workflow::Braces::kArguments:
      return std::string(kBodyArguments);
  }
  return {};
}

workflow::Braces braces_in(const Summary& summary) {
  using workflow::Braces;
  if (is_loop_body(summary.workflow_id)) {
    if (summary.braces == kBodyArguments) return Braces::kArguments;
    return summary.braces == kBodyIfSet ? Braces::kIfSet : Braces::kText;
  }
  const bool is_started_by_another = !summary.parent_session.empty();
  const bool is_routine = summary.workflow_id.starts_with("routine-");
  if (summary.workflow_id.starts_with("wr.routine-") || (is_routine && is_started_by_another)) {
    return Braces::kArguments;
  }
  return is_routine || is_started_by_another ? Braces::kIfSet : Braces::kText;
}

}  // namespace sb::engine

#include "engine/state/session_node.hpp"

namespace sb::engine {

workflow::Braces braces_in(const Summary& summary) {
  using workflow::Braces;
  if (summary.workflow_id.ends_with("#body")) return Braces::kText;
  const bool is_started_by_another = !summary.parent_session.empty();
  const bool is_routine = summary.workflow_id.starts_with("routine-");
  if (summary.workflow_id.starts_with("wr.routine-") || (is_routine && is_started_by_another)) {
    return Braces::kArguments;
  }
  return is_routine || is_started_by_another ? Braces::kIfSet : Braces::kText;
}

}  // namespace sb::engine

#include "engine/state/session_node.hpp"

namespace sb::engine {

workflow::Braces braces_in(const Summary& summary) {
  using workflow::Braces;
  if (summary.workflow_id.ends_with("#body")) return Braces::kText;
  if (summary.workflow_id.starts_with("wr.routine-")) return Braces::kArguments;
  const bool has_arguments = !summary.parent_session.empty() || summary.workflow_id.starts_with("routine-");
  return has_arguments ? Braces::kIfSet : Braces::kText;
}

}  // namespace sb::engine

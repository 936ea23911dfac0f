#include "engine/answer/session_view.hpp"

#include "base/clock.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

void set_if_any(Value& value, std::string_view name, const std::string& text) {
  if (!text.empty()) value.set(name, text);
}

}  // namespace

std::string shown_title(const Summary& summary) {
  const bool is_cut =
      count_code_points(summary.title) >= limits::kTitleChars && summary.goal.size() > summary.title.size();
  return is_cut ? summary.title + "…" : summary.title;
}

Value session_value(const Summary& summary) {
  Value value = Value::object({{"sessionId", summary.id},
                               {"workflowId", summary.workflow_id},
                               {"workflowName", summary.workflow_name},
                               {"workflowHash", summary.hash},
                               {"title", summary.title},
                               {"goal", summary.goal},
                               {"status", to_string(summary.status)}});
  set_if_any(value, "stoppedReason", summary.stopped_reason);
  value.set("stepId", summary.step_id.empty() ? Value() : Value(summary.step_id));
  value.set("stepTitle", summary.step_title.empty() ? Value() : Value(summary.step_title));
  value.set("workspace", summary.workspace);
  set_if_any(value, "repository", summary.repository);
  set_if_any(value, "gitBranch", summary.git_branch);
  set_if_any(value, "gitHead", summary.git_head);
  set_if_any(value, "parentSessionId", summary.parent_session);
  value.set("autonomous", summary.is_autonomous);
  set_if_any(value, "run", summary.run);
  if (summary.is_taken_over) value.set("takenOver", true);
  value.set("tip", summary.tip);
  value.set("nodes", summary.nodes);
  value.set("events", summary.events);
  value.set("startedAt", to_rfc3339(summary.started_at));
  value.set("updatedAt", to_rfc3339(summary.updated_at));
  return value;
}

Value candidate_value(const ResumeCandidate& candidate) {
  Value value = session_value(candidate.summary);
  value.erase("goal");
  value.set("title", shown_title(candidate.summary));
  value.set("recap", candidate.summary.recap);
  value.set("why", candidate.why);
  value.set("tier", candidate.tier);
  return value;
}

}  // namespace sb::engine

// resume_session: finds a session and how to continue it.
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/document/shown_values.hpp"
#include "base/text/unicode.hpp"
#include "engine/answer/session_view.hpp"
#include "engine/recall/find_session.hpp"
#include "engine/session/workspace_facts.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

constexpr std::size_t kRecapShown = 400;
constexpr std::size_t kContextShown = 800;

Result<engine::ResumeQuery> query_of(const WorkerContext& worker, const Inputs& inputs) {
  engine::ResumeQuery query;
  query.text = inputs.text("query");
  query.session_id = inputs.given.find("sessionId") != nullptr ? inputs.text("sessionId") : inputs.text("runId");
  query.workspace = SB_TRY(workspace_of(worker, inputs));
  const engine::GitState git = engine::git_state(worker.files(), query.workspace);
  query.repository = git.repository;
  query.git_branch = inputs.given.string_at("gitBranch").value_or(git.branch);
  query.git_head = inputs.given.string_at("gitHeadSha").value_or(git.head);
  query.same_workspace_only = inputs.flag("sameWorkspaceOnly");
  return query;
}

// What an agent needs to distinguish sessions.
Value candidate_of(const engine::ResumeCandidate& candidate, const std::string& token, const Value& context) {
  const engine::Summary& summary = candidate.summary;
  Value value = Value::object({{"sessionId", summary.id},
                               {"workflowId", summary.workflow_id},
                               {"title", engine::shown_title(summary)},
                               {"status", to_string(summary.status)},
                               {"workspace", summary.workspace},
                               {"updatedAt", to_rfc3339(summary.updated_at)}});
  if (!summary.step_id.empty()) {
    value.set("stepId", summary.step_id);
    value.set("stepTitle", summary.step_title);
  }
  if (!summary.git_branch.empty()) value.set("gitBranch", summary.git_branch);
  if (!summary.recap.empty()) {
    // Enough to distinguish sessions; resuming one shows the rest.
    const std::string_view begin = utf8_prefix(summary.recap, kRecapShown);
    value.set("recap", begin.size() == summary.recap.size() ? summary.recap : fmt::format("{}…", begin));
  }
  const std::string shown =
      shown_values(context, kContextShown, fmt::format("signalbox://session/{}", summary.id), {"goal"});
  if (!shown.empty()) value.set("context", shown);
  value.set("why", candidate.why);
  value.set("resumeToken", token);
  return value;
}

// Warns if the result is not what the agent asked for.
std::string note_on(const engine::ResumeQuery& query, const engine::ResumeMatches& found, const Status& driver) {
  if (!driver) return driver.error().to_string();
  const bool has_any = !found.candidates.empty();
  if (!query.session_id.empty()) return has_any ? "" : "no session with this id; try a query by words";
  if (!query.text.empty() && !found.has_direct_match()) {
    return has_any ? "no session in progress matches the query; these are the sessions of this project"
                   : "no session in progress matches the query, and none is in progress in this project";
  }
  return has_any ? "" : "no session is in progress in this project; use query or sessionId to find others";
}

HandlerResult run_resume(WorkerContext& worker, const ToolSpec&, const Inputs& given, Call&) {
  Inputs inputs = given;
  const auto query = query_of(worker, inputs);
  if (!query) return error_result(query.error());
  const auto home = worker.home();
  if (!home) return error_result(home.error());
  const auto found = engine::find_resumable((*home)->home().store(), *query);
  if (!found) return error_result(found.error());
  Value candidates = Value::array();
  for (const engine::ResumeCandidate& candidate : found->candidates) {
    const auto token = (*home)->sessions().token_for(candidate.summary);
    if (!token) return error_result(token.error());
    const auto context = (*home)->sessions().visible_context(candidate.summary);
    if (!context) return error_result(context.error());
    candidates.push_back(candidate_of(candidate, *token, *context));
  }
  for (const std::string& id : found->damaged) {
    inputs.notes.push_back(
        fmt::format("the record of session {} is damaged; signalbox store repair writes it again from its events", id));
  }
  const Status driver = found->driven ? (*home)->sessions().check_driver(*found->driven) : Status();
  if (std::string note = note_on(*query, *found, driver); !note.empty()) inputs.notes.push_back(std::move(note));
  return structured_answer(Value::object({{"candidates", std::move(candidates)}, {"totalEligible", found->eligible}}),
                           inputs);
}

}  // namespace

Tool resume_session_tool() {
  return {
      {.name = "resume_session",
       .title = "Find a session",
       .description = "Finds sessions in progress, best match first: in this project, or anywhere if the query's words "
                      "match. A finished session is found by its sessionId. Resume with continue_workflow and the "
                      "resumeToken as its continueToken.",
       .fields = {workspace_field(true),
                  {.name = "query", .description = "Words from its goal or notes", .max_bytes = 256},
                  {.name = "sessionId", .max_bytes = 256},
                  {.name = "runId", .description = "Same as sessionId", .max_bytes = 256},
                  {.name = "gitBranch", .max_bytes = 256},
                  {.name = "gitHeadSha", .kind = Field::Kind::kCommit},
                  {.name = "sameWorkspaceOnly", .kind = Field::Kind::kFlag}},
       .is_read_only = true,
       .is_idempotent = true,
       .output = object_schema({{"candidates", list_schema(object_schema({{"sessionId", type_schema("string")},
                                                                          {"workflowId", type_schema("string")},
                                                                          {"title", type_schema("string")},
                                                                          {"stepId?", type_schema("string")},
                                                                          {"context?", type_schema("string")},
                                                                          {"resumeToken", type_schema("string")}}))},
                                {"totalEligible", type_schema("integer")},
                                {"warnings?", list_schema(type_schema("string"))}})},
      run_resume};
}

}  // namespace sb::mcp

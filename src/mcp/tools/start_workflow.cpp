// start_workflow: creates a session of a workflow and returns its first step.
#include "base/limits.hpp"
#include "engine/session/prepare.hpp"
#include "mcp/asking/carried_decisions.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

engine::SessionResult<engine::SessionResponse> start(WorkerContext& worker, const Inputs& inputs) {
  const auto failed = [](Error error) { return std::unexpected(engine::session_error(std::move(error))); };
  auto workspace = workspace_of(worker, inputs);
  if (!workspace) return failed(workspace.error());
  const auto catalog = worker.catalog(*workspace);
  if (!catalog) return failed(catalog.error());
  const auto starting = engine::prepare_start(worker.files(), *catalog,
                                              {.workflow_id = inputs.text("workflowId"),
                                               .goal = inputs.text("goal"),
                                               .workspace = std::move(*workspace),
                                               .context = inputs.given["context"]});
  if (!starting) return std::unexpected(starting.error());
  const auto home = worker.home();
  if (!home) return failed(home.error());
  return (*home)->sessions().start(*starting);
}

HandlerResult run_start(WorkerContext& worker, const ToolSpec&, const Inputs& given, Call& call) {
  if (auto carried = resume_pending_call(worker, call)) return std::move(*carried);
  Inputs inputs = given;
  if (inputs.given.find("modelTier") != nullptr) {
    inputs.notes.emplace_back("modelTier has no effect: your client chooses the model");
  }
  auto answer = start(worker, inputs);
  if (!answer) return error_result(answer.error());
  return ask_for_decision(worker, std::move(*answer), call, inputs.note());
}

}  // namespace

Tool start_workflow_tool() {
  return {{.name = "start_workflow",
           .title = "Start a workflow",
           .description = "Starts a workflow and returns its first step. Do what the step says, then submit it with "
                          "continue_workflow. The last line of the result is JSON with the token to use.",
           .fields = {{.name = "workflowId", .is_required = true, .placeholder = "<id from list_workflows>"},
                      workspace_field(true),
                      {.name = "goal",
                       .description = "What to do, in the person's words",
                       .is_required = true,
                       .max_bytes = sb::limits::kGoalBytes,
                       .placeholder = "<what to do>"},
                      {.name = "context",
                       .kind = Field::Kind::kObject,
                       .description = "Keys the workflow needs at the start"},
                      {.name = "modelTier", .kind = Field::Kind::kChoice, .choices = {"lightweight", "mid", "heavy"}}},
           .refuses_unknown = false},
          run_start};
}

}  // namespace sb::mcp

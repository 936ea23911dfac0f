// continue_workflow: submits a step, or shows it again.
#include "base/limits.hpp"
#include "mcp/asking/carried_decisions.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

using Intent = engine::ContinueRequest::Intent;

// Nothing, or what is wrong with the combination of inputs.
std::optional<engine::SessionError> submission_fault(const ToolSpec& spec, const Inputs& inputs) {
  if (inputs.text("intent") != "rehydrate") return {};
  if (inputs.given.find("workspacePath") == nullptr) {
    return input_error(spec, inputs, "workspacePath", "is missing; intent rehydrate needs it",
                       {{"workspacePath", "/absolute/path"}});
  }
  const Value& output = inputs.given["output"];
  if (output.is_object() && output.size() > 0) {
    return input_error(spec, inputs, "output", "needs intent advance; rehydrate only shows the step again",
                       {{"intent", "advance"}});
  }
  return {};
}

engine::ContinueRequest continuing_of(const Inputs& inputs) {
  engine::ContinueRequest continuing;
  continuing.token = inputs.text("continueToken");
  continuing.workspace = inputs.text("workspacePath");
  const std::string intent = inputs.text("intent");
  if (intent == "advance") continuing.intent = Intent::kAdvance;
  if (intent == "rehydrate") continuing.intent = Intent::kRehydrate;
  continuing.submission.context = inputs.given["context"];
  const Value& output = inputs.given["output"];
  continuing.submission.notes = output.string_at("notesMarkdown").value_or("");
  if (output["artifacts"].is_array()) continuing.submission.artifacts = output["artifacts"].items();
  return continuing;
}

HandlerResult run_continue_session(WorkerContext& worker, const ToolSpec& spec, const Inputs& inputs, Call& call) {
  if (auto carried = resume_pending_call(worker, call)) return std::move(*carried);
  if (auto wrong = submission_fault(spec, inputs)) return error_result(*wrong);
  engine::ContinueRequest continuing = continuing_of(inputs);
  if (const Value* relayed = inputs.given.find("answer")) {
    auto read = relayed_answer(*relayed, call);
    if (!read) return error_result(read.error());
    continuing.answer = std::move(*read);
  }
  const auto home = worker.home();
  if (!home) return error_result(home.error());
  continuing.should_continue = progress_until_cancelled(call);
  auto answer = (*home)->sessions().continue_session(continuing);
  if (!answer) return error_result(answer.error());
  return ask_for_decision(worker, std::move(*answer), call, inputs.note());
}

}  // namespace

Tool continue_workflow_tool() {
  Field output = {.name = "output",
                  .kind = Field::Kind::kObject,
                  .description = "The result of the step",
                  .members = {{.name = "notesMarkdown",
                               .description = "What you did and found, for the next person or agent to continue",
                               .may_be_empty = true},
                              {.name = "artifacts",
                               .kind = Field::Kind::kList,
                               .description = "JSON objects, each with its kind, if the step asks for them"}}};
  Field answer = {
      .name = "answer",
      .kind = Field::Kind::kObject,
      .description = "Only if the last line said relay: true: the person's answer",
      .members = {{.name = "decision", .is_required = true},
                  {.name = "options", .kind = Field::Kind::kTexts, .description = "Ids of the chosen options"},
                  {.name = "text"},
                  {.name = "values", .kind = Field::Kind::kObject},
                  {.name = "reason"}}};
  return {{.name = "continue_workflow",
           .title = "Continue a workflow",
           .description = "Submits the open step and returns the next one, or reports what is missing. Without output "
                          "it shows the step again, or picks up an answer you waited for.",
           .fields = {{.name = "continueToken",
                       .description = "From the last line of the previous result; or a resumeToken",
                       .is_required = true,
                       .placeholder = "<continueToken of the last result>"},
                      output,
                      {.name = "context", .kind = Field::Kind::kObject, .description = "Keys to set; null removes one"},
                      {.name = "intent",
                       .kind = Field::Kind::kChoice,
                       .description = "Inferred: advance with output, else rehydrate (shows the step again)",
                       .choices = {"advance", "rehydrate"}},
                      workspace_field(false),
                      answer},
           .aliases = {{"contextVariables", "context"},
                       {"notes", "output.notesMarkdown"},
                       {"artifacts", "output.artifacts"}},
           .is_idempotent = true},
          run_continue_session};
}

}  // namespace sb::mcp

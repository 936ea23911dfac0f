// continue_workflow: a step delivered, or shown again.
#include "base/limits.hpp"
#include "mcp/asking/carried_decisions.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

using Intent = engine::ContinueRequest::Intent;

// Nothing, or what is wrong with how the inputs go together.
std::optional<engine::SessionError> submission_fault(const ToolSpec& spec, const Inputs& inputs) {
  if (inputs.text("intent") != "rehydrate") return {};
  if (inputs.given.find("workspacePath") == nullptr) {
    return input_error(spec, inputs, "workspacePath", "is missing; intent rehydrate needs it",
                       {{"workspacePath", "/absolute/path"}});
  }
  const Value& output = inputs.given["output"];
  if (output.is_object() && output.size() > 0) {
    return input_error(spec, inputs, "output", "goes with intent advance; rehydrate only shows the step again",
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
                  .description = "What the step asked for",
                  .members = {{.name = "notesMarkdown",
                               .description = "What was done and found, for whoever goes on later",
                               .may_be_empty = true},
                              {.name = "artifacts",
                               .kind = Field::Kind::kList,
                               .description = "JSON objects, each with its kind, where the step asks for them"}}};
  Field answer = {.name = "answer",
                  .kind = Field::Kind::kObject,
                  .description = "Only where the last line said relay: true: what the person chose",
                  .members = {{.name = "decision", .is_required = true},
                              {.name = "options", .kind = Field::Kind::kTexts, .description = "Ids of what they chose"},
                              {.name = "text"},
                              {.name = "values", .kind = Field::Kind::kObject},
                              {.name = "reason"}}};
  return {{.name = "continue_workflow",
           .title = "Continue a workflow",
           .description = "Delivers the open step and gives the next one, or says what is missing. Without output it "
                          "shows how the step stands, and picks up an answer that was waited for.",
           .fields = {{.name = "continueToken",
                       .description = "From the last line of the answer before; a resumeToken also",
                       .is_required = true,
                       .placeholder = "<continueToken of the last answer>"},
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

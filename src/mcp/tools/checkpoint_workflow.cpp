// checkpoint_workflow: a point in a session to return to.
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

HandlerResult run_checkpoint(WorkerContext& worker, const ToolSpec&, const Inputs& inputs, Call&) {
  const auto home = worker.home();
  if (!home) return error_result(home.error());
  const auto made = (*home)->sessions().checkpoint(inputs.text("checkpointToken"));
  if (!made) return error_result(made.error());
  const Value next = Value::object(
      {{"tool", "continue_workflow"}, {"params", Value::object({{"continueToken", made->resume_token}})}});
  return structured_answer(Value::object({{"sessionId", made->session},
                                          {"checkpointNodeId", made->node},
                                          {"resumeToken", made->resume_token},
                                          {"nextCall", next}}),
                           inputs);
}

}  // namespace

Tool checkpoint_workflow_tool() {
  return {{.name = "checkpoint_workflow",
           .title = "Set a checkpoint",
           .description = "Saves the current position without submitting anything, and returns a token to resume from. "
                          "Use it before you stop in the middle of a step.",
           .fields = {{.name = "checkpointToken",
                       .description = "From the last line of start_workflow or continue_workflow",
                       .is_required = true,
                       .placeholder = "<checkpointToken of the last answer>"}},
           .is_idempotent = true,
           .output = object_schema({{"sessionId", type_schema("string")},
                                    {"checkpointNodeId", type_schema("integer")},
                                    {"resumeToken", type_schema("string")},
                                    {"nextCall", type_schema("object")},
                                    {"warnings?", list_schema(type_schema("string"))}})},
          run_checkpoint};
}

}  // namespace sb::mcp

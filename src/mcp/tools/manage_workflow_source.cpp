// manage_workflow_source: the user's folders from which workflows are loaded.
//
// An agent that attaches a folder has no authority: its content is trusted no more than a project.
#include <fmt/format.h>

#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

Result<Value> changed(WorkerContext& worker, Inputs& inputs) {
  const HomeDirectories homes = SB_TRY(worker.homes());
  const std::string path = inputs.text("path");
  if (inputs.text("action") == "attach") {
    SB_TRY(workflow::Catalog::attach(worker.files(), homes, path, workflow::Catalog::AttachedBy::kAgent));
    inputs.notes.push_back(
        fmt::format("until a person runs `signalbox workflow source add {}`, its commands do not run and it replaces "
                    "no built-in workflow",
                    path));
  } else {
    SB_TRY(workflow::Catalog::detach(worker.files(), homes, path));
  }
  return Value::object({{"action", inputs.text("action")}, {"path", path}});
}

HandlerResult run_manage_source(WorkerContext& worker, const ToolSpec&, const Inputs& given, Call&) {
  Inputs inputs = given;
  auto done = changed(worker, inputs);
  if (!done) return error_result(done.error());
  return structured_answer(std::move(*done), inputs);
}

}  // namespace

Tool manage_workflow_source_tool() {
  return {
      {.name = "manage_workflow_source",
       .title = "Attach or detach a folder of workflows",
       .description = "Only if the person asks for it: adds or removes one of their folders as a source of workflows "
                      "in every workspace.",
       .fields =
           {{.name = "action", .kind = Field::Kind::kChoice, .is_required = true, .choices = {"attach", "detach"}},
            {.name = "path",
             .kind = Field::Kind::kPath,
             .description = "Absolute path of the folder",
             .is_required = true}},
       .is_idempotent = true,
       .output = object_schema({{"action", type_schema("string")},
                                {"path", type_schema("string")},
                                {"warnings?", list_schema(type_schema("string"))}})},
      run_manage_source};
}

}  // namespace sb::mcp

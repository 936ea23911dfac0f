#include "mcp/tools/tools.hpp"

#include <fmt/format.h>

#include "mcp/service.hpp"

namespace sb::mcp {

std::vector<Tool> all_tools() {
  return {list_workflows_tool(),    inspect_workflow_tool(),       start_workflow_tool(),
          continue_workflow_tool(), checkpoint_workflow_tool(),    resume_session_tool(),
          validate_workflow_tool(), manage_workflow_source_tool(), ask_tool()};
}

Field workspace_field(bool is_required) {
  return {.name = "workspacePath",
          .kind = Field::Kind::kPath,
          .description = "Absolute path of the project folder",
          .is_required = is_required};
}

Result<std::string> workspace_of(const WorkerContext& worker, const Inputs& inputs) {
  const std::string given = inputs.text("workspacePath");
  if (given.empty()) return given;
  if (worker.files().kind(given) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("workspacePath {} is not a folder", quote_json(given)),
                "Use the absolute path of the project folder");
  }
  return worker.files().canonical(given);
}

Value structured_answer(Value structured, const Inputs& inputs) {
  if (!inputs.notes.empty()) {
    Value warnings = structured["warnings"].is_array() ? structured["warnings"] : Value::array();
    for (const std::string& note : inputs.notes) warnings.push_back(note);
    structured.set("warnings", std::move(warnings));
  }
  return structured_result(std::move(structured));
}

}  // namespace sb::mcp

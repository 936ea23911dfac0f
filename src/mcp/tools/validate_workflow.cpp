// validate_workflow: reports every fault of a workflow that is not in any source yet.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kGivenName = "<workflow>";

// Exactly one of the three names what to check.
std::expected<Document, Error> document_of(const WorkerContext& worker, const Inputs& inputs, const Call& call) {
  if (const auto path = inputs.given.string_at("path")) {
    // Faults quote the file, and remote callers may not read files of this machine.
    if (!call.caller.is_local_user) {
      return fail(ErrorCode::kForbidden, "path names a file on the server's machine", "Send the text as workflowJson");
    }
    if (const FileKind kind = worker.files().kind(*path); kind != FileKind::kFile && kind != FileKind::kMissing) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not a regular file", quote_json(*path)),
                  "Use the path of the workflow file");
    }
    return load_document(worker.files(), *path);
  }
  const Value& given =
      inputs.given.find("workflow") != nullptr ? inputs.given["workflow"] : inputs.given["workflowJson"];
  return parse_document(std::string(kGivenName), given.is_string() ? given.as_string() : to_pretty_json(given));
}

Value verdict(const Faults& faults, bool has_lines) {
  Value list = workflow::fault_values(faults);
  for (Value& fault : list.items()) {
    if (fault.string_at("file") == kGivenName) fault.erase("file");
    // An object has no line numbers.
    if (has_lines) continue;
    fault.erase("line");
    fault.erase("column");
  }
  return Value::object({{"valid", faults.empty()}, {"faults", std::move(list)}});
}

HandlerResult run_validate(WorkerContext& worker, const ToolSpec& spec, const Inputs& inputs, Call& call) {
  const auto is_given = [&](std::string_view name) { return inputs.given.find(name) != nullptr; };
  const int sources = is_given("workflow") + is_given("workflowJson") + is_given("path");
  if (sources == 0) {
    return error_result(input_error(spec, inputs, "workflowJson", "is missing; use workflowJson, workflow or path",
                                    {{"workflowJson", "<the workflow, as JSON or YAML>"}}));
  }
  if (sources > 1) {
    const std::string_view kept = is_given("workflowJson") ? "workflowJson" : "workflow";
    std::vector<Value::Member> dropped;
    for (const char* name : {"workflowJson", "workflow", "path"}) {
      if (name != kept && is_given(name)) dropped.push_back({name, Value()});
    }
    return error_result(
        input_error(spec, inputs, dropped.front().name, fmt::format("cannot be combined with {}", kept), dropped));
  }
  const auto workspace = workspace_of(worker, inputs);
  if (!workspace) return error_result(workspace.error());
  const auto catalog = worker.catalog(*workspace);
  if (!catalog) return error_result(catalog.error());
  const auto document = document_of(worker, inputs, call);
  if (!document && is_given("path") && document.error().location.line == 0) return error_result(document.error());
  const bool has_lines = !(inputs.given["workflow"].is_object() || inputs.given["workflowJson"].is_object());
  if (!document) return structured_answer(verdict({document.error()}, has_lines), inputs);
  const auto bundle = catalog->compile(*document);
  Value out = verdict(bundle ? Faults{} : bundle.error(), has_lines);
  if (bundle) {
    out.set("workflowId", bundle->back()->definition.id);
    out.set("workflowHash", bundle->back()->hash);
  }
  return structured_answer(std::move(out), inputs);
}

}  // namespace

Tool validate_workflow_tool() {
  Field path = {.name = "path", .kind = Field::Kind::kPath, .description = "Or a file that contains it"};
  return {
      {.name = "validate_workflow",
       .title = "Validate a workflow",
       .description = "Reports every fault of a workflow you are writing, with its location and how to fix it.",
       .fields = {{.name = "workflowJson", .kind = Field::Kind::kJsonText, .description = "The workflow, JSON or YAML"},
                  {.name = "workflow", .kind = Field::Kind::kJson, .description = "Or as an object"},
                  path,
                  workspace_field(false)},
       .is_read_only = true,
       .is_idempotent = true,
       .output = object_schema({{"valid", type_schema("boolean")},
                                {"faults", list_schema(object_schema({{"pointer", type_schema("string")},
                                                                      {"message", type_schema("string")},
                                                                      {"remedy", type_schema("string")},
                                                                      {"code", type_schema("string")},
                                                                      {"line?", type_schema("integer")}}))},
                                {"workflowId?", type_schema("string")},
                                {"workflowHash?", type_schema("string")},
                                {"warnings?", list_schema(type_schema("string"))}})},
      run_validate};
}

}  // namespace sb::mcp

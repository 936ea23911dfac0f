// inspect_workflow: the purpose of one workflow, and its steps.
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::mcp {
namespace {

using workflow::CatalogEntry;
using workflow::CompiledWorkflow;
using workflow::Step;

std::string_view type_of(const Step& step) {
  if (step.loop() != nullptr) return "loop";
  if (step.parallel() != nullptr) return "parallel";
  if (step.decision() != nullptr) return "decision";
  return step.call() != nullptr ? "workflow" : "step";
}

Value steps_of(const std::vector<Step>& steps) {
  Value out = Value::array();
  for (const Step& step : steps) {
    Value item = Value::object({{"id", step.id}, {"title", step.title}});
    if (const std::string_view type = type_of(step); type != "step") item.set("type", type);
    if (step.run_condition) item.set("when", to_text(*step.run_condition));
    if (step.confirmation.kind == workflow::Confirmation::Kind::kPerson) item.set("gate", "person");
    if (step.confirmation.kind == workflow::Confirmation::Kind::kEvaluator) item.set("gate", "confirmation");
    if (step.contract) item.set("contract", step.contract->ref);
    if (const auto* loop = step.loop()) {
      item.set("maxIterations", loop->loop.max_iterations);
      item.set("steps", steps_of(loop->body));
    }
    if (const auto* parallel = step.parallel()) {
      Value children = Value::array();
      for (const auto& each : parallel->delegations) children.push_back(each.workflow_id);
      item.set("workflows", std::move(children));
    }
    if (const auto* call = step.call()) item.set("workflowId", call->call.workflow_id);
    out.push_back(std::move(item));
  }
  return out;
}

Value compiled_of(const CompiledWorkflow& compiled, bool has_steps) {
  const auto& definition = compiled.definition;
  Value out = Value::object(
      {{"name", definition.name}, {"description", definition.description}, {"version", definition.version}});
  if (!definition.preconditions.empty()) out.set("preconditions", Value::array(definition.preconditions));
  if (!definition.clarification_prompts.empty()) {
    out.set("clarificationPrompts", Value::array(definition.clarification_prompts));
  }
  if (!definition.meta_guidance.empty()) out.set("metaGuidance", Value::array(definition.meta_guidance));
  if (!definition.examples.empty()) out.set("examples", Value::array(definition.examples));
  if (!compiled.calls.empty()) {
    Value calls = Value::array();
    for (const auto& [id, hash] : compiled.calls) calls.push_back(id);
    out.set("calls", std::move(calls));
  }
  if (has_steps) out.set("steps", steps_of(definition.steps));
  return out;
}

Value inspected(const CatalogEntry& entry, const CompiledWorkflow& compiled, const std::string& mode) {
  Value out = Value::object({{"workflowId", entry.id},
                             {"workflowHash", compiled.hash},
                             {"mode", mode},
                             {"compiled", compiled_of(compiled, mode == "preview")}});
  Value visibility = Value::object({{"source", to_string(entry.origin.kind)}});
  if (!entry.origin.folder.empty()) visibility.set("file", entry.origin.file);
  if (!entry.shadows.empty()) visibility.set("shadows", entry.shadows.size());
  out.set("visibility", std::move(visibility));
  Value references = Value::array();
  for (const auto& reference : compiled.definition.references) {
    references.push_back(
        Value::object({{"id", reference.id}, {"title", reference.title}, {"source", reference.source}}));
  }
  if (references.size() > 0) out.set("references", std::move(references));
  if (entry.staleness != workflow::Staleness::kNone) out.set("staleness", to_string(entry.staleness));
  return out;
}

HandlerResult run_inspect(WorkerContext& worker, const ToolSpec&, const Inputs& inputs, Call&) {
  const auto workspace = workspace_of(worker, inputs);
  if (!workspace) return error_result(workspace.error());
  const auto catalog = worker.catalog(*workspace);
  if (!catalog) return error_result(catalog.error());
  const auto entry = catalog->find(inputs.text("workflowId"));
  if (!entry) return error_result(entry.error());
  const auto bundle = catalog->compile(**entry);
  if (!bundle) {
    return error_result(engine::SessionError{"VALIDATION_ERROR", bundle.error().front(),
                                             Value::object({{"faults", workflow::fault_values(bundle.error())}})});
  }
  const std::string mode = inputs.given.string_at("mode").value_or("preview");
  return structured_answer(inspected(**entry, *bundle->back(), mode), inputs);
}

}  // namespace

Tool inspect_workflow_tool() {
  return {{.name = "inspect_workflow",
           .title = "Inspect a workflow",
           .description = "Shows a workflow before you start it: purpose, preconditions, and in mode preview "
                          "its steps.",
           .fields = {{.name = "workflowId", .is_required = true, .placeholder = "<id from list_workflows>"},
                      workspace_field(true),
                      {.name = "mode", .kind = Field::Kind::kChoice, .choices = {"preview", "metadata"}}},
           .refuses_unknown = false,
           .is_read_only = true,
           .is_idempotent = true,
           .output = object_schema({{"workflowId", type_schema("string")},
                                    {"workflowHash", type_schema("string")},
                                    {"mode", type_schema("string")},
                                    {"compiled", type_schema("object")},
                                    {"visibility?", type_schema("object")},
                                    {"references?", type_schema("array")},
                                    {"staleness?", type_schema("string")},
                                    {"warnings?", list_schema(type_schema("string"))}})},
          run_inspect};
}

}  // namespace sb::mcp

#include "bundled_runs/bundled_script.hpp"

#include <stdexcept>

#include "base/document/document.hpp"
#include "workflow/check/contract.hpp"
#include "workflow/schema/example.hpp"

namespace sb::pipeline_tests {
namespace {

Value artifact_for(const Value& step, const BundledScript::StepOverrides& overrides) {
  const std::string ref = step["outputContract"].string_at("contractRef").value_or("");
  const workflow::Contract* contract = workflow::Contracts::bundled().find(ref);
  if (contract == nullptr) throw std::runtime_error("no contract " + ref);
  Value artifact = contract->example;
  if (contract->kind == "wr.loop_control") artifact.set("decision", "stop");
  if (contract->kind == "wr.gate_verdict") artifact.set("verdict", "approved");
  const auto set = overrides.artifacts.find(step.string_at("id").value_or(""));
  if (set != overrides.artifacts.end()) {
    for (const Value::Member& member : set->second.members()) artifact.set(member.name, member.value);
  }
  return artifact;
}

// The best level of every dimension.
Value rating(const Value& shown, const std::string& id) {
  Value levels = Value::object();
  for (const Value& assessment : shown["assessments"].items()) {
    if (assessment.string_at("id") != id) continue;
    for (const Value& dimension : assessment["dimensions"].items()) {
      levels.set(dimension["id"].as_string(), dimension["levels"].items().back());
    }
  }
  return Value::object({{"kind", "wr.assessment"}, {"assessmentId", id}, {"dimensions", std::move(levels)}});
}

Value context_for(const Value& step, const BundledScript::StepOverrides& overrides) {
  Value context = Value::object();
  const Value* captures = step.find("captures");
  if (captures == nullptr) return context;
  for (const Value::Member& capture : captures->members()) {
    const Value* given = overrides.answers.find(capture.name);
    auto value = given != nullptr ? std::optional(*given) : workflow::example_of(capture.value);
    if (!value) throw std::runtime_error("no example of " + capture.name);
    context.set(capture.name, std::move(*value));
  }
  return context;
}

}  // namespace

Value call(const std::string& tool, Value input) {
  return Value::object({{"type", "tool_use"}, {"name", tool}, {"input", std::move(input)}});
}

Value BundledScript::reply(const StepOverrides& overrides, const Value& shown, const Value& step) const {
  Value input =
      Value::object({{"notes", "What was found, done and decided in this step, for a reader without other context."}});
  Value artifacts = Value::array();
  if (step.find("outputContract") != nullptr) artifacts.push_back(artifact_for(step, overrides));
  if (const Value* refs = step.find("assessmentRefs")) {
    for (const Value& ref : refs->items()) artifacts.push_back(rating(shown, ref.as_string()));
  }
  if (artifacts.size() > 0) input.set("artifacts", std::move(artifacts));
  if (Value context = context_for(step, overrides); context.size() > 0) input.set("context", std::move(context));
  Value content = Value::array();
  const auto calls = overrides.calls.find(step["id"].as_string());
  if (calls != overrides.calls.end()) {
    for (const Value& each : calls->second) content.push_back(each);
  }
  content.push_back(call("complete_step", std::move(input)));
  return content;
}

void BundledScript::add_steps(const std::string& workflow, const Value& shown, const Value& steps, std::string& lines) {
  for (const Value& step : steps.items()) {
    const std::string type = step.string_at("type").value_or("");
    if (type == "loop") add_steps(workflow, shown, step["body"], lines);
    if (!type.empty()) continue;
    lines += to_json(Value::object({{"when", Value::object({{"workflow", workflow}, {"step", step["id"]}})},
                                    {"content", reply(overrides_[workflow], shown, step)},
                                    {"repeat", true}})) +
             "\n";
  }
}

std::string BundledScript::lines_of(const std::string& workflow) {
  const ProgramResult ended = place_.run({"workflow", "show", workflow, "--json"});
  const auto shown = parse_json(ended.output);
  if (ended.code != 0 || !shown) throw std::runtime_error("no workflow " + workflow + ": " + ended.errors);
  const Value& definition = (*shown)["pinned"]["workflow"];
  std::string lines;
  add_steps(workflow, definition, definition["steps"], lines);
  return lines;
}

std::string BundledScript::lines() {
  std::string all;
  for (const char* each : {"wr.discovery", "wr.shaping", "wr.ui-ux-design", "wr.coding-task", "wr.mr-review", "wr.fix",
                           "wr.production-readiness-audit", "wr.architecture-scalability-audit", "wr.gate-eval-generic",
                           "wr.routine-hypothesis-challenge", "wr.routine-ideation", "wr.routine-context-gathering",
                           "wr.routine-reviewer-family", "wr.routine-execution-simulation"}) {
    all += lines_of(each);
  }
  return all;
}

}  // namespace sb::pipeline_tests

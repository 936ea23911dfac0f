// Turns `verification`, `audit` and `synthesis` into separate steps, called virtual steps.
//
// Their prompts are part of the pinned hash: a changed word changes the hashes in tests/data/pin-vectors.yaml and those
// of every workflow that uses them.
//
// Virtual steps come directly after their step, run if it runs, and may write and run no more than it may. The step
// keeps everything else, such as its output contract.
#include <fmt/format.h>

#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

// What a virtual step takes from the step it belongs to.
Value step_behind(const Value& step, std::string_view suffix, std::string_view title, std::string prompt) {
  Value added = Value::object();
  added.set("id", step.string_at("id").value_or("") + std::string(suffix));
  added.set("title", fmt::format("{}: {}", title, step.string_at("title").value_or("")));
  added.set("prompt", std::move(prompt));
  for (const std::string_view name : {"runCondition", "writes", "commands"}) {
    if (const Value* value = step.find(name)) added.set(name, *value);
  }
  return added;
}

Value verification_step(const Value& step, const Value& verification) {
  const std::string title = step.string_at("title").value_or("");
  const auto command = verification.string_at("command");
  std::string prompt = verification.string_at("prompt").value_or(fmt::format("Verify what \"{}\" produced.", title));
  if (command) {
    prompt += fmt::format(
        "\n\nWhen you continue, Signalbox runs this command in the workspace, and only exit code 0 passes:\n\n"
        "```sh\n{}\n```\n\nIf it would fail, fix the cause first. Do not weaken the check.",
        *command);
  }
  Value added = step_behind(step, "__verification", "Verification", std::move(prompt));
  added.set("notesOptional", true);
  if (command) added.set("command", *command);
  return added;
}

Value audit_step(const Value& step, const Value& audit) {
  std::string prompt = audit.string_at("prompt").value_or(fmt::format(
      "Review what \"{}\" produced as a strict reviewer who did not write it.", step.string_at("title").value_or("")));
  if (const Value* rubric = audit.find("rubric"); rubric && rubric->size() > 0) {
    prompt += "\n\n## Rubric\n";
    for (const Value& line : rubric->items()) prompt += fmt::format("- {}\n", line.is_string() ? line.as_string() : "");
    prompt +=
        "\nFor each line, say whether it holds and give the evidence. Fix what does not hold before you continue.";
  }
  Value added = step_behind(step, "__audit", "Audit", std::move(prompt));
  added.set("notesOptional", true);
  return added;
}

Value synthesis_step(const Value& step, const Value& synthesis) {
  Value added = step_behind(step, "__synthesis", "Synthesis",
                            synthesis.string_at("prompt").value_or(fmt::format(
                                "Combine the results of the parts of \"{}\". Say where they agree, where they "
                                "disagree and which one is right, and which results are missing.",
                                step.string_at("title").value_or(""))));
  if (const Value* contract = synthesis.find("outputContract")) added.set("outputContract", *contract);
  return added;
}

}  // namespace

void add_virtual_steps(Value::Array& steps) {
  Value::Array out;
  out.reserve(steps.size());
  for (Value& step : steps) {
    if (Value* body = step.find("body"); body && body->is_array()) add_virtual_steps(body->items());
    Value::Array behind;
    if (const Value* verification = step.find("verification")) behind.push_back(verification_step(step, *verification));
    if (const Value* audit = step.find("audit")) behind.push_back(audit_step(step, *audit));
    if (const Value* synthesis = step.find("synthesis")) behind.push_back(synthesis_step(step, *synthesis));
    if (!behind.empty()) {
      for (const std::string_view name : {"verification", "audit", "synthesis"}) step.erase(name);
    }
    out.push_back(std::move(step));
    for (Value& each : behind) out.push_back(std::move(each));
  }
  steps = std::move(out);
}

}  // namespace sb::workflow

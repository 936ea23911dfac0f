// An ordinary step: its prompt, and what the agent must deliver.
#include <fmt/format.h>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

void read_audit(Fields& fields, Step& step) {
  const auto reader = fields.get("audit");
  if (!reader) return;
  Audit audit;
  Fields inner = reader->fields();
  audit.prompt = text_of(inner, "prompt", 1, 4096);
  audit.rubric = texts_of(inner, "rubric", {.min_items = 1});
  finish(inner);
  if (reader->value().is_object() && reader->value().size() == 0)
    fault(*reader, "empty_audit", "the audit is empty", "Add a prompt or a rubric");
  step.audit = std::move(audit);
}

void read_verification(Fields& fields, Step& step) {
  const auto reader = fields.get("verification");
  if (!reader) return;
  Verification verification;
  Fields inner = reader->fields();
  verification.command = text_of(inner, "command", 1, 1024);
  verification.prompt = text_of(inner, "prompt", 1, 4096);
  finish(inner);
  step.verification = std::move(verification);
}

void read_captures(Fields& fields, Step& step) {
  const auto reader = fields.get("captures");
  if (!reader) return;
  reader->fields();
  if (!reader->value().is_object()) return;
  for (const auto& [key, schema] : reader->value().members()) {
    const Reader part = reader->at(schema);
    if (!is_name(key) || key.size() > 64) {
      fault(part, "bad_name", fmt::format("\"{}\" is not a valid context key", key.substr(0, 80)),
            "Use at most 64 letters, digits and underscores, not starting with a digit");
    }
    if (const auto compiled = JsonSchema::compile(schema); !compiled) {
      Error error = compiled.error();
      error.rule = "bad_schema";
      part.adopt(std::move(error));
    }
    step.captures.push_back({key, schema});
  }
}

bool has_prompt(const Fields& fields) {
  return fields.has("prompt") || fields.has("promptBlocks") || fields.has("templateCall");
}

}  // namespace

std::optional<OutputContract> contract_of(Fields& fields) {
  const auto reader = fields.get("outputContract");
  if (!reader) return std::nullopt;
  OutputContract contract;
  Fields inner = reader->fields();
  contract.ref = text_of(inner, "contractRef", 1);
  contract.is_required = flag_of(inner, "required", true);
  contract.narrowings = narrowings_of(inner);
  finish(inner, {"contractRef"});
  return contract;
}

void read_work(Fields& fields, StepReadContext& reading, Step& step) {
  step.what = WorkStep{};
  read_prompt(fields, reading, step);
  step.agent_role = text_of(fields, "agentRole", 10, 1024);
  step.guidance = texts_of(fields, "guidance");
  step.model_tier = tier_of(fields);
  step.ask_for_files = flag_of(fields, "askForFiles");
  step.has_validation = flag_of(fields, "hasValidation");
  read_common(fields, step);
  if (const auto criteria = fields.get("validationCriteria")) step.criteria = read_criteria(*criteria);
  step.contract = contract_of(fields);
  read_assessment_use(fields, reading, step);
  read_function_use(fields, reading, step);
  read_audit(fields, step);
  read_verification(fields, step);
  read_captures(fields, step);
  step.counts = counts_of(fields);
  read_needs_and_jump(fields, reading, step);
  read_interlock(fields, step);
  if (reading.is_pinned()) step.command = text_of(fields, "command", 1);
  // If there is an unknown key, the missing one is most likely that one, misspelled.
  if (!finish(fields, {"id", "title"}) || has_prompt(fields)) return;
  fault(fields.self(), "missing_key", "the step has no prompt", "Add prompt: what the agent must do");
}

}  // namespace sb::workflow

// The checks of a step, as the agent sees them before it starts.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "engine/advance/item_fields.hpp"
#include "engine/advance/keys_ahead.hpp"
#include "engine/advance/narrowed_contract.hpp"
#include "engine/answer/answer.hpp"
#include "workflow/check/assessment.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Foresight;
using workflow::Step;

void add_notes(std::string& lines, const Step& step, const Value& wanted, const Value& context) {
  const Value& notes = wanted["notes"];
  if (notes.is_bool() && notes.as_bool()) lines += "- Notes: what you did, found and decided.\n";
  if (!step.criteria) return;
  const Value rules = workflow::to_requirements(*step.criteria, context);
  for (const Value& rule : rules.items()) {
    lines += fmt::format("- Notes: {}\n", workflow::requirement_line(rule));
  }
}

void add_contract(std::string& lines, const Program& program, const Step& step, const Value& context) {
  if (!step.contract) return;
  const workflow::Contract* contract = program.compiled().contracts.find(step.contract->ref);
  if (contract == nullptr) return;
  lines += fmt::format("- {} `{}` in `artifacts`: {}\n  Example: {}\n",
                       step.contract->is_required ? "An artifact" : "If it applies, an artifact", contract->kind,
                       trimmed_end(contract->help), to_json(narrowed_example(*contract, step, context)));
  for (const workflow::Narrowing& narrowing : step.contract->narrowings) {
    if (applies(narrowing, context)) lines += fmt::format("  {}\n", trimmed_end(narrowing.message));
  }
}

// The loop's exit decision, if the step carries it without having the contract itself.
void add_exit(std::string& lines, const Program& program, const ProgramStep& place, const Value& context,
              workflow::Braces braces) {
  if (place.exits == kNoStep) return;
  const Step& loop = *program.at(place.exits).step;
  const auto* source = std::get_if<workflow::Loop::FromArtifact>(&loop.loop()->loop.source);
  if (source == nullptr || (place.step->contract && place.step->contract->ref == source->contract_ref)) return;
  const workflow::Contract* contract = program.compiled().contracts.find(source->contract_ref);
  if (contract == nullptr) return;
  lines += fmt::format(
      "- To leave \"{}\", an artifact `{}` in `artifacts`; without one the loop continues. {}\n  Example: {}\n",
      workflow::fill_in_line(loop.title, context, braces), contract->kind, trimmed_end(contract->help),
      to_json(contract->example));
}

void add_assessments(std::string& lines, const Program& program, const Step& step) {
  for (const std::string& ref : step.assessment_refs) {
    const workflow::AssessmentDefinition* assessment = program.definition().assessment(ref);
    if (assessment == nullptr) continue;
    lines +=
        fmt::format("- An artifact `wr.assessment` for `{}`: {}\n", assessment->id, trimmed_end(assessment->purpose));
    for (const workflow::AssessmentDimension& dimension : assessment->dimensions) {
      lines += fmt::format("  - `{}`{} {}: {}\n", dimension.id, dimension.is_required ? "" : " (optional)",
                           fmt::join(dimension.levels, "|"), trimmed_end(dimension.purpose));
    }
    lines += fmt::format("  Example: {}\n", to_json(workflow::example_assessment(*assessment, step)));
  }
}

// The step in whose case alone a key is needed, as its reader knows it.
std::string condition_of(const Program& program, const Value& capture, const Value& context, workflow::Braces braces) {
  const auto id = capture.string_at("ifNext");
  const StepNo number = id ? program.find(*id) : kNoStep;
  if (number == kNoStep) return {};
  return fmt::format(", if \"{}\" comes next", workflow::fill_in_line(program.at(number).step->title, context, braces));
}

void add_captures(std::string& lines, const Program& program, const Step& step, const Value& wanted,
                  const Value& context, workflow::Braces braces) {
  const Value* captures = wanted.find("captures");
  if (captures == nullptr || !captures->is_array()) return;
  for (const Value& capture : captures->items()) {
    const std::string key = capture.string_at("key").value_or("");
    const auto declared = std::find_if(step.captures.begin(), step.captures.end(),
                                       [&](const workflow::Capture& own) { return own.key == key; });
    const std::string type = capture.string_at("type").value_or("any");
    // A schema that only repeats the type is not printed.
    const bool has_schema = declared != step.captures.end() && declared->schema.size() > 0 &&
                            !(declared->schema.size() == 1 && declared->schema.find("type") != nullptr);
    lines += fmt::format("- Context key `{}`", key);
    if (has_schema) {
      lines += ": " + to_json(declared->schema);
    } else if (type != "any") {
      lines += fmt::format(" ({})", type);
    }
    const std::vector<std::string> fields = item_fields_of(program, key, context);
    if (!fields.empty()) lines += fmt::format(", each item with {}", fmt::join(fields, ", "));
    lines += condition_of(program, capture, context, braces) + '\n';
  }
}

void add_what_follows(std::string& lines, const Step& step, const Value& context) {
  const workflow::Confirmation& gate = step.confirmation;
  if (gate.kind == workflow::Confirmation::Kind::kNone) return;
  const Foresight is_gated = gate.when ? foresee_at_delivery(step, *gate.when, context) : Foresight::kTrue;
  if (is_gated == Foresight::kFalse) return;
  lines += gate.kind == workflow::Confirmation::Kind::kPerson ? "- A person must approve it before the next step"
                                                              : "- It must be approved before the next step";
  lines += is_gated == Foresight::kTrue ? ".\n" : fmt::format(", if {}.\n", workflow::to_text(*gate.when));
}

}  // namespace

std::string requirement_text(const Program& program, const Position& position, const Value& context,
                             workflow::Braces braces) {
  const StepNo number = program.find(position.step);
  if (number == kNoStep) return {};
  const Step& step = *program.at(number).step;
  const Value wanted = requirements(program, position, context);
  std::string lines;
  add_notes(lines, step, wanted, context);
  add_contract(lines, program, step, context);
  add_exit(lines, program, program.at(number), context, braces);
  add_assessments(lines, program, step);
  add_captures(lines, program, step, wanted, context, braces);
  add_what_follows(lines, step, context);
  return lines;
}

}  // namespace sb::engine

// A step that a person answers: the inbox must be able to ask its declaration.
#include <fmt/format.h>

#include <algorithm>

#include "decision/declaration/declaration.hpp"
#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

// As many as the limits of `select: many` require.
Value stand_in_options(const Value& declaration) {
  std::int64_t count = 2;
  for (const std::string_view name : {"min", "max"}) {
    const Value& bound = declaration[name];
    if (bound.is_integer()) count = std::max(count, std::min<std::int64_t>(bound.as_integer(), limits::kOptions));
  }
  Value options = Value::array();
  for (std::int64_t i = 1; i <= count; ++i) options.push_back(fmt::format("Option {}", i));
  return options;
}

// The step's declaration as a separate document; if only the context knows the options, placeholders are used.
Document stand_alone(const Value& declaration, bool has_options_from) {
  Document document{"", "", Value::object({{"decision", "step"}})};
  for (const auto& member : declaration.members()) {
    if (has_options_from && (member.name == "optionsFrom" || member.name == "options")) continue;
    document.root.set(member.name, member.value);
  }
  if (has_options_from) document.root.set("options", stand_in_options(declaration));
  return document;
}

void check_declaration(const Reader& reader, bool has_options_from) {
  static const decision::Profiles kProfiles = decision::Profiles::built_in();
  const auto declaration = decision::parse_declaration(stand_alone(reader.value(), has_options_from), kProfiles,
                                                       decision::Author::kWorkflow);
  if (declaration) return;
  for (const Error& error : declaration.error()) {
    Error reported = error;
    if (has_options_from && reported.location.pointer.starts_with("/options"))
      reported.location.pointer = "/optionsFrom";
    reader.adopt(std::move(reported));
  }
}

bool has_foreign_keys(const Reader& reader) {
  for (const std::string_view name : {"decision", "flow", "chain"}) {
    const Value* value = reader.value().find(name);
    if (!value) continue;
    fault(reader.at(*value), "unknown_key", fmt::format("unknown key \"{}\"", name),
          "Remove it: the step's id names the decision");
    return true;
  }
  return false;
}

void read_declaration(const Reader& reader, DecisionStep& decision) {
  reader.fields();
  if (!reader.value().is_object() || has_foreign_keys(reader)) return;
  const Value* from = reader.value().find("optionsFrom");
  const Value* options = reader.value().find("options");
  if (from) decision.options_from = read_text(reader.at(*from), 1, 128).value_or("");
  if (from && options) {
    fault(reader.at(*from), "two_options", "options are both listed and taken from the context",
          "Keep one of options and optionsFrom");
    return;
  }
  check_declaration(reader, from != nullptr);
  decision.declaration = reader.value();
  decision.declaration.erase("optionsFrom");
}

}  // namespace

void read_decision(Fields& fields, StepReadContext& reading, Step& step) {
  DecisionStep decision;
  step.run_condition = condition_of(fields, "runCondition");
  if (const auto reader = fields.get("decision")) read_declaration(*reader, decision);
  decision.capture_as = key_of(fields, "captureAs");
  if (decision.capture_as.empty()) decision.capture_as = step.id;
  read_needs_and_jump(fields, reading, step);
  step.what = std::move(decision);
  finish(fields, {"id", "title", "decision"});
}

}  // namespace sb::workflow

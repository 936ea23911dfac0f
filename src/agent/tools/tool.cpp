#include "agent/tools/tool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::agent {
namespace {

std::vector<std::string> names_of(const Value& schema) {
  std::vector<std::string> names;
  const Value& properties = schema["properties"];
  if (!properties.is_object()) return names;
  for (const Value::Member& member : properties.members()) names.push_back(member.name);
  return names;
}

std::string unknown_argument(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  const std::string shown = quote_json(name.substr(0, 64));
  if (!nearest.empty()) return fmt::format("- unknown argument {}; did you mean {}?\n", shown, quote_json(nearest));
  return fmt::format("- unknown argument {}; expected one of: {}\n", shown, fmt::join(known, ", "));
}

}  // namespace

std::string schema_errors(const ToolDeclaration& declaration, const Value& input) {
  if (!input.is_object()) {
    return fmt::format("{} takes an object of arguments, not {}.", declaration.name, kind_name(input.kind()));
  }
  const auto schema = workflow::JsonSchema::compile(declaration.input_schema);
  if (!schema) return fmt::format("{} cannot be called: {}", declaration.name, schema.error().to_string());
  const std::vector<workflow::SchemaViolation> violations = schema->check(input);
  if (violations.empty()) return {};
  std::string text = fmt::format("Invalid arguments for {}. Fix this and call it again:\n", declaration.name);
  const std::vector<std::string> known = names_of(declaration.input_schema);
  const bool is_closed = declaration.input_schema["additionalProperties"] == Value(false);
  const auto is_unknown = [&](const std::string& name) {
    return is_closed && std::ranges::find(known, name) == known.end();
  };
  for (const Value::Member& member : input.members()) {
    if (is_unknown(member.name)) text += unknown_argument(member.name, known);
  }
  for (const workflow::SchemaViolation& found : violations) {
    if (!found.pointer.empty() && is_unknown(found.pointer.substr(1)))
      continue;  // reported above, with the nearest name
    text += fmt::format("- {}: {}\n", found.pointer.empty() ? "the arguments" : found.pointer.substr(1), found.message);
  }
  return text;
}

}  // namespace sb::agent

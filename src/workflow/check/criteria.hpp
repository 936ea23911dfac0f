// `validationCriteria`: checks on the notes of a step.
//
// Pure. A list requires all of its rules; `and`, `or`, `not` nest; a rule with a `condition` counts only if that is
// true, otherwise it is ignored, also inside `or` and `not`. Patterns and schemas are compiled when read, so a bad one
// is a fault of the file and never a surprise at run time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document/reader.hpp"
#include "base/document/value.hpp"
#include "base/text/pattern.hpp"
#include "workflow/check/condition.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::workflow {

struct Criteria {
  enum class Type { kContains, kRegex, kLength, kSchema, kAnd, kOr, kNot };
  Type type = Type::kAnd;
  std::string message;
  std::string value;                         // kContains; kRegex: the pattern as written
  std::optional<Pattern> pattern;            // kRegex; JavaScript's flags; any other is a fault
  std::optional<double> min, max;            // kLength, in code points
  std::shared_ptr<const JsonSchema> schema;  // kSchema: for the notes read as JSON
  std::optional<Condition> condition;
  std::vector<Criteria> parts;  // kAnd, kOr, kNot
};

std::optional<Criteria> read_criteria(const Reader& reader);

// What the notes fail, in order, each worded by requirement_line(); empty if they pass.
std::vector<std::string> unmet_criteria(const Criteria& criteria, std::string_view notes, const Value& context);

// For prompts and `requires.criteria`: [{type, value, min, max, message}], the plain rules that must all be met here;
// an `or` or `not` is one item {type: "or"|"not", message}.
Value to_requirements(const Criteria& criteria, const Value& context);
// One of these items as an agent reads it, in requirements and refusals: `Say more. (at least 50 characters)`.
std::string requirement_line(const Value& requirement);

}  // namespace sb::workflow

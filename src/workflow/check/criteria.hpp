// `validationCriteria`: checks on the notes of a step.
//
// Pure. A list means all of it; `and`, `or`, `not` nest; a rule with a `condition` counts only where that holds: else
// it is as if it were not written, also inside `or` and `not`. Patterns and schemas are compiled when read, so a bad
// one is a fault of the file and never a surprise at run time.
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
  std::optional<Pattern> pattern;            // kRegex; JavaScript's flags, another one is a fault
  std::optional<double> min, max;            // kLength, in code points
  std::shared_ptr<const JsonSchema> schema;  // kSchema: of the notes read as JSON
  std::optional<Condition> condition;
  std::vector<Criteria> parts;  // kAnd, kOr, kNot
};

std::optional<Criteria> read_criteria(const Reader& reader);

// What the notes fail, in order, each as requirement_line() words it; empty when they pass.
std::vector<std::string> unmet_criteria(const Criteria& criteria, std::string_view notes, const Value& context);

// For prompts and `requires.criteria`: [{type, value, min, max, message}], the plain rules that must all hold here; an
// `or` or `not` is one item {type: "or"|"not", message}.
Value to_requirements(const Criteria& criteria, const Value& context);
// An item of these as an agent reads it, before and after: `Say more. (at least 50 characters)`.
std::string requirement_line(const Value& requirement);

}  // namespace sb::workflow

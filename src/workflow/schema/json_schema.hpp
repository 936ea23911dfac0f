// A JSON Schema (draft-07) from the user, for contracts, captures and criteria.
//
// `$ref` may only point into the schema itself (never a file or URL; cycles are fine as long as they go deeper into the
// value). An unknown or newer keyword is a fault, and so is anything draft-07 would ignore. `pattern` and
// `patternProperties` are checked by base/text/pattern.hpp with its limits, and so is `format`, which must be one of
// date-time, date, time, email, uri, uuid. Work and depth are limited: a value that cannot be checked within the limits
// does not fit. Immutable; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::workflow {

// What does not fit, and its location in the checked value.
struct SchemaViolation {
  std::string pointer;  // RFC 6901; empty: the value itself
  std::string message;  // `must be one of continue, stop`
};

class JsonSchema {
 public:
  // kInvalid with SourceLocation::pointer into the schema; kLimit.
  static Result<JsonSchema> compile(const Value& schema);

  // Empty when it fits; at most 20, most useful first, then that there are more.
  std::vector<SchemaViolation> check(const Value& value) const;

 private:
  struct Rules;
  explicit JsonSchema(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const Rules> rules_;
};

}  // namespace sb::workflow

// A JSON Schema of the user's (draft-07), for contracts, captures and criteria.
//
// By valijson, with what it must not do taken away: `$ref` may only point into the schema itself (never a file or URL;
// cycles are fine, a depth limit holds), an unknown or newer keyword is a fault, and `pattern` / `patternProperties`
// are taken out and checked by base/pattern.hpp with its limits. Immutable; may be used from several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"

namespace sb::workflow {

// What does not fit, and where in the checked value.
struct Misfit {
  std::string pointer;  // RFC 6901; empty: the value itself
  std::string message;  // `must be one of continue, stop`
};

class JsonSchema {
 public:
  // kInvalid with Place::pointer into the schema; kLimit.
  static Result<JsonSchema> compile(const Value& schema);

  // Empty when it fits; at most 20, most useful first.
  std::vector<Misfit> check(const Value& value) const;

 private:
  struct Rules;
  explicit JsonSchema(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const Rules> rules_;
};

}  // namespace sb::workflow

// What in a value does not fit a schema, in words for people and agents.
//
// The one walk that decides and explains: a value fits when nothing is found. Of an anyOf or oneOf it reports the form
// that was most probably meant instead of everything that went wrong in each. Work and depth are bounded; a value that
// cannot be checked within them does not fit. Pure.
#pragma once

#include <vector>

#include "base/document/value.hpp"
#include "workflow/schema/json_schema.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {

inline constexpr std::size_t kMaxSchemaViolations = 20;

// In the order of the schema, at most kMaxSchemaViolations; empty when the value fits.
std::vector<SchemaViolation> mismatches(const SchemaNode& schema, const Value& value);

}  // namespace sb::workflow

// Describes what in a value does not fit a schema, for people and agents.
//
// One walk both decides and explains: a value fits if nothing is found. For an anyOf or oneOf it reports the findings
// of the form that was probably meant instead of those of each form. Work and depth are limited; a value that cannot be
// checked within the limits does not fit. Pure.
#pragma once

#include <vector>

#include "base/document/value.hpp"
#include "workflow/schema/json_schema.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {

inline constexpr std::size_t kMaxSchemaViolations = 20;

// In the order of the schema, at most kMaxSchemaViolations, then that there are more; empty if the value fits.
std::vector<SchemaViolation> mismatches(const SchemaNode& schema, const Value& value);

}  // namespace sb::workflow

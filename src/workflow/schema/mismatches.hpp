// Why a value does not fit a schema, in words for people and agents.
//
// Only asked once valijson has refused the value (json_schema.cpp): this walk explains, it does not decide. It takes
// the best of an anyOf or oneOf instead of telling all that went wrong in each. Pure.
#pragma once

#include <vector>

#include "base/document/value.hpp"
#include "workflow/schema/json_schema.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {

inline constexpr std::size_t kMaxSchemaViolations = 20;

// In the order of the schema, at most kMaxSchemaViolations; empty when nothing was found.
std::vector<SchemaViolation> explain(const SchemaNode& schema, const Value& value);

// Shared with the deciding side, so that the two cannot differ.
bool is_multiple(double number, double of);
bool has_type(const Value& value, SchemaType type);

}  // namespace sb::workflow

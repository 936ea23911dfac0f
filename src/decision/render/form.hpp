// Flat forms as MCP elicitation knows them: the schema that is sent, and the check of what comes back against it.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

// The requestedSchema for these fields: an object with one primitive property a field.
Value schema_of(const std::vector<Field>& fields);

// Whether one value fits the property's schema: kind, bounds, format. The message says what is wrong, without the
// field's name.
Status check_property(const Value& property, const Value& value);

// Whether the content fits a requestedSchema made here: nothing required missing, nothing unknown, each value fitting.
// The message is `field: what is wrong`.
Status check_content(const Value& schema, const Value& content);

}  // namespace sb::decision

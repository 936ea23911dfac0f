// Flat forms as in MCP elicitation: the schema that is sent, and the validation of the response.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

// The requestedSchema for these fields: an object with one primitive property per field.
Value schema_of(const std::vector<Field>& fields);

// Checks one value against the property's schema: kind, bounds, format. The message says what is wrong in that
// language, without the field's name.
Status check_property(const Value& property, const Value& value, std::string_view locale);

// Checks content against a requestedSchema made here: no required field missing, no unknown field, each value valid.
// The message is `field: what is wrong`.
Status check_content(const Value& schema, const Value& content, std::string_view locale);

}  // namespace sb::decision

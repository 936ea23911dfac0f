// Generates a value that fits a JSON Schema: the example that an agent sees for a key it must send, and the answers of
// tests.
//
// Pure and deterministic: always the first choice, no more members and items than the schema requires. The result has
// been checked against the schema; nothing if no such value was found (a pattern it cannot match, contradictory parts,
// a schema that does not compile).
#pragma once

#include <optional>
#include <span>

#include "base/document/value.hpp"

namespace sb::workflow {

std::optional<Value> example_of(const Value& schema);

// The value, changed only where needed to fit the schema and everything that narrows it.
std::optional<Value> example_near(const Value& value, const Value& schema, std::span<const Value> narrowings);

}  // namespace sb::workflow

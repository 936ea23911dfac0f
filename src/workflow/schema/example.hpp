// A value that fits a JSON Schema, made from the schema alone: the example an agent is shown for a key it must send,
// and what tests answer with.
//
// Pure and deterministic: the first choice everywhere, no more members and items than the schema asks for. What is
// returned has been checked against the schema; nothing where no such value was found (a pattern it cannot meet, parts
// that contradict each other, a schema that does not compile).
#pragma once

#include <optional>
#include <span>

#include "base/document/value.hpp"

namespace sb::workflow {

std::optional<Value> example_of(const Value& schema);

// The value, changed where it must be to fit the schema and all that narrows it.
std::optional<Value> example_near(const Value& value, const Value& schema, std::span<const Value> narrowings);

}  // namespace sb::workflow

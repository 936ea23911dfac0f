// Changes one value in a YAML file that a person wrote and leaves every other byte as it is, comments included.
#pragma once

#include <span>
#include <string>

#include "base/document/document.hpp"

namespace sb {

// The text with the value at this path of keys, which is added if it is missing. kInvalid where that takes more than
// one line's change: inside braces, or where the present value spans several lines. The result has been parsed and
// differs from the document in this value only. Pure.
Result<std::string> with_yaml_value(const Document& document, std::span<const std::string> path, const Value& value);

// Sets the value at this path of keys; what is on the way there and is not an object becomes one.
void set_value_at(Value& root, std::span<const std::string> path, const Value& value);

}  // namespace sb

// The tree of a YAML text, and where its parts stand, by libfyaml. Since JSON is YAML, the places of JSON texts come
// from here too. Internal to base/document.
#pragma once

#include <optional>
#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb {

// A fault has a pointer, or a line and column.
Result<Value> yaml_tree(std::string_view text);

// The byte at which the value stands that the pointer names; of a member, its key.
std::optional<std::size_t> offset_in_yaml(std::string_view text, std::string_view pointer);

}  // namespace sb

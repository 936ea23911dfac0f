// Parses a YAML text into a tree and locates its parts, using libfyaml. Since JSON is YAML, it also locates parts of
// JSON texts. Internal to base/document.
#pragma once

#include <optional>
#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb {

// A fault has a pointer, or a line and a column.
Result<Value> yaml_tree(std::string_view text);

// The byte offset of the value the pointer names; for a member, of its key.
std::optional<std::size_t> offset_in_yaml(std::string_view text, std::string_view pointer);

}  // namespace sb

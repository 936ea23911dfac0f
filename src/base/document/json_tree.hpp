// Parses a JSON text into a tree, using Boost.JSON's parser with our handler: one pass; rejects duplicate keys and
// anything over the limits. Internal to base/document.
#pragma once

#include <expected>
#include <string_view>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb {

struct JsonFault {
  Error error;         // its location has a pointer where that is more precise than the offset
  std::size_t offset;  // in bytes: where the parser stopped
};

std::expected<Value, JsonFault> json_tree(std::string_view text, const JsonBounds& bounds = {});

}  // namespace sb

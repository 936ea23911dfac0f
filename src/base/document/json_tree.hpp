// The tree of a JSON text, by Boost.JSON's parser with a handler of ours: one pass, duplicate keys and everything over
// the limits refused. Internal to base/document.
#pragma once

#include <expected>
#include <string_view>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb {

struct JsonFault {
  Error error;         // its place has a pointer where that says it better than the offset
  std::size_t offset;  // in bytes, where the parser stopped
};

std::expected<Value, JsonFault> json_tree(std::string_view text, const JsonBounds& bounds = {});

}  // namespace sb

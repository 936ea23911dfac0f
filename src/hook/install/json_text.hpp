// Changes a JSON text so that it parses to another value, and keeps all bytes that need not change.
//
// Files that a client keeps writing have their own numbers, order and layout; parsing and rewriting them would change
// those. Comments (`//`, `/* */`) and trailing commas stay, too. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::hook {

// With spaces in place of comments and trailing commas, so that offsets and lines stay.
std::string without_json_comments(std::string_view text);

// `before` is the object in the text. What is new is formatted like its neighbours and comes last.
std::string with_json_changes(std::string text, const Value& before, const Value& after);

}  // namespace sb::hook

// Sets or removes one member in a JSON text and keeps all other bytes.
//
// Files that a client keeps writing have their own numbers, order and layout; parsing and rewriting them would change
// those. Pure. Each text must have passed parse_document with an object at its root.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::hook {

// {…, CONTAINER: {…, NAME: value}}, formatted like its neighbours. An existing NAME is replaced; a missing container is
// created. The container, if present, must be an object.
std::string with_member(std::string_view text, std::string_view container, std::string_view name, const Value& value);

// Without NAME in CONTAINER; `remove_empty_container` also removes a container that becomes empty.
std::string without_member(std::string_view text, std::string_view container, std::string_view name,
                           bool remove_empty_container);

}  // namespace sb::hook

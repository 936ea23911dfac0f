// One member put into, or taken out of, a JSON text whose other bytes stay as they are.
//
// Files that a client keeps writing hold numbers, orders and layouts of its own; reading and writing them anew would
// change those. Pure. Each text must have passed parse_document with an object at its root.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::hook {

// {…, CONTAINER: {…, NAME: value}}, laid out as its neighbours are. What stands under that name is replaced; a
// container that is missing is made. The container, where there is one, must be an object.
std::string with_member(std::string_view text, std::string_view container, std::string_view name, const Value& value);

// Without NAME in CONTAINER; `remove_empty_container` says that a container which is empty then goes too.
std::string without_member(std::string_view text, std::string_view container, std::string_view name,
                           bool remove_empty_container);

}  // namespace sb::hook

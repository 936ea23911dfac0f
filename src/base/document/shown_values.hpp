// The members of an object as text for an agent, within a budget. Pure.
//
// One line each, `- name: JSON`, the smallest value first and the largest last; those that no longer fit are named with
// their size. A value is JSON on one line without control and invisible characters, so no part of it can pass as a
// heading, a token or a sentence of ours.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb {

// At most `budget` bytes in total. `except`: names that are neither shown nor named. `where`: where the rest can be
// read, such as `signalbox session show s-1`; may be empty. Empty if there is nothing to show or `object` is not an
// object.
std::string shown_values(const Value& object, std::size_t budget, std::string_view where = {},
                         const std::set<std::string, std::less<>>& except = {});

// One value as in such a line, with at most so many bytes; the rest is replaced by its size.
std::string shown_value(const Value& value, std::size_t bytes);

}  // namespace sb

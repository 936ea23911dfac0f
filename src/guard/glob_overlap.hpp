// Whether a pattern of a shell can name anything that a glob covers. Pure.
//
// It errs to saying yes: letters in brackets count as any letter, braces of the glob as anything from there on. Cases
// of letters are not told apart. Work is bounded by the product of the two lengths.
#pragma once

#include <string_view>

namespace sb::guard {

// Both relative to the same folder, or both absolute, and without `..`. `is_recursive`: what lies in a folder that the
// pattern names counts as named.
bool may_overlap(std::string_view pattern, std::string_view glob, bool is_recursive);

}  // namespace sb::guard

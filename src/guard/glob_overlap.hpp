// Whether a shell pattern can match anything that a glob covers. Pure.
//
// Errs on the side of yes: bracket expressions count as any letter, braces of the glob as anything from there on.
// Case-insensitive. Work is bounded by the product of the two lengths.
#pragma once

#include <string_view>

namespace sb::guard {

// Both relative to the same folder, or both absolute, and without `..`. `is_recursive`: the contents of a matched
// folder count as matched.
bool may_overlap(std::string_view pattern, std::string_view glob, bool is_recursive);

}  // namespace sb::guard

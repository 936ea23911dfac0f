// A profile for questions written by programs: the rules of `interaction`, without limits on words and sentences, and
// with a section for what a person must know first. Pure.
#pragma once

#include <string_view>

#include "decision/declaration/profile.hpp"

namespace sb::decision {

// The profiles plus one named `name`.
Profiles with_written_profile(std::string_view name);

}  // namespace sb::decision

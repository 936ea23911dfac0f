// A profile for questions that programs write: the rules of `interaction`, without bounds on words and sentences, and
// with a section for what a person must know first. Pure.
#pragma once

#include <string_view>

#include "decision/declaration/profile.hpp"

namespace sb::decision {

// Profiles with one more, called `name`.
Profiles with_written_profile(std::string_view name);

}  // namespace sb::decision

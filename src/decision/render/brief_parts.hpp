// Checks that a prompt has everything its profile requires of a brief, before it is shown as one.
//
// Applies only to a decision as declared: a chain's questions about one option, about how to continue or at its end
// have their own form, and so has a decision under such a label (D3.2, D3.0, D3.final).
#pragma once

#include <string>
#include <vector>

#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

// One clause per missing part: `sections.net is missing`. Empty if the brief is complete.
std::vector<std::string> missing_brief_parts(const Prompt& prompt, const Profile& profile);

}  // namespace sb::decision

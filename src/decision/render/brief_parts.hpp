// What a profile requires of a brief, looked for in a prompt before it is shown as one.
//
// Only a decision as it was declared is held to it: what a chain asks about one option, about its course or at its end
// has a shape of its own, and so has a decision under such a label (D3.2, D3.0, D3.final).
#pragma once

#include <string>
#include <vector>

#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

// One sentence part a lack: `sections.net is missing`. Empty where the brief is whole.
std::vector<std::string> missing_brief_parts(const Prompt& prompt, const Profile& profile);

}  // namespace sb::decision

// One short line for hosts that show one: the open step of the conversation, and how many questions wait for a person.
#pragma once

#include "base/seams.hpp"

namespace sb::hook {

// Reads the host's JSON ({session_id, cwd, workspace: {current_dir}, …}; anything, also nothing, will do) and prints
// the line, or nothing when nothing is open. Never breaks the host: failures are logged.
void run_statusline(const Seams& seams);

}  // namespace sb::hook

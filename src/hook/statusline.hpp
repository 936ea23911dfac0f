// One short status line for hosts that show one: the conversation's open step and the number of open questions.
#pragma once

#include "base/seams.hpp"

namespace sb::hook {

// Reads the host's JSON ({session_id, cwd, workspace: {current_dir}, …}; any or no input is accepted) and prints the
// line, or nothing when nothing is open. Never breaks the host: failures are logged.
void run_statusline(const Seams& seams);

}  // namespace sb::hook

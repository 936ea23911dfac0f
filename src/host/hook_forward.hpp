// `signalbox forward-hook`: a hook of an agent program that can only start commands, such as Codex. Sends the event to
// the program's host (SIGNALBOX_HOOK_URL, with the token of SIGNALBOX_PLACE_TOKEN) and prints its answer.
//
// Where the host cannot be asked, the call is refused: exit code 2, with the reason on stderr.
#pragma once

#include "base/seams.hpp"

namespace sb::host {

int forward_hook(const Seams& seams);

}  // namespace sb::host

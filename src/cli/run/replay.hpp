// `run --replay`: replays a recorded run, offline and at no cost, in a scratch clone with a scratch home. Stops at the
// first request that differs from the recording, and shows the difference.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace sb::cli {

// Exit codes: 0 the replay matches, 1 it diverged, 2 or 3 it could not be replayed.
int replay_run(const Context& context, const std::string& name, bool wants_json);

}  // namespace sb::cli

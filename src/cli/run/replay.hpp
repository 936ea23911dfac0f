// `run --replay`: a recorded run played again, offline and at no cost, in a scratch clone with a scratch home. It stops
// at the first request that was not asked then, and shows the difference.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace sb::cli {

// 0: it went the same way. 1: it did not. 2, 3: it could not be played.
int replay_run(const Context& context, const std::string& name, bool wants_json);

}  // namespace sb::cli

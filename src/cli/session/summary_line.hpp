// Sessions as the commands show them.
#pragma once

#include <string>

#include "engine/state/session_state.hpp"

namespace sb::cli {

// Title and all, safe for a terminal, on one line.
std::string session_line(const engine::Summary& summary);
}  // namespace sb::cli

// How the commands print sessions.
#pragma once

#include <string>

#include "engine/state/session_state.hpp"

namespace sb::cli {

// One line, safe for a terminal.
std::string session_line(const engine::Summary& summary);
}  // namespace sb::cli

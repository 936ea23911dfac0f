// Tells whether this process was started by a known coding agent, from the environment and the processes above it.
//
// A courtesy: it spares an honest agent the embarrassment of answering for a person. It protects nothing, since an
// agent can clear its environment and leave its process tree; signatures protect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace sb::inbox {

// Files of this folder that are built in (data/).
std::string_view data_file(std::string_view name);

// `Claude Code (CLAUDECODE is set)`, `Codex (process codex)`, or nothing. Reads /proc through `files`, upwards from
// `pid`.
std::optional<std::string> known_agent(const Files& files, const Environment& environment, int pid);

}  // namespace sb::inbox

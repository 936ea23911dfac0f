// Detects whether this process was started by a known coding agent, from the environment and its ancestor processes.
//
// A courtesy that keeps a well-behaved agent from answering for a person. It is not protection, since an agent can
// clear its environment and leave its process tree; signatures protect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace sb::inbox {

// Built-in files of this folder (data/).
std::string_view data_file(std::string_view name);

// `Claude Code (CLAUDECODE is set)`, `Codex (process 7 is an ancestor)`, or nothing. Reads /proc through `files`,
// upwards from `pid`.
std::optional<std::string> known_agent(const Files& files, const Environment& environment, int pid);

}  // namespace sb::inbox

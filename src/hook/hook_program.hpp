// The `signalbox-hook` program under each of its names. `signalbox hook` without a subcommand does the same, and so
// does `signalbox` when called by one of the compatible names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/seams.hpp"

namespace sb::hook {

// Whether this is a gstack program name that we implement.
bool is_compatible_name(std::string_view program);

// Whether this is the name of one of gstack's hooks. Under it the program is the same hook: it handles every event, and
// the name only says what an event without `hook_event_name` is and that failures are logged where gstack logs them.
bool is_hook_name(std::string_view program);

// Runs as `program` (the last part of argv[0]) and returns the exit code. Under its own name it reads one hook event
// from the input and never breaks the host: failures are logged, the output stays empty and the exit code is 0.
int run_program(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams);

// The same for a process started by a host: reads the event from standard input, with a timeout.
int run_process(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams);

}  // namespace sb::hook

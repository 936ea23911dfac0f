// What `signalbox-hook` does, under each of its names. `signalbox hook` without a subcommand is the same, and so is
// `signalbox` when called by one of the compatible names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/seams.hpp"

namespace sb::hook {

// One of the program names of gstack that we answer to.
bool is_compatible_name(std::string_view program);

// Runs as `program` (the last part of argv[0]) and gives the exit code. Under its own name it reads one hook event from
// the input; it never breaks the host: any failure is logged, the output stays empty and the code is 0.
int run_program(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams);

// The same for a process a host has started: an event comes from the standard input, and is not waited for for ever.
int run_process(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams);

}  // namespace sb::hook

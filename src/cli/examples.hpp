// An example command line for each subcommand of the larger commands.
#pragma once

#include <string_view>

namespace sb::cli {

// The example of a subcommand such as `runs show`; empty if it has none, and the command's own example applies.
std::string_view example_of(std::string_view subcommand);

}  // namespace sb::cli

// A line that can be pasted, for each subcommand of the commands that have many.
#pragma once

#include <string_view>

namespace sb::cli {

// Of `runs show`, as one types it; empty: its command's own example is all there is.
std::string_view example_of(std::string_view subcommand);

}  // namespace sb::cli

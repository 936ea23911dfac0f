// Data built into the program for the commands: the demo's project and replies.
#pragma once

#include <string_view>

namespace sb::cli {

// JSON; empty when there is no file of this name.
std::string_view data_file(std::string_view name);

}  // namespace sb::cli

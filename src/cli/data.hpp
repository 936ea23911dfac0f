// What is built in for the commands: what the demo works with.
#pragma once

#include <string_view>

namespace sb::cli {

// JSON; empty when there is no file of this name.
std::string_view data_file(std::string_view name);

}  // namespace sb::cli

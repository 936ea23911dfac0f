// The data files of this folder, built in.
#pragma once

#include <string_view>

namespace sb::sandbox {

// JSON; empty when there is no file of this name.
std::string_view data_file(std::string_view name);

}  // namespace sb::sandbox

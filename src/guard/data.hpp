// The built-in data files of this folder (what programs do to files).
#pragma once

#include <string_view>

namespace sb::guard {

// JSON; empty when there is no file of this name.
std::string_view data_file(std::string_view name);

}  // namespace sb::guard

// The built-in data files of this folder (profiles, texts, lexicons).
#pragma once

#include <string_view>

namespace sb::decision {

// Empty when there is no file of this name.
std::string_view data_file(std::string_view name);

}  // namespace sb::decision

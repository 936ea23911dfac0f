// Starts a program that uses the terminal itself, such as an editor, and waits for it. Its exit code; 128 + N if signal
// N ended it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace sb::cli {

Result<int> run_at_terminal(const std::vector<std::string>& argv);

}  // namespace sb::cli

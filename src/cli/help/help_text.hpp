// What `signalbox COMMAND --help` prints.
#pragma once

#include <string>

#include "cli/app.hpp"

namespace sb::cli {

std::string help_text(const App& app);

// What is added to an option's own help: ` (required)`, ` (one of: a, b)`, ` (default: x)`.
std::string option_notes(const OptionFacts& option);

}  // namespace sb::cli

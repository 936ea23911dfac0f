// What `--def F` and `ask F` name: a declaration in a file, or on the input for `-`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "decision/declaration.hpp"

namespace sb::cli {

// With the user's profiles to choose from.
Checked<decision::Declaration> load_declaration(Context& context, const std::string& path,
                                                decision::Author author = decision::Author::kOperator);

}  // namespace sb::cli

// Loads the declaration that `--def F` or `ask F` names: a file, or stdin for `-`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "decision/declaration/declaration.hpp"
#include "inbox/home.hpp"

namespace sb::cli {

// The declaration may name one of the user's profiles.
Checked<decision::Declaration> load_declaration(Context& context, const std::string& path,
                                                decision::Author author = decision::Author::kOperator);

// kOperator for the policy files of a trusted folder, and for files in the user's configuration while there are no
// operator keys. Any other file may have been written by a model.
decision::Author author_of(const Context& context, const inbox::Home& home, const std::string& file);

}  // namespace sb::cli

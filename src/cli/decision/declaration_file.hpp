// What `--def F` and `ask F` name: a declaration in a file, or on the input for `-`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "decision/declaration/declaration.hpp"
#include "inbox/home.hpp"

namespace sb::cli {

// With the user's profiles to choose from.
Checked<decision::Declaration> load_declaration(Context& context, const std::string& path,
                                                decision::Author author = decision::Author::kOperator);

// A file among the policy files of a trusted folder speaks for the user, and while there are no operator keys one in
// the user's configuration does. Any other may have been written by a model.
decision::Author author_of(const Context& context, const inbox::Home& home, const std::string& file);

}  // namespace sb::cli

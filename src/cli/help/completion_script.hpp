// Scripts with which a shell completes commands, subcommands, options and their values.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_tree.hpp"

namespace sb::cli {

std::string bash_completion(const std::vector<CommandTree>& commands);
std::string zsh_completion(const std::vector<CommandTree>& commands);
std::string fish_completion(const std::vector<CommandTree>& commands);

}  // namespace sb::cli

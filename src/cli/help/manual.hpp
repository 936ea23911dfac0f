// Manual pages in the format of man(7), made from the tables that the program itself uses.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_tree.hpp"

namespace sb::cli {

// `signalbox-mcp(1)`: a command and its subcommands.
std::string manual_page(const CommandTree& command);

// `signalbox(1)`: all commands.
std::string manual_overview(const std::vector<CommandRow>& commands);

}  // namespace sb::cli

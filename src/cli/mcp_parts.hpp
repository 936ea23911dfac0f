// What the subcommands of `signalbox mcp` share.
#pragma once

#include "cli/command.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

Subcommand declare_mcp_install(CLI::App& mcp);
Subcommand declare_mcp_uninstall(CLI::App& mcp);

}  // namespace sb::cli

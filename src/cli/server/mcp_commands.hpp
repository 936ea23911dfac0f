// What `signalbox mcp`, `signalbox serve` and `signalbox doctor` share.
#pragma once

#include "cli/command.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

// Where `signalbox serve` listens unless told otherwise.
inline constexpr int kServePort = 3917;

Subcommand declare_mcp_install(App& mcp);
Subcommand declare_mcp_uninstall(App& mcp);

}  // namespace sb::cli

// Shared by `signalbox mcp`, `signalbox serve` and `signalbox doctor`.
#pragma once

#include "cli/command.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

// The default port of `signalbox serve`.
inline constexpr int kServePort = 3917;

Subcommand declare_mcp_install(App& mcp);
Subcommand declare_mcp_uninstall(App& mcp);

}  // namespace sb::cli

// Signalbox as an MCP server of a client, in that client's configuration file: put in and taken out.
//
// An entry of our name that is not ours is never touched: see is_signalbox_entry; one that install wrote is ours
// whatever it connects to.
#pragma once

#include <optional>
#include <string>

#include "base/seams.hpp"
#include "hook/install/claude_settings.hpp"
#include "hook/install/client_entry.hpp"

namespace sb::hook {

struct ClientTarget {
  Client client = Client::kClaudeCode;
  InstallScope scope = InstallScope::kUser;
  std::string project;  // its folder, absolute and without links
};

// Claude Code: .claude.json in CLAUDE_CONFIG_DIR or the home, .mcp.json of a project. Codex: config.toml in CODEX_HOME
// or ~/.codex, .codex/config.toml of a project.
Result<std::string> config_path(const ClientTarget& place, const Environment& environment);

// All or nothing; a second time changes no byte and keeps no copy. kConflict when the name is taken by another server.
Result<InstallResult> install_server(const Seams& seams, const ClientTarget& place, const std::string& name,
                                     const ServerEntry& entry);
// Where nobody changed the configuration since, it is again what it was, to the byte.
Result<InstallResult> uninstall_server(const Seams& seams, const ClientTarget& place, const std::string& name);

}  // namespace sb::hook

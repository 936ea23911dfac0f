// Installs and uninstalls Signalbox as an MCP server in a client's configuration file.
//
// An entry with our name that is not ours is never touched: see is_signalbox_entry. An entry that install wrote is ours
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
  std::string project;  // its folder, absolute and free of links
};

// Claude Code: .claude.json in CLAUDE_CONFIG_DIR or the home, .mcp.json of a project. Codex: config.toml in CODEX_HOME
// or ~/.codex, .codex/config.toml of a project.
Result<std::string> config_path(const ClientTarget& place, const Environment& environment);

// Atomic; a second install changes no byte and keeps no backup. kConflict when another server has the name.
Result<InstallResult> install_server(const Seams& seams, const ClientTarget& place, const std::string& name,
                                     const ServerEntry& entry);
// If the configuration was not changed since install, its bytes are restored exactly.
Result<InstallResult> uninstall_server(const Seams& seams, const ClientTarget& place, const std::string& name);

}  // namespace sb::hook

// Installs and uninstalls Signalbox as an MCP server in a client's configuration file.
//
// An entry with our name that is not ours is never touched: see is_signalbox_entry. An entry that install wrote is ours
// whatever it connects to.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/seams.hpp"
#include "hook/install/client_entry.hpp"
#include "hook/install/client_file.hpp"

namespace sb::hook {

struct ClientTarget {
  Client client = Client::kClaudeCode;
  InstallScope scope = InstallScope::kUser;
  std::string project;  // its folder, absolute and free of links
};

Result<std::string> config_path(const ClientTarget& place, const Environment& environment);

// The secret for the entry in that file, given the one it has (or none): that one if it is still valid, so that a
// second install changes nothing; otherwise a new one.
using SecretSource = std::function<Result<std::string>(const std::string& path, const std::string& present)>;

// Atomic; a second install changes no byte and keeps no backup. kConflict when another server has the name. A file with
// a secret is readable by its owner only.
Result<InstallResult> install_server(const Seams& seams, const ClientTarget& place, const std::string& name,
                                     ServerEntry entry, const SecretSource& secret_for = {});
// If the configuration was not changed since install, its bytes are restored exactly.
Result<InstallResult> uninstall_server(const Seams& seams, const ClientTarget& place, const std::string& name);

}  // namespace sb::hook

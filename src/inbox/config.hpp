// The user's configuration: config.yaml in the config home. The only place, besides trusted project files, that sets
// policy.
//
//   strict: true                 # every decision needs an operator's signature
//   confirmations: relay         # an agent may pass on a person's answer (never for signed decisions); default: ask
//   workspaces:
//     /srv/shop: {confirmations: relay}
//
// The keys for runs are in the same file and are read by pipeline/settings/run_settings.hpp. Both readers know all
// keys, so that neither rejects the file or ignores half of it because of the other's keys.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "inbox/operators/authority.hpp"

namespace sb::inbox {

// Root keys of config.yaml that only the user's own file may have, and those that a workspace's signalbox.yaml may have
// too.
inline constexpr std::array<std::string_view, 3> kUserKeys = {"strict", "confirmations", "workspaces"};
inline constexpr std::array<std::string_view, 17> kRunKeys = {
    "models",     "roles",     "tiers", "limits", "base",      "branch", "forge",      "checks",  "merge",
    "on_partial", "protected", "tier0", "soul",   "isolation", "phases", "fix_rounds", "identity"};

struct Config {
  Policy policy;
};

// Nothing when the file is missing or empty.
Result<std::optional<Document>> load_if_exists(const Files& files, const std::string& path);
// The user's keys in the document's root.
void read_policy(Fields& root, Policy& policy);

// A missing file counts as empty. An unknown key is a fault that names the nearest known one.
Checked<Config> read_config(const Document& document);
Result<Config> load_config(const Files& files, const HomeDirectories& homes);

}  // namespace sb::inbox

// The user's configuration: config.yaml in the config home. The only place, besides trusted project files, that sets
// policy.
//
//   strict: true                 # every decision needs an operator's signature
//   confirmations: relay         # an agent may pass on a person's answer (never for signed decisions); default: ask
//                                # signed: every gate needs an operator's signature
//   workspaces:
//     /srv/shop: {confirmations: relay}
//   sandbox: {mode: required}    # sandbox/settings.hpp
//   file_tools: [{names: ["mcp__notes__save"], paths: [path]}]  # guard/file_tools.hpp
//
// The keys for runs are in the same file and are read by pipeline/settings/run_settings.hpp. Both readers know all
// keys, so that neither rejects the file or ignores half of it because of the other's keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/document/setting_key.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/seams.hpp"
#include "guard/file_tools.hpp"
#include "inbox/operators/authority.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::inbox {

struct Config {
  Policy policy;
  sandbox::Settings sandbox;
  guard::FileTools file_tools;
  std::vector<std::string> block_offers;  // languages; a key of runs too, which have their own reader
};

// Root keys that only the user's own config.yaml may have, not a workspace's signalbox.yaml.
const SettingKeys<Config>& user_keys();
// The names of the others. data/run-keys.yaml has them, generated from the table of pipeline/settings/run_keys.hpp:
// the hook program, which reads this file too, is linked without that table.
const std::vector<std::string>& run_key_names();

// Nothing when the file is missing or empty.
Result<std::optional<Document>> load_if_exists(const Files& files, const std::string& path);
// The user's keys in the document's root.
void read_user_keys(Fields& root, Config& config);

// A missing file counts as empty. An unknown key is a fault that names the nearest known one.
Checked<Config> read_config(const Document& document, const std::vector<std::string>& run_keys = run_key_names());
Result<Config> load_config(const Files& files, const HomeDirectories& homes);

// The sandbox as the user wants it. With a configuration that cannot be read, as if there were none: nothing else would
// be safer.
sandbox::Sandbox find_users_sandbox(const Seams& seams, const HomeDirectories& homes);

}  // namespace sb::inbox

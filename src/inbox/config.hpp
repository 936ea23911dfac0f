// The user's configuration: config.yaml in the config home. The only place, besides trusted project files, that sets
// policy.
//
//   strict: true                 # every decision needs an operator's signature
//   confirmations: relay         # an agent may pass on a person's answer (never for signed decisions); default: ask
//   workspaces:
//     /srv/shop: {confirmations: relay}
#pragma once

#include <string>

#include "base/document.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "inbox/authority.hpp"

namespace sb::inbox {

struct Config {
  Policy policy;
};

// Without the file, everything is as if it were empty. Unknown keys are faults that name the nearest known one.
Checked<Config> read_config(const Document& document);
Result<Config> load_config(const Files& files, const Homes& homes);

}  // namespace sb::inbox

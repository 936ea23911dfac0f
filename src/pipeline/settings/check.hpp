// Whether what the settings name is there and fits: workflows, context keys, programs, scripts, secrets, the
// repository. The files alone are looked at by load_settings(); this looks around in the place where a run would be.
//
// Asks no server and writes nothing. Every fault names the file it stands in, the key, and how to mend it.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/seams.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

struct SettingsReport {
  Faults faults;    // no run can be made with these settings
  Faults missing;   // nor here, but perhaps elsewhere: no model yet, a variable that is not set in this shell
  Faults warnings;  // of what this run may never come to: models nobody uses, roles only some steps need
};

// What every run needs, whichever way it takes. Looked at before one is opened and before one is driven on.
SettingsReport check_settings(const Seams& seams, const HomeDirectories& homes, const RunSettings& settings,
                              const std::string& workspace);

// The forge and the repository it delivers from, as far as they can be judged without asking the remote.
void check_forge(const Seams& seams, const RunSettings& settings, const std::string& workspace, SettingsReport& report);

}  // namespace sb::pipeline

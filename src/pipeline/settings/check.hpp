// Checks that what the settings name exists and fits: workflows, context keys, programs, scripts, secrets, the
// repository. load_settings() checks the files alone; this also checks the folder in which a run would work.
//
// Contacts no server and writes nothing. Every fault names its file, the key, and how to fix it.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/seams.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

struct SettingsReport {
  Faults faults;    // no run can be started with these settings
  Faults missing;   // not here, but perhaps elsewhere: no model yet, a variable that is not set in this shell
  Faults warnings;  // about what a run may never need: unused models, roles that only some steps need
};

// What every run needs. Checked before a run is started and before one is resumed.
SettingsReport check_settings(const Seams& seams, const HomeDirectories& homes, const RunSettings& settings,
                              const std::string& workspace);

// The forge and the repository it delivers from, as far as they can be checked without contacting the remote.
void check_forge(const Seams& seams, const RunSettings& settings, const std::string& workspace, SettingsReport& report);

}  // namespace sb::pipeline

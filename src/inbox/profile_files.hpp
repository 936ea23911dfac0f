// The user's own profiles: every *.yaml, *.yml and *.json in the `profiles` folder of the configuration home.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"
#include "decision/declaration/profile.hpp"

namespace sb::inbox {

// The built-in profiles where there is no such folder.
Checked<decision::Profiles> load_profiles(const Files& files, const Environment& environment);

}  // namespace sb::inbox

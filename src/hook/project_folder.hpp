// The folder of the project in which a command is called.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::hook {

// The nearest folder, from this one upwards, that contains .git or .claude (the user's own ~/.claude does not count);
// otherwise this folder.
std::string find_project(const Files& files, const Environment& environment, const std::string& directory);
// The same, for writing: kInvalid when that would be `/` or the home folder and nothing marks it as a project.
Result<std::string> find_writable_project(const Files& files, const Environment& environment,
                                          const std::string& directory);

}  // namespace sb::hook

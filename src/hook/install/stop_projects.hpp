// For which folders the user has enabled the check at Stop. Off everywhere until then.
//
// `stop-projects.json` in the data home: {"project": [folders…], "user": [folders…]}, by the settings that
// `signalbox hook install --stop` wrote into, so that uninstalling one leaves the other alone.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::hook {

enum class InstallScope { kUser, kProject };

// Whether the folder, or one around it, is enabled. Folders are absolute and without links.
Result<bool> is_stop_enabled(const Files& files, const HomeDirectories& homes, std::string_view folder);

Status enable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder);

// Of kProject that folder; of kUser all that were enabled so.
Status disable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder);

}  // namespace sb::hook

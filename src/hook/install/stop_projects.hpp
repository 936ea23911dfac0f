// The folders for which the user enabled the check at Stop. Off by default.
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

// Whether the folder or a parent is enabled. Folders are absolute and free of links.
Result<bool> is_stop_enabled(const Files& files, const HomeDirectories& homes, std::string_view folder);

Status enable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder);

// kProject: that folder; kUser: all folders enabled that way.
Status disable_stop(Files& files, const HomeDirectories& homes, InstallScope scope, const std::string& folder);

}  // namespace sb::hook

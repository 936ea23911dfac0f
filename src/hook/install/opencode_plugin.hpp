// The plugin for OpenCode that calls signalbox-hook: a file of our own. Its first line names a digest of the rest, so
// that a file that was edited, or is not ours, is never overwritten or removed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hook/install/client_file.hpp"

namespace sb::hook {

std::string plugin_text(const std::string& program);
// The program that it calls; nothing if the file is not ours or was edited.
std::optional<std::string> plugin_program(std::string_view text);

// kConflict where another file has the name. The settings must be locked.
Result<InstallResult> install_plugin(const Seams& seams, const std::string& path, const std::string& program);
Result<InstallResult> uninstall_plugin(const Seams& seams, const std::string& path);

}  // namespace sb::hook

// What `signalbox hook install` and `signalbox mcp install` made in a client's file, kept so that uninstall takes out
// that and nothing else: a container that stood there empty before must stand there empty again.
//
// `hook-settings.json` in the data home: {PATH: {"made": ["file", "hooks", "Stop"…], "backup": PATH or ""}}. Whoever
// changes it holds the lock of the settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::hook {

struct Installed {
  // `file`, `hooks`, and the events whose list was made; of servers `file`, `servers` and `entry NAME`
  std::vector<std::string> made;
  std::string backup;  // the settings as they were; empty when there were none

  bool has_made(std::string_view name) const;
  void add(std::string_view name);
};

// Nothing when install has written nothing there that was not taken out again.
Result<std::optional<Installed>> find_installed(const Files& files, const Homes& homes, const std::string& path);
Status keep_installed(Files& files, const Homes& homes, const std::string& path, const Installed& installed);
Status forget_installed(Files& files, const Homes& homes, const std::string& path);

}  // namespace sb::hook

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

struct InstallRecord {
  // `file`, `hooks`, and the events whose list was made; of servers `file`, `servers` and `entry NAME`
  std::vector<std::string> made;
  std::string backup;  // the settings as they were; empty when there were none

  bool has_created(std::string_view name) const;
  void add(std::string_view name);
};

// Nothing when install has written nothing there that was not taken out again.
Result<std::optional<InstallRecord>> find_install_record(const Files& files, const HomeDirectories& homes,
                                                         const std::string& path);
Status save_install_record(Files& files, const HomeDirectories& homes, const std::string& path,
                           const InstallRecord& installed);
Status remove_install_record(Files& files, const HomeDirectories& homes, const std::string& path);

}  // namespace sb::hook

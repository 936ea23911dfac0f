// What `signalbox hook install` and `signalbox mcp install` created in a client's file, stored so that uninstall
// removes exactly that: a container that was empty before must be empty again.
//
// `hook-settings.json` in the data home: {PATH: {"made": ["file", "hooks", "Stop"…], "backup": PATH or ""}}: one record
// for all of ours in that file. Writers must hold the settings lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace sb::hook {

// Of InstallRecord::made, with their number: the folders made above the file.
inline constexpr std::string_view kMadeFolders = "folders";

struct InstallRecord {
  // `file`, `hooks`, and the events whose list was created; for servers `file`, `servers` and `entry NAME`; with a
  // number `folders`, above the file, and `mode`, which the file had
  std::vector<std::string> made;
  std::string backup;  // the settings before install; empty when there were none

  bool has_created(std::string_view name) const;
  void add(std::string_view name);
  void add_number(std::string_view name, int number);
  std::optional<int> number(std::string_view name) const;
};

// Nothing when install wrote nothing there that is still installed.
Result<std::optional<InstallRecord>> find_install_record(const Files& files, const HomeDirectories& homes,
                                                         const std::string& path);
Status save_install_record(Files& files, const HomeDirectories& homes, const std::string& path,
                           const InstallRecord& installed);
Status remove_install_record(Files& files, const HomeDirectories& homes, const std::string& path);

}  // namespace sb::hook

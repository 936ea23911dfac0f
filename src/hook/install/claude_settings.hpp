// Adds and removes our entries in a settings.json of Claude Code; everything else stays as it is.
//
//   {"hooks": {"PreToolUse":  [{"matcher": "(AskUserQuestion|mcp__.*__AskUserQuestion)",
//                               "hooks": [{"type": "command", "command": "/usr/bin/signalbox-hook", "timeout": 5}]},
//                              {"matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash", "hooks": [{…}]},
//                              … the tools of MCP servers],
//              "PostToolUse": [… the questions, {"matcher": "mcp__.*__(start_workflow|continue_workflow)", …} and
//                              {"matcher": "mcp__.*__ask", …}],
//              "Stop", "SessionStart", "UserPromptSubmit", "SessionEnd": [{"hooks": [{…}]}]},
//    "statusLine": {"type": "command", "command": "/usr/bin/signalbox-hook statusline"}}
//
// Stop and statusLine only on request. An older installation gets the groups it lacks.
//
// An entry is ours when its command is only a path that ends in /signalbox-hook; other hooks are never touched, not
// even in the same group.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/seams.hpp"
#include "hook/install/installed_parts.hpp"
#include "hook/install/stop_projects.hpp"

namespace sb::hook {

// As one sh word.
std::string shell_quoted(std::string_view text);
bool is_signalbox_command(std::string_view command);

// Pure. kInvalid, with the pointer, where the shape of the settings has no place for hooks. kConflict where another one
// exists.
Result<Value> with_statusline(Value settings, const std::string& command);
Result<Value> with_hooks(Value settings, const std::string& command, bool with_stop);
// Empty containers are removed only if they were made for our entries.
Result<Value> without_hooks(Value settings, const InstallRecord& installed);

struct InstallRequest {
  InstallScope scope = InstallScope::kUser;
  std::string project;  // the project's folder, absolute and free of links
  std::string program;  // absolute path of signalbox-hook; empty for uninstall
  bool with_stop = false;
  bool with_statusline = false;
};

// CLAUDE_CONFIG_DIR/settings.json or ~/.claude/settings.json; for a project .claude/settings.json in it.
Result<std::string> settings_path(const InstallRequest& wanted, const Environment& environment);

// The nearest folder, from this one upwards, that contains .git or .claude (the user's own ~/.claude does not count);
// otherwise this folder.
std::string find_project(const Files& files, const Environment& environment, const std::string& directory);
// The same, for writing: kInvalid when that would be `/` or the home folder and nothing marks it as a project.
Result<std::string> find_writable_project(const Files& files, const Environment& environment,
                                          const std::string& directory);

struct InstallResult {
  std::string path;
  std::string backup{};  // the settings before install; empty when there were none or they are restored
  bool is_changed = false;
};

// Atomic. A second install changes no byte. Settings that are not JSON, that contain a number that cannot be written
// back exactly, or that are a dangling link are an error and stay as they are.
Result<InstallResult> install_hooks(const Seams& seams, const InstallRequest& wanted);

// Our hooks as found in the settings.
struct InstalledHooks {
  std::string path;
  std::vector<std::string> programs = {};  // each once; empty when none is installed
  bool is_complete = true;                 // everything that install would write is present
};
Result<InstalledHooks> find_hooks(const Files& files, const Environment& environment, InstallScope scope,
                                  const std::string& project);

// If the settings were not changed since install, their bytes are restored exactly.
Result<InstallResult> uninstall_hooks(const Seams& seams, const InstallRequest& wanted);

}  // namespace sb::hook

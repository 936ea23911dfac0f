// Our entries in a settings.json of Claude Code: put in and taken out, all else left as it is.
//
//   {"hooks": {"PreToolUse":  [{"matcher": "(AskUserQuestion|mcp__.*__AskUserQuestion)",
//                               "hooks": [{"type": "command", "command": "/usr/bin/signalbox-hook", "timeout": 5}]},
//                              {"matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash", "hooks": [{…}]}],
//              "PostToolUse": [… the questions, and {"matcher": "mcp__.*__(start_workflow|continue_workflow)", …}],
//              "Stop", "SessionStart", "UserPromptSubmit", "SessionEnd": [{"hooks": [{…}]}]},
//    "statusLine": {"type": "command", "command": "/usr/bin/signalbox-hook statusline"}}
//
// Stop and statusLine only where asked for. What an older program installed gets the groups it lacks.
//
// An entry is ours when its command is nothing but a path that ends in /signalbox-hook; other people's hooks are never
// touched, not even in the same group.
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

// As a word of sh.
std::string shell_quoted(std::string_view text);
bool is_signalbox_command(std::string_view command);

// Pure. kInvalid, with the pointer, where the settings are of a shape that has no place for hooks.
// kConflict where there is another one.
Result<Value> with_statusline(Value settings, const std::string& command);
Result<Value> with_hooks(Value settings, const std::string& command, bool with_stop);
// Containers that are empty then go only where they were made for our entries.
Result<Value> without_hooks(Value settings, const InstallRecord& installed);

struct InstallRequest {
  InstallScope scope = InstallScope::kUser;
  std::string project;  // the project's folder, absolute and without links
  std::string program;  // absolute path of signalbox-hook; of uninstall empty
  bool with_stop = false;
  bool with_statusline = false;
};

// CLAUDE_CONFIG_DIR/settings.json or ~/.claude/settings.json; for a project .claude/settings.json in it.
Result<std::string> settings_path(const InstallRequest& wanted, const Environment& environment);

// The nearest folder, from this one upwards, with .git or .claude in it (the user's own ~/.claude is none); else this.
std::string find_project(const Files& files, const Environment& environment, const std::string& directory);
// The same, to write something into: kInvalid when that would be `/` or the home folder, and nothing there says that it
// is a project.
Result<std::string> find_writable_project(const Files& files, const Environment& environment,
                                          const std::string& directory);

struct InstallResult {
  std::string path;
  std::string backup;  // the settings as they were before install; empty when there were none or they are so again
  bool is_changed = false;
};

// All or nothing. The second time changes no byte. Settings that are not JSON, that have a number which cannot be
// written again, or that are a link to nowhere, are an error and stay as they are.
Result<InstallResult> install_hooks(const Seams& seams, const InstallRequest& wanted);

// Our hooks as the settings have them.
struct InstalledHooks {
  std::string path;
  std::vector<std::string> programs = {};  // each once; empty when none of ours is there
  bool is_complete = true;                 // everything that install would write is there
};
Result<InstalledHooks> find_hooks(const Files& files, const Environment& environment, InstallScope scope,
                                  const std::string& project);

// Where nobody changed the settings since, they are again what they were, to the byte.
Result<InstallResult> uninstall_hooks(const Seams& seams, const InstallRequest& wanted);

}  // namespace sb::hook

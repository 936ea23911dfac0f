// Adds and removes our hooks in the settings of a client; everything else stays as it is.
//
//   Claude Code  {"hooks": {"PreToolUse":  [{"matcher": "(AskUserQuestion|mcp__.*__AskUserQuestion)", "hooks":
//                             [{"type": "command", "command": "/usr/bin/signalbox-hook", "timeout": 5}]}, …], …},
//                 "statusLine": {"type": "command", "command": "/usr/bin/signalbox-hook statusline"}}
//   Codex        {"hooks": {"PreToolUse": [{"hooks": [{…}]}], …}}
//   Gemini CLI   {"hooks": {"BeforeTool": [{"hooks": [{… "command": "… --client gemini-cli" …}]}], …}}
//   Copilot CLI  {"version": 1, "hooks": {"PreToolUse": [{"type": "command", "command": "…"}], …}}
//   OpenCode     a plugin (opencode_plugin.hpp)
//
// The check at Stop and statusLine only on request. An older installation gets the groups it lacks.
//
// An entry is ours when its command is only our program (hook_command.hpp); other hooks are never touched, not even in
// the same group.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/seams.hpp"
#include "hook/install/client_file.hpp"
#include "hook/install/stop_projects.hpp"

namespace sb::hook {

// Pure. kInvalid, with the pointer, where the shape of the settings has no place for hooks. kConflict where another one
// exists.
Result<Value> with_statusline(Value settings, const std::string& command);
Result<Value> with_hooks(Client client, Value settings, const std::string& command, bool with_stop);
// Empty containers are removed only if they were made for our entries.
Result<Value> without_hooks(Client client, Value settings, const InstallRecord& installed);

struct InstallRequest {
  Client client = Client::kClaudeCode;
  InstallScope scope = InstallScope::kUser;
  std::string project = {};  // the project's folder, absolute and free of links
  std::string program = {};  // absolute path of signalbox-hook; empty for uninstall
  bool with_stop = false;
  bool with_statusline = false;
};

// Atomic. A second install changes no byte. Settings that cannot be parsed or that are a dangling link are an error and
// stay as they are. kInvalid for a client without hooks, or that lacks what is wanted.
Result<InstallResult> install_hooks(const Seams& seams, const InstallRequest& wanted);

// If the settings were not changed since install, their bytes are restored exactly.
Result<InstallResult> uninstall_hooks(const Seams& seams, const InstallRequest& wanted);

// `signalbox hook install`, with the options for this client and scope.
std::string hook_install_command(Client client, InstallScope scope);

// Our hooks as found in the settings.
struct InstalledHooks {
  std::string path;
  std::vector<std::string> programs = {};  // each once; empty when none is installed
  bool is_complete = true;                 // everything that install would write is present
};
Result<InstalledHooks> find_hooks(const Files& files, const Environment& environment, Client client, InstallScope scope,
                                  const std::string& project);

}  // namespace sb::hook

// Works on a session with an external agent program (Claude Code, Codex, …): started in the work tree with a fresh
// HOME, driven over MCP, its model reached through our proxy, which holds the key, counts usage and logs every byte.
//
// The program's exit is not success: only a complete workflow is. A program that ends early is started again, at most
// twice. It is stopped within about a second when it is killed, taken over, or out of turns, time, tokens or money, and
// when it shows no activity (a byte of output, a byte to or from its model, a tool call).
//
// Restricted roles are rejected where the program's requests to its model cannot be inspected (its own login), and
// where no sandbox keeps it from reading more than it may.
#pragma once

#include <functional>
#include <memory>

#include "agent/loop/transcript.hpp"
#include "agent/loop/work_context.hpp"
#include "agent/model/scripted.hpp"
#include "agent/tools/work_tools.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::agent {

struct CommandParts {
  const WorkContext& work_context;
  Transcript& transcript;  // up to date with the log
  const ModelSettings& model;
  std::shared_ptr<UsedLines> used;
  const sandbox::Sandbox& sandbox;
  const WorkTreeAccess& place;  // limits its own tools
};

WorkResult run_agent_program(const CommandParts& parts);

// Whether the program can work in this role, as far as that is known before anything is started: kInvalid for an
// unsuitable upstream or recipe, kForbidden for a restricted role whose isolation cannot be proven.
Status check_command(const AgentSettings& settings, const ModelSettings& model, std::string_view role,
                     const sandbox::Sandbox& sandbox);
// The absolute path of the program: as given, or found in the PATH that agents have. bubblewrap's own error for a
// missing program does not help.
Result<std::string> find_program(const Seams& seams, const std::string& program);

}  // namespace sb::agent

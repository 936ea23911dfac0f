// Works a session by an agent program of its own (Claude Code, Codex, …): started in the work tree with a fresh HOME,
// led over MCP, its model reached through a proxy of ours that holds the key, counts and keeps every byte.
//
// The program's end is no success: only a complete workflow is. One that ends early is started again, at most twice.
// It is ended within about a second of being killed, taken over, or out of turns, time, tokens or money, and when it
// gives no sign of life (a byte of output, a byte to or from its model, a call of a tool).
//
// Restricted roles are refused where what the program sends to its model cannot be seen (its own login), and where no
// sandbox keeps it from reading more than it is given.
#pragma once

#include <functional>
#include <memory>

#include "agent/loop/transcript.hpp"
#include "agent/loop/work_context.hpp"
#include "agent/model/scripted.hpp"
#include "agent/tools/work_tools.hpp"
#include "engine/command/sandbox.hpp"

namespace sb::agent {

struct CommandParts {
  const WorkContext& work_context;
  Transcript& transcript;  // as far as the log goes
  const ModelSettings& model;
  std::shared_ptr<UsedLines> used;
  const engine::Sandbox& sandbox;
  const WorkTreeAccess& place;  // what its own tools are held to
};

WorkResult run_agent_program(const CommandParts& parts);

// Whether the program can work in this role at all, as far as that is known before anything is started: kInvalid for an
// upstream or a recipe that does not fit, kForbidden for a restricted role whose isolation could not be proven.
Status check_command(const AgentSettings& settings, const ModelSettings& model, std::string_view role,
                     const engine::Sandbox& sandbox);
// Where it is: by its path, or in PATH as agents have it. bubblewrap's own words about one that is not there are no
// help.
Result<std::string> find_program(const Seams& seams, const std::string& program);

}  // namespace sb::agent

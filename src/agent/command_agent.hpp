// Works a session by an agent program of its own (Claude Code, Codex, …): started in the work tree with a fresh HOME,
// led over MCP, its model reached through a proxy of ours that holds the key, counts and keeps every byte.
//
// The program's end is no success: only a complete workflow is. One that ends early is started again, at most twice.
// It is ended within about a second of being killed, taken over, or out of turns, time, tokens or money, and when it
// gives no sign of life (a byte of output, a byte to or from its model, a call of a tool).
#pragma once

#include <memory>

#include "agent/staff.hpp"

namespace sb::agent {

// For a model whose provider is kCommand; `parts` and `model` outlive it. Threads: as Worker.
std::unique_ptr<Worker> make_command_agent(const StaffParts& parts, const ModelSettings& model);

}  // namespace sb::agent

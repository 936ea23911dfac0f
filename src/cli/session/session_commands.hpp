// What the subcommands of `signalbox session` share.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "engine/session/session_home.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

using engine::SessionHome;

// The answer as people read it, or with --json as the one line of the MCP tools with the text in `text`. A refused
// submission is kExitNegative.
int print_answer(const Context& context, const engine::SessionResponse& answer, bool wants_json);
// With --json also {kind: "error", code, message, remedy, retry} on the output.
int print_error(const Context& context, const engine::SessionError& error, bool wants_json);

Subcommand declare_session_start(App& session);
Subcommand declare_session_continue(App& session);
Subcommand declare_session_show(App& session);
Subcommand declare_session_log(App& session);
Subcommand declare_session_fork(App& session);
Subcommand declare_session_checkpoint(App& session);
Subcommand declare_session_stop(App& session);
// list, resume, export, import, verify, prune, gc, rotate-keys
std::vector<Subcommand> declare_session_upkeep(App& session);
// steer, pause, go-on, kill, retry, take-over
std::vector<Subcommand> declare_session_control(App& session);

}  // namespace sb::cli

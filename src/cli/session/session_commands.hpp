// Shared by the subcommands of `signalbox session`.
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

// Prints the answer as text, or with --json as the one line of the MCP tools with the text in `text`. Returns
// kExitNegative for a rejected submission.
int print_answer(const Context& context, const engine::SessionResponse& answer, bool wants_json);
// Reports the error; with --json also prints {kind: "error", code, message, remedy, retry}.
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
// steer, pause, unpause, kill, retry, take-over
std::vector<Subcommand> declare_session_control(App& session);

}  // namespace sb::cli

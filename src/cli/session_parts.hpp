// What the subcommands of `signalbox session` share.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "engine/command_runner.hpp"
#include "engine/sessions.hpp"
#include "inbox/desk.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

// The user's store with its inbox, and the sessions in it.
class SessionDesk {
 public:
  static Result<std::unique_ptr<SessionDesk>> open(const Context& context);

  engine::Sessions& sessions() { return sessions_; }
  inbox::Desk& desk() { return *desk_; }

 private:
  SessionDesk(const Context& context, std::unique_ptr<inbox::Desk> desk)
      : desk_(std::move(desk)),
        commands_(context.seams, desk_->homes(), desk_->operators()),
        sessions_(desk_->store(), desk_->inbox(), context.seams.clock, context.seams.random, commands_) {}

  std::unique_ptr<inbox::Desk> desk_;
  engine::SandboxedCommands commands_;
  engine::Sessions sessions_;
};

// The answer as people read it, or with --json as the one line of the MCP tools with the text in `text`. A refused
// submission is kNo.
int print_answer(const Context& context, const engine::Answer& answer, bool wants_json);
// With --json also {kind: "error", code, message, remedy, retry} on the output.
int print_error(const Context& context, const engine::SessionError& error, bool wants_json);

// A subcommand and what it does.
struct Subcommand {
  CLI::App* app;
  Action action;
};

Subcommand declare_session_start(CLI::App& session);
Subcommand declare_session_continue(CLI::App& session);
Subcommand declare_session_show(CLI::App& session);
Subcommand declare_session_fork(CLI::App& session);
Subcommand declare_session_checkpoint(CLI::App& session);
Subcommand declare_session_stop(CLI::App& session);
// list, resume, export, import, verify, prune, gc, rotate-keys
std::vector<Subcommand> declare_session_upkeep(CLI::App& session);

}  // namespace sb::cli

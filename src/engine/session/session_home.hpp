// The user's store with its inbox, and the sessions in it: what a command or a server works at.
//
// Not thread-safe. Keep it where it was made: its parts refer to each other.
#pragma once

#include <memory>

#include "engine/command/command_runner.hpp"
#include "engine/session/sessions.hpp"
#include "inbox/home.hpp"

namespace sb::engine {

class SessionDesk {
 public:
  // `seams` must outlive it.
  static Result<std::unique_ptr<SessionDesk>> open(const Seams& seams, Surface surface = Surface::kCommands) {
    auto desk = SB_TRY(inbox::Desk::open(seams, store::Access::kReadWrite));
    return std::unique_ptr<SessionDesk>(new SessionDesk(seams, surface, std::move(desk)));
  }

  Sessions& sessions() { return sessions_; }
  SandboxedCommands& commands() { return commands_; }
  inbox::Desk& desk() { return *desk_; }

 private:
  SessionDesk(const Seams& seams, Surface surface, std::unique_ptr<inbox::Desk> desk)
      : desk_(std::move(desk)),
        commands_(seams, desk_->homes(), desk_->operators()),
        sessions_(desk_->store(), desk_->inbox(), seams.clock, seams.random, commands_, surface) {}

  std::unique_ptr<inbox::Desk> desk_;
  SandboxedCommands commands_;
  Sessions sessions_;
};

}  // namespace sb::engine

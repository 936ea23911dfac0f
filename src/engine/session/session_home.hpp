// The user's store with its inbox and sessions, as commands and servers use it.
//
// Not thread-safe. Not movable: its parts refer to each other.
#pragma once

#include <memory>

#include "engine/command/command_runner.hpp"
#include "engine/session/sessions.hpp"
#include "inbox/home.hpp"

namespace sb::engine {

class SessionHome {
 public:
  // `seams` must outlive it.
  static Result<std::unique_ptr<SessionHome>> open(const Seams& seams, Surface surface = Surface::kCommands) {
    auto home = SB_TRY(inbox::Home::open(seams, store::Access::kReadWrite));
    return std::unique_ptr<SessionHome>(new SessionHome(seams, surface, std::move(home)));
  }

  Sessions& sessions() { return sessions_; }
  SandboxedCommandRunner& commands() { return commands_; }
  inbox::Home& home() { return *home_; }

 private:
  SessionHome(const Seams& seams, Surface surface, std::unique_ptr<inbox::Home> home)
      : home_(std::move(home)),
        commands_(seams, home_->homes(), home_->operators()),
        sessions_(home_->store(), home_->inbox(), seams.clock, seams.random, commands_, surface) {}

  std::unique_ptr<inbox::Home> home_;
  SandboxedCommandRunner commands_;
  Sessions sessions_;
};

}  // namespace sb::engine

// Records SIGINT, SIGHUP and SIGTERM instead of ending the process, so that a command can report what state it leaves.
// Nested watches see the same signals; each restores the previous handlers when it is destroyed.
#pragma once

#include <csignal>

namespace sb::cli {

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  bool was_received() const;

 private:
  struct sigaction before_[3];
};

}  // namespace sb::cli

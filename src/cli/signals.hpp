// Ctrl-C, a closed terminal and a polite kill, noticed instead of ending the process, so that a command can say how it
// leaves things. One inside another notices the same signals; the handlers before it come back when it goes.
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

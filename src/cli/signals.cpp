#include "cli/signals.hpp"

#include <atomic>

namespace sb::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGHUP, SIGTERM};

// A signal handler can only reach globals.
std::atomic<bool> signal_received{false};
int watches = 0;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

SignalWatch::SignalWatch() {
  if (watches++ == 0) signal_received = false;
  struct sigaction action{};
  action.sa_handler = [](int) { signal_received = true; };
  // Without SA_RESTART: a read that waits for input must return.
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

SignalWatch::~SignalWatch() {
  --watches;
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool SignalWatch::was_received() const {
  return signal_received;
}

}  // namespace sb::cli

// Defers work to the loop's own thread, now or later. The real one is EventLoop; tests use one whose clock they move by
// hand (net/testing.hpp).
//
// Threads: post() from any; after() and cancel() only on the loop's thread. Work runs on the loop's thread, in the
// order it was posted or became due.
#pragma once

#include <cstdint>
#include <functional>

namespace sb::net {

class Scheduler {
 public:
  using Work = std::function<void()>;
  using Timer = std::uint64_t;  // never 0

  virtual ~Scheduler() = default;
  virtual void post(Work work) = 0;
  virtual Timer after(std::int64_t delay_ms, Work work) = 0;
  virtual void cancel(Timer timer) = 0;  // no effect if it ran or was cancelled
};

}  // namespace sb::net

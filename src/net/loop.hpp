// The event loop that all of `net` runs on: one thread, never blocked by work (workers.hpp is for that).
//
//   EventLoop loop;
//   loop.on_stop_signal([&] { loop.stop(); });
//   HttpListener listener(loop, …);
//   loop.run();
//
// Threads: run() on one; post() and stop() from any; the rest on the loop's thread or before run().
#pragma once

#include <memory>

#include "net/scheduler.hpp"

namespace sb::net {

class EventLoop final : public Scheduler {
 public:
  EventLoop();  // ignores SIGPIPE from here on
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;

  void post(Work work) override;
  Timer after(std::int64_t delay_ms, Work work) override;
  void cancel(Timer timer) override;

  // Runs until stop().
  void run();
  void stop();

  // Calls this on the loop's thread for the first SIGINT, SIGTERM or SIGHUP (unless already ignored, as with nohup); a
  // second signal ends the process immediately.
  void on_stop_signal(Work work);

  // The io_context, for the files of net that use Asio.
  void* native();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::net

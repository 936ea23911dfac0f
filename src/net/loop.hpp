// The event loop everything of `net` runs on: one thread, never blocked by work (workers.hpp is for that).
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
  EventLoop();  // SIGPIPE is ignored from here on
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;

  void post(Work work) override;
  Timer after(std::int64_t delay_ms, Work work) override;
  void cancel(Timer timer) override;

  // Until stop().
  void run();
  void stop();

  // SIGINT, SIGTERM and SIGHUP (unless ignored already, as by nohup) call this on the loop's thread, the first time; a
  // second one ends the process at once.
  void on_stop_signal(Work work);

  // For the files of net that speak Asio: its io_context.
  void* native();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::net

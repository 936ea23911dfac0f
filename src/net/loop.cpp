#include "net/loop.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <unordered_map>
#include <utility>

namespace sb::net {
namespace asio = boost::asio;

struct EventLoop::Parts {
  asio::io_context context{1};  // one thread runs it
  std::unordered_map<Timer, asio::steady_timer> timers;
  Timer last_timer = 0;
  asio::signal_set signals{context};
};

EventLoop::EventLoop() : parts_(std::make_unique<Parts>()) {
  std::signal(SIGPIPE, SIG_IGN);
}
EventLoop::~EventLoop() = default;

void EventLoop::post(Work work) {
  asio::post(parts_->context, std::move(work));
}

EventLoop::Timer EventLoop::after(std::int64_t delay_ms, Work work) {
  const Timer id = ++parts_->last_timer;
  asio::steady_timer& timer = parts_->timers.try_emplace(id, parts_->context).first->second;
  timer.expires_after(std::chrono::milliseconds(std::max<std::int64_t>(delay_ms, 0)));
  // A timer may be cancelled between becoming due and running, so the table decides.
  timer.async_wait([parts = parts_.get(), id, work = std::move(work)](const boost::system::error_code& error) {
    if (!error && parts->timers.erase(id) == 1) work();
  });
  return id;
}

void EventLoop::cancel(Timer timer) {
  parts_->timers.erase(timer);
}

void EventLoop::run() {
  const auto stay = asio::make_work_guard(parts_->context);
  parts_->context.run();
  parts_->context.restart();  // so that it can be run again
}

void EventLoop::stop() {
  parts_->context.stop();
}

void EventLoop::on_stop_signal(Work work) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    // A caller that started us with a signal ignored (nohup) did so on purpose.
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    boost::system::error_code error;
    parts_->signals.add(signal, error);
  }
  parts_->signals.async_wait(
      [parts = parts_.get(), work = std::move(work)](const boost::system::error_code& error, int) {
        if (error) return;
        boost::system::error_code ignored;
        parts->signals.clear(ignored);  // back to the default: a second signal ends the process, whatever the loop does
        work();
      });
}

void* EventLoop::native() {
  return &parts_->context;
}

}  // namespace sb::net

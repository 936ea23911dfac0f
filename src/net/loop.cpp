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

struct Loop::Parts {
  asio::io_context context{1};  // one thread runs it
  std::unordered_map<Timer, asio::steady_timer> timers;
  Timer last_timer = 0;
  asio::signal_set signals{context};
};

Loop::Loop() : parts_(std::make_unique<Parts>()) {
  std::signal(SIGPIPE, SIG_IGN);
}
Loop::~Loop() = default;

void Loop::post(Work work) {
  asio::post(parts_->context, std::move(work));
}

Loop::Timer Loop::after(std::int64_t delay_ms, Work work) {
  const Timer id = ++parts_->last_timer;
  asio::steady_timer& timer = parts_->timers.try_emplace(id, parts_->context).first->second;
  timer.expires_after(std::chrono::milliseconds(std::max<std::int64_t>(delay_ms, 0)));
  // A timer may be cancelled between becoming due and being run, so the table decides.
  timer.async_wait([parts = parts_.get(), id, work = std::move(work)](const boost::system::error_code& error) {
    if (!error && parts->timers.erase(id) == 1) work();
  });
  return id;
}

void Loop::cancel(Timer timer) {
  parts_->timers.erase(timer);
}

void Loop::run() {
  const auto stay = asio::make_work_guard(parts_->context);
  parts_->context.run();
  parts_->context.restart();  // so that it can be run again
}

void Loop::stop() {
  parts_->context.stop();
}

void Loop::on_stop_signal(Work work) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    // Whoever started us with one ignored (nohup) wants it so.
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    boost::system::error_code error;
    parts_->signals.add(signal, error);
  }
  parts_->signals.async_wait(
      [parts = parts_.get(), work = std::move(work)](const boost::system::error_code& error, int) {
        if (error) return;
        boost::system::error_code ignored;
        parts->signals.clear(ignored);  // back to the default: the second one ends the process, whatever the loop does
        work();
      });
}

void* Loop::native() {
  return &parts_->context;
}

}  // namespace sb::net

// A Scheduler for tests: runs work only on request, with a clock that moves only by hand.
//
// Threads: post() from any; the rest on the test's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "net/scheduler.hpp"

namespace sb::net {

class FakeScheduler final : public Scheduler {
 public:
  void post(Work work) override {
    const std::scoped_lock lock(mutex_);
    posted_.push_back(std::move(work));
    arrived_.notify_all();
  }
  Timer after(std::int64_t delay_ms, Work work) override {
    timers_.emplace(std::pair(now_ms_ + std::max<std::int64_t>(delay_ms, 0), ++last_), std::move(work));
    return last_;
  }
  void cancel(Timer timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }

  // Runs all posted work, and what that posts in turn. Returns how many there were.
  std::size_t run_posted() {
    std::size_t count = 0;
    for (; Work work = next(); ++count) work();
    return count;
  }
  // Runs posted work, and timers in the order they become due, each at its own time.
  void advance_ms(std::int64_t duration_ms) {
    const std::int64_t end_ms = now_ms_ + duration_ms;
    run_posted();
    while (!timers_.empty() && timers_.begin()->first.first <= end_ms) {
      auto due = timers_.extract(timers_.begin());
      now_ms_ = std::max(now_ms_, due.key().first);
      due.mapped()();
      run_posted();
    }
    now_ms_ = end_ms;
  }
  // Runs work posted by other threads until the condition holds; false on timeout. The fake clock does not move.
  template <class Condition>
  bool run_until(Condition condition, std::chrono::milliseconds wait = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + wait;
    for (;;) {
      run_posted();
      if (condition()) return true;
      std::unique_lock lock(mutex_);
      if (!arrived_.wait_until(lock, deadline, [this] { return !posted_.empty(); })) return condition();
    }
  }

  std::int64_t now_ms() const { return now_ms_; }
  std::size_t timers() const { return timers_.size(); }

 private:
  Work next() {
    const std::scoped_lock lock(mutex_);
    if (posted_.empty()) return {};
    Work work = std::move(posted_.front());
    posted_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> posted_;
  std::map<std::pair<std::int64_t, Timer>, Work> timers_;
  std::int64_t now_ms_ = 0;
  Timer last_ = 0;
};

}  // namespace sb::net

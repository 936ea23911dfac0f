// Threads for blocking work: a store's commit, a command that takes minutes.
//
// Each thread creates its own State (whatever threads must not share: an open store, caches) when it starts, and keeps
// it. A thread starts only when all others are busy, so a server with one client has one thread; the thread that worked
// last works next, because its caches are warm. Beyond `most` threads, jobs wait; beyond `queued` waiting jobs, they
// are rejected.
//
// With `most` 0 there are no threads: run() executes the job itself before it returns. For tests and fuzzers.
//
// Threads: run() from any. The destructor waits for running jobs and drops waiting ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sb::net {

template <class State>
class WorkerPool {
 public:
  using Make = std::function<std::unique_ptr<State>()>;
  using Job = std::function<void(State&)>;

  WorkerPool(Make make, std::size_t most, std::size_t queued) : make_(std::move(make)), most_(most), queued_(queued) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;

  bool run(Job job);   // false: too many are waiting
  std::size_t idle();  // number of threads waiting for work

 private:
  // Where an idle thread waits for a job.
  struct IdleThread {
    std::condition_variable called;
    bool is_called = false;
  };

  void work();
  void wait_for_job(std::unique_lock<std::mutex>& lock, IdleThread& seat);

  Make make_;
  const std::size_t most_, queued_;
  std::mutex mutex_;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  std::vector<IdleThread*> idle_;  // last in, first out
  bool is_ending_ = false;
  std::unique_ptr<State> own_state_;  // used if there are no threads
};

template <class State>
WorkerPool<State>::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    jobs_.clear();
    for (IdleThread* seat : idle_) seat->called.notify_one();
  }
  for (std::thread& thread : threads_) thread.join();
}

template <class State>
bool WorkerPool<State>::run(Job job) {
  if (most_ == 0) {
    if (!own_state_) own_state_ = make_();
    job(*own_state_);
    return true;
  }
  const std::scoped_lock lock(mutex_);
  if (is_ending_ || jobs_.size() >= queued_) return false;
  jobs_.push_back(std::move(job));
  if (!idle_.empty()) {
    IdleThread* seat = idle_.back();
    idle_.pop_back();
    seat->is_called = true;
    seat->called.notify_one();
  } else if (threads_.size() < most_) {
    threads_.emplace_back([this] { work(); });
  }
  return true;
}

template <class State>
std::size_t WorkerPool<State>::idle() {
  const std::scoped_lock lock(mutex_);
  return idle_.size();
}

template <class State>
void WorkerPool<State>::wait_for_job(std::unique_lock<std::mutex>& lock, IdleThread& seat) {
  // A thread that just finished may have taken the job this one was woken for.
  while (!is_ending_ && jobs_.empty()) {
    seat.is_called = false;
    idle_.push_back(&seat);
    seat.called.wait(lock, [&] { return is_ending_ || seat.is_called; });
  }
}

template <class State>
void WorkerPool<State>::work() {
  const std::unique_ptr<State> state = make_();
  IdleThread seat;
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_job(lock, seat);
    if (is_ending_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job(*state);
    job = nullptr;
    lock.lock();
  }
}

}  // namespace sb::net

#include "net/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace sb::net {
namespace {

struct State {
  int number = 0;
};

std::function<std::unique_ptr<State>()> numbering(std::atomic<int>& made) {
  return [&made] { return std::make_unique<State>(State{++made}); };
}

// Runs a job and waits for it; returns the number of the State it ran on.
int run_one(WorkerPool<State>& workers) {
  std::promise<int> done;
  EXPECT_TRUE(workers.run([&](State& state) { done.set_value(state.number); }));
  return done.get_future().get();
}

void wait_for_idle(WorkerPool<State>& workers, std::size_t wanted) {
  while (workers.idle() != wanted) std::this_thread::yield();
}

TEST(WorkerPool, OneClientHasOneThread) {
  std::atomic<int> made = 0;
  WorkerPool<State> workers(numbering(made), 8, 100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(run_one(workers), 1);
    wait_for_idle(workers, 1);
  }
  EXPECT_EQ(made, 1);
}

TEST(WorkerPool, ThreadThatWorkedLastWorksNext) {
  std::atomic<int> made = 0;
  WorkerPool<State> workers(numbering(made), 3, 100);
  std::vector<std::promise<void>> ends(3);
  std::vector<std::promise<int>> begins(3);
  std::vector<int> benches;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(workers.run([&, i](State& state) {
      begins[i].set_value(state.number);
      ends[i].get_future().wait();
    }));
    benches.push_back(begins[i].get_future().get());
  }
  for (const std::size_t i : {2u, 0u, 1u}) {
    const std::size_t before = workers.idle();
    ends[i].set_value();
    wait_for_idle(workers, before + 1);
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run_one(workers), benches[1]);
    wait_for_idle(workers, 3);
  }
}

TEST(WorkerPool, StartsThreadsUpToTheLimitAndQueuesTheRest) {
  std::atomic<int> made = 0;
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::atomic<int> done = 0;
  {
    WorkerPool<State> workers(numbering(made), 3, 5);
    int taken = 0;
    std::vector<std::promise<void>> begun(3);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(workers.run([&, i](State&) {
        begun[static_cast<std::size_t>(i)].set_value();
        gone.wait();
        ++done;
      }));
      begun[static_cast<std::size_t>(i)].get_future().wait();
    }
    while (workers.run([&](State&) { ++done; })) ++taken;
    EXPECT_EQ(taken, 5);
    EXPECT_EQ(made, 3);
    go.set_value();
    while (done < 8) std::this_thread::yield();
    EXPECT_GT(run_one(workers), 0);
  }
  EXPECT_EQ(done, 8);
}

TEST(WorkerPool, DestructorDropsWaitingJobs) {
  std::atomic<int> made = 0, done = 0;
  std::promise<void> begun;
  {
    WorkerPool<State> workers(numbering(made), 1, 10);
    ASSERT_TRUE(workers.run([&](State&) {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++done;
    }));
    begun.get_future().wait();
    ASSERT_TRUE(workers.run([&](State&) { ++done; }));
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace sb::net

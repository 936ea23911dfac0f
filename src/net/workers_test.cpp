#include "net/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace sb::net {
namespace {

struct Bench {
  int number = 0;
};

std::function<std::unique_ptr<Bench>()> numbering(std::atomic<int>& made) {
  return [&made] { return std::make_unique<Bench>(Bench{++made}); };
}

// Runs a job and waits for it; gives the bench it ran on.
int run_one(Workers<Bench>& workers) {
  std::promise<int> done;
  EXPECT_TRUE(workers.run([&](Bench& bench) { done.set_value(bench.number); }));
  return done.get_future().get();
}

void wait_for_idle(Workers<Bench>& workers, std::size_t wanted) {
  while (workers.idle() != wanted) std::this_thread::yield();
}

TEST(Workers, OneClientHasOneThread) {
  std::atomic<int> made = 0;
  Workers<Bench> workers(numbering(made), 8, 100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(run_one(workers), 1);
    wait_for_idle(workers, 1);
  }
  EXPECT_EQ(made, 1);
}

TEST(Workers, WhoWorkedLastWorksNext) {
  std::atomic<int> made = 0;
  Workers<Bench> workers(numbering(made), 3, 100);
  std::vector<std::promise<void>> ends(3);
  std::vector<std::promise<int>> begins(3);
  std::vector<int> benches;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(workers.run([&, i](Bench& bench) {
      begins[i].set_value(bench.number);
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

TEST(Workers, BusyOnesAreJoinedByOthersUpToTheLimitAndTheRestWaits) {
  std::atomic<int> made = 0;
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::atomic<int> done = 0;
  {
    Workers<Bench> workers(numbering(made), 3, 5);
    int taken = 0;
    std::vector<std::promise<void>> begun(3);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(workers.run([&, i](Bench&) {
        begun[static_cast<std::size_t>(i)].set_value();
        gone.wait();
        ++done;
      }));
      begun[static_cast<std::size_t>(i)].get_future().wait();
    }
    while (workers.run([&](Bench&) { ++done; })) ++taken;
    EXPECT_EQ(taken, 5);
    EXPECT_EQ(made, 3);
    go.set_value();
    while (done < 8) std::this_thread::yield();
    EXPECT_GT(run_one(workers), 0);
  }
  EXPECT_EQ(done, 8);
}

TEST(Workers, EndingDropsWhatWaits) {
  std::atomic<int> made = 0, done = 0;
  std::promise<void> begun;
  {
    Workers<Bench> workers(numbering(made), 1, 10);
    ASSERT_TRUE(workers.run([&](Bench&) {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++done;
    }));
    begun.get_future().wait();
    ASSERT_TRUE(workers.run([&](Bench&) { ++done; }));
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace sb::net

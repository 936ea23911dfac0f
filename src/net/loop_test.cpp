#include "net/loop.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "net/testing.hpp"

namespace sb::net {
namespace {

TEST(EventLoop, RunsPostedWorkInOrderFromAnyThread) {
  EventLoop loop;
  std::string seen;
  loop.post([&] { seen += 'a'; });
  std::thread other([&] {
    loop.post([&] { seen += 'b'; });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  EXPECT_EQ(seen, "ab");
  loop.post([&] { loop.stop(); });
  loop.run();  // may be run again
}

TEST(EventLoop, TimersRunInOrderUnlessCancelled) {
  EventLoop loop;
  std::string seen;
  loop.after(20, [&] { loop.stop(); });
  loop.after(2, [&] { seen += 'b'; });
  Scheduler::Timer late = 0;
  loop.after(0, [&] {
    seen += 'a';
    loop.cancel(late);
  });
  late = loop.after(5, [&] { seen += 'x'; });
  const auto at_once = loop.after(0, [&] { seen += 'x'; });
  loop.cancel(at_once);
  loop.cancel(at_once);
  loop.cancel(12345);
  loop.run();
  EXPECT_EQ(seen, "ab");
}

int status_of_child(void (*body)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(EventLoop, FirstSignalRunsTheHandlerAndSecondEndsTheProcess) {
  const int clean = status_of_child([] {
    EventLoop loop;
    loop.on_stop_signal([&] { loop.stop(); });
    loop.post([] { ::raise(SIGPIPE), ::raise(SIGTERM); });
    loop.run();
    ::_exit(7);
  });
  EXPECT_TRUE(WIFEXITED(clean) && WEXITSTATUS(clean) == 7) << clean;
  const int stuck = status_of_child([] {
    EventLoop loop;
    loop.on_stop_signal([&] {
      ::raise(SIGINT);  // while the loop is busy with the first
      ::_exit(8);
    });
    loop.post([] { ::raise(SIGHUP); });
    loop.run();
  });
  EXPECT_TRUE(WIFSIGNALED(stuck) && WTERMSIG(stuck) == SIGINT) << stuck;
}

TEST(FakeScheduler, RunsTimersWhenDueAndPostedWorkBetween) {
  FakeScheduler scheduler;
  std::string seen;
  scheduler.after(10, [&] {
    seen += 'b';
    scheduler.post([&] { seen += 'c'; });
    scheduler.after(5, [&] { seen += std::to_string(scheduler.now_ms()); });
  });
  scheduler.post([&] { seen += 'a'; });
  const auto never = scheduler.after(11, [&] { seen += 'x'; });
  scheduler.cancel(never);
  scheduler.advance_ms(9);
  EXPECT_EQ(seen, "a");
  scheduler.advance_ms(6);
  EXPECT_EQ(seen, "abc15");
  std::thread other([&] { scheduler.post([&] { seen = "done"; }); });
  EXPECT_TRUE(scheduler.run_until([&] { return seen == "done"; }));
  other.join();
}

}  // namespace
}  // namespace sb::net

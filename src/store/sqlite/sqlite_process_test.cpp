// Several processes on one store, and processes killed in the middle of their work.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>

#include "store/sqlite/sqlite_place.hpp"
#include "store/verify.hpp"

namespace sb::store {
namespace {

// Runs `body` in a child process, whose exit code is what it returns.
template <class Body>
pid_t start_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int exit_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

SqliteOptions with_many_checkpoints() {
  SqliteOptions options;
  options.checkpoint_bytes = 50'000;
  options.close_checkpoint_bytes = 10'000;
  return options;
}

// Reads the head, decides, appends under the head it saw; retries if another process was first.
int append_many(const std::string& path, int number, int count) {
  auto store = SqliteStore::open(path, Access::kReadWrite, with_many_checkpoints());
  if (!store) return 2;
  for (int i = 0; i < count;) {
    const auto head = (*store)->read([](Snapshot& snapshot) { return snapshot.head("s"); });
    if (!head) return 3;
    const NewEvent event{"t", i, std::to_string(number) + ":" + std::to_string(i)};
    const auto appended = (*store)->write([&](Transaction& transaction) -> Result<Head> {
      const Head now = SB_TRY(transaction.append("s", *head, {&event, 1}));
      SB_TRY(transaction.put("state", "s", std::to_string(now.seq)));
      return now;
    });
    if (appended) {
      ++i;
    } else if (appended.error().code != ErrorCode::kConflict) {
      return 4;
    }
  }
  return 0;
}

// The first process to arrive creates the store while the others arrive too.
TEST(SqliteProcesses, NoAppendIsLostOrRepeated) {
  constexpr int kProcesses = 5;
  constexpr int kEach = 40;
  TempSqliteStore place;
  std::vector<pid_t> children;
  for (int number = 0; number < kProcesses; ++number) {
    children.push_back(start_child([&] { return append_many(place.path(), number, kEach); }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_of(child), 0);

  const auto store = SqliteStore::open(place.path(), Access::kReadOnly);
  ASSERT_TRUE(store) << store.error().to_string();
  const auto events = (*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 1, 1'000); });
  ASSERT_TRUE(events) << events.error().to_string();
  EXPECT_EQ(events->size(), std::size_t{kProcesses * kEach});
  std::set<std::string> payloads;
  for (const Event& event : *events) payloads.insert(event.payload);
  EXPECT_EQ(payloads.size(), std::size_t{kProcesses * kEach});
  const auto row = (*store)->read([](Snapshot& snapshot) { return snapshot.get("state", "s"); });
  EXPECT_EQ((*row)->value, std::to_string(kProcesses * kEach));
}

// Appends until killed, and prints the number of each event once it is stored.
int append_and_acknowledge(const std::string& path, int pipe_end) {
  auto store = SqliteStore::open(path, Access::kReadWrite, with_many_checkpoints());
  if (!store) return 2;
  for (;;) {
    const auto head = (*store)->write([](Transaction& transaction) -> Result<Head> {
      const Head before = SB_TRY(transaction.head("s"));
      const std::vector<NewEvent> events(3, NewEvent{"t", 1, std::string(700, 'x')});
      const Head now = SB_TRY(transaction.append("s", before, events));
      SB_TRY(transaction.put("state", "s", std::to_string(now.seq)));
      return now;
    });
    if (!head) return 3;
    if (write(pipe_end, &head->seq, sizeof head->seq) != sizeof head->seq) return 4;
  }
}

TEST(SqliteProcesses, NothingAcknowledgedIsLostWhenKilledAtRandomMoments) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  TempSqliteStore place;
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_child([&] { return append_and_acknowledge(place.path(), ends[1]); });
    close(ends[1]);
    const auto read_one = [&] {
      std::int64_t seq = 0;
      if (read(ends[0], &seq, sizeof seq) != sizeof seq) return false;
      acknowledged = seq;
      return true;
    };
    for (unsigned i = 0; i < random() % 20; ++i) ASSERT_TRUE(read_one());
    usleep(random() % 2'000);
    kill(child, SIGKILL);
    EXPECT_EQ(exit_of(child), 128 + SIGKILL);
    while (read_one()) {
    }
    close(ends[0]);

    const auto store = SqliteStore::open(place.path(), Access::kReadWrite);
    ASSERT_TRUE(store) << store.error().to_string();
    const Status whole = (*store)->read([&](Snapshot& snapshot) -> Status {
      const Head head = SB_TRY(snapshot.head("s"));
      EXPECT_GE(head.seq, acknowledged);
      EXPECT_LE(head.seq, acknowledged + 3);
      EXPECT_EQ(head.seq % 3, 0);
      const auto row = SB_TRY(snapshot.get("state", "s"));
      EXPECT_EQ(row ? row->value : "0", std::to_string(head.seq));
      const VerifyReport verification = SB_TRY(verify_all(snapshot));
      EXPECT_TRUE(verification.faults.empty());
      EXPECT_EQ(verification.events, head.seq);
      acknowledged = head.seq;  // once seen, it must stay
      return {};
    });
    ASSERT_TRUE(whole) << whole.error().to_string();
    if (HasFailure()) return;
  }
}

// A process that hangs while it holds the store makes others wait, then fail with an error that says to try again.
TEST(SqliteProcesses, StuckWriterIsAnErrorNotAHang) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = start_child([&] {
    auto store = SqliteStore::open(place.path(), Access::kReadWrite);
    if (!store) return 2;
    return (*store)->write([&](Transaction& transaction) -> Status {
      SB_TRY(transaction.put("c", "k", "v"));
      (void)!write(ends[1], "x", 1);
      for (;;) pause();
    })
               ? 0
               : 3;
  });
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  SqliteOptions options;
  options.busy_wait_ms = 20;
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store) << store.error().to_string();
  const auto head = (*store)->read([](Snapshot& snapshot) { return snapshot.head("s"); });
  EXPECT_TRUE(head);
  const Status busy = (*store)->write([](Transaction& transaction) { return transaction.put("c", "k", "mine"); });
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(busy.error().is_retryable);
  kill(child, SIGKILL);
  exit_of(child);
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE((*store)->write([](Transaction& transaction) { return transaction.put("c", "k", "mine"); }));
}

}  // namespace
}  // namespace sb::store

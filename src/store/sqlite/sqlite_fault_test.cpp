// Effects of a full or broken disk on the store, at every change it makes, and the cost of an append.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_place.hpp"
#include "store/sqlite/testing/fault_vfs.hpp"
#include "store/verify.hpp"

namespace sb::store {
namespace {

using sqlite::Fault;
using sqlite::FaultVfs;
using sqlite::IoCounts;

// One advance as the engine does it: an event and its state. They must always appear together.
Status advance(Store& store, int number) {
  return store.write([&](Transaction& transaction) -> Status {
    const Head head = SB_TRY(transaction.head("s"));
    const NewEvent event{"advanced", number, std::string(300, 'x')};
    const Head now = SB_TRY(transaction.append("s", head, {&event, 1}));
    return transaction.put("state", "s", std::to_string(now.seq), std::to_string(now.seq % 7));
  });
}

struct Outcome {
  std::int64_t acknowledged = 0;
  std::optional<Error> error;
};

// Creates the store and advances, with a checkpoint in the middle; stops at the first error.
Outcome run_workload(const std::string& path, const std::string& vfs) {
  constexpr int kAdvances = 6;
  Outcome outcome;
  SqliteOptions options;
  options.vfs = vfs;
  options.checkpoint_bytes = 60'000;
  options.close_checkpoint_bytes = 1;
  const auto store = SqliteStore::open(path, Access::kReadWrite, options);
  if (!store) return {0, store.error()};
  for (int i = 0; i < kAdvances; ++i) {
    if (const Status status = advance(**store, i); !status) return {outcome.acknowledged, status.error()};
    ++outcome.acknowledged;
    if (i == 3) (void)(*store)->checkpoint();
  }
  return outcome;
}

// Everything acknowledged is there, plus at most the append that failed, nothing is partial, and work can continue.
void expect_whole(const std::string& path, FaultVfs& vfs, const Outcome& outcome) {
  vfs.clear_fault();
  SqliteOptions options;
  options.vfs = vfs.name();
  const auto store = SqliteStore::open(path, Access::kReadWrite, options);
  ASSERT_TRUE(store) << store.error().to_string();
  const Status checked = (*store)->read([&](Snapshot& snapshot) -> Status {
    const Head head = SB_TRY(snapshot.head("s"));
    EXPECT_GE(head.seq, outcome.acknowledged);
    EXPECT_LE(head.seq, outcome.acknowledged + (outcome.error ? 1 : 0));
    const auto row = SB_TRY(snapshot.get("state", "s"));
    EXPECT_EQ(row ? row->value : "0", std::to_string(head.seq));
    const VerifyReport verification = SB_TRY(verify_all(snapshot));
    EXPECT_TRUE(verification.faults.empty());
    EXPECT_EQ(verification.events, head.seq);
    return {};
  });
  EXPECT_TRUE(checked) << checked.error().to_string();
  const Status more = advance(**store, 99);
  EXPECT_TRUE(more) << more.error().to_string();
}

class AtEveryChange : public testing::TestWithParam<Fault> {};

TEST_P(AtEveryChange, NothingAcknowledgedIsLostAndNothingIsPartial) {
  std::int64_t changes = 0;
  {
    FaultVfs vfs;
    TempSqliteStore place;
    ASSERT_EQ(run_workload(place.path(), vfs.name()).error, std::nullopt);
    changes = vfs.changes();
  }
  ASSERT_GT(changes, 20);
  RecordProperty("changes", static_cast<int>(changes));
  for (std::int64_t n = 1; n <= changes; ++n) {
    SCOPED_TRACE(testing::Message() << "change " << n << " of " << changes);
    FaultVfs vfs;
    TempSqliteStore place;
    std::filesystem::create_directory(place.directory() + "/home");  // a new directory would really be synced
    vfs.fail_at(n, GetParam());
    const Outcome outcome = run_workload(place.path(), vfs.name());
    EXPECT_TRUE(vfs.has_failed());
    if (outcome.error) {
      EXPECT_EQ(outcome.error->code, ErrorCode::kIo) << outcome.error->to_string();
      EXPECT_THAT(outcome.error->to_string(), testing::HasSubstr("signalbox.db"));
      EXPECT_FALSE(outcome.error->remedy.empty());
    }
    expect_whole(place.path(), vfs, outcome);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, AtEveryChange, testing::Values(Fault::kFull, Fault::kIo, Fault::kTorn));

// SQLite alone would open such a log as if it ended before the damage.
TEST(SqliteFaults, FlippedByteInTheLogIsReportedAndDoesNotHideLaterCommits) {
  int refused = 0, at_a_frame = 0;
  for (int n = 1;; ++n) {
    SCOPED_TRACE(testing::Message() << "change " << n);
    FaultVfs vfs;
    TempSqliteStore place;
    SqliteOptions options;
    options.vfs = vfs.name();
    options.close_checkpoint_bytes = 1 << 30;
    {
      auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
      ASSERT_TRUE(store);
      ASSERT_TRUE((*store)->checkpoint());
      vfs.reset_counts();  // the byte that is flipped depends on them
      vfs.fail_at(n, Fault::kFlip);
      for (int i = 0; i < 4; ++i) (void)advance(**store, i);
    }
    if (!vfs.has_failed()) break;
    const auto store = SqliteStore::open(place.path(), Access::kReadOnly, options);
    if (!store) {
      ++refused;
      EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(store.error().to_string(), testing::HasSubstr("log"));
      at_a_frame += store.error().message.contains("damaged at frame") ? 1 : 0;
      continue;
    }
    // Only for the last two it may be unknown whether they were complete.
    const auto events = (*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 1, 10); });
    if (events) {
      EXPECT_GE(events->size(), 2u);
    } else {
      EXPECT_EQ(events.error().code, ErrorCode::kCorrupt);
    }
  }
  EXPECT_GT(refused, 5);
  EXPECT_GT(at_a_frame, 3);
}

// The same store continues when there is space again, without being reopened.
TEST(SqliteFaults, ReportsAFullDiskAndRecovers) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  ASSERT_TRUE(advance(**store, 1));
  vfs.fail_at(1, Fault::kFull);
  const Status full = advance(**store, 2);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_THAT(full.error().message, testing::HasSubstr("disk is full"));
  EXPECT_THAT(full.error().remedy, testing::HasSubstr("Free space"));
  vfs.clear_fault();
  EXPECT_TRUE(advance(**store, 2));
  store->reset();
  expect_whole(place.path(), vfs, {2, std::nullopt});
}

// Work that continues after a storage failure must not be committed.
TEST(SqliteFaults, IgnoredFailureStillFailsTheWrite) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  vfs.fail_at(1, Fault::kFull);
  const Status status = (*store)->write([&](Transaction& transaction) -> Status {
    // More than fits into the page cache, so that SQLite writes before the commit.
    for (int i = 0; i < 40; ++i) {
      (void)transaction.put("c", std::to_string(i), std::string(200'000, 'x'));
    }
    vfs.clear_fault();
    (void)transaction.put("c", "last", "v");
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("disk is full"));
  const auto rows = (*store)->read([](Snapshot& snapshot) { return snapshot.list("c", {}); });
  ASSERT_TRUE(rows);
  EXPECT_TRUE(rows->empty());
}

struct AppendCost {
  std::int64_t statements;
  IoCounts io;
};

// The cheapest of a few: occasionally a page of the tree is full and splits, which is amortized over many appends.
AppendCost cost_of_append(SqliteStore& store, FaultVfs& vfs) {
  std::optional<AppendCost> least;
  for (int i = 0; i < 6; ++i) {
    vfs.reset_counts();
    const std::int64_t before = store.cost().statements;
    EXPECT_TRUE(advance(store, i));
    const AppendCost cost{store.cost().statements - before, vfs.counts()};
    EXPECT_EQ(cost.io.syncs, 1);
    if (!least) least = cost;
    EXPECT_EQ(cost.statements, least->statements);
    if (cost.io.bytes_written < least->io.bytes_written) least = cost;
  }
  return *least;
}

TEST(SqliteCosts, AppendCostsTheSameAtTenAndTenThousandEvents) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  options.checkpoint_bytes = 1 << 30;
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  const auto fill = [&](std::int64_t to) {
    return (*store)->write([&](Transaction& transaction) -> Result<Head> {
      const Head head = SB_TRY(transaction.head("s"));
      const std::vector<NewEvent> events(static_cast<std::size_t>(to - head.seq),
                                         NewEvent{"advanced", 1, std::string(300, 'x')});
      return transaction.append("s", head, events);
    });
  };
  ASSERT_TRUE(fill(10));
  const AppendCost early = cost_of_append(**store, vfs);
  ASSERT_TRUE(fill(10'000));
  const AppendCost late = cost_of_append(**store, vfs);
  EXPECT_EQ(early.statements, late.statements);
  EXPECT_EQ(early.statements, 7);  // BEGIN, the head read twice, the event, the head written, the row, COMMIT
  EXPECT_EQ(early.io, late.io);
}

// SQLite answers every query by an index and without sorting.
TEST(SqliteCosts, NoQueryScansATable) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  const Status used = (*store)->write([](Transaction& t) -> Status {
    for (int i = 0; i < 200; ++i) {
      const std::string name = std::to_string(i);
      const std::vector<NewEvent> events(3, NewEvent{"t", 1, "{}"});
      SB_TRY(t.append(name, Head{}, events));
      SB_TRY(t.put("c", name, "v", "s/" + name));
      SB_TRY(t.put_blob(name));
      SB_TRY(t.add_work("q", name, i));
    }
    return {};
  });
  ASSERT_TRUE(used);
  const std::int64_t before = (*store)->cost().unindexed_steps;
  const Status asked = (*store)->write([](Transaction& t) -> Status {
    SB_TRY(t.events("7", 2, 2));
    SB_TRY(t.events_after(50, 10));
    SB_TRY(t.last_position());
    SB_TRY(t.streams("1", "11", 5));
    for (const Order by : {Order::kKey, Order::kSort}) {
      for (const bool descending : {false, true}) {
        Listing listing{.by = by, .prefix = by == Order::kKey ? "1" : "s/1", .descending = descending, .limit = 5};
        listing.after = SB_TRY(t.list("c", listing)).back();
        SB_TRY(t.list("c", listing));
      }
    }
    SB_TRY(t.get("c", "7"));
    SB_TRY(t.put_blob("x"));
    SB_TRY(t.blobs(sha256("x"), 5));
    const auto lease = SB_TRY(t.lease("q", "me", 50, 100));
    SB_TRY(t.renew(*lease, 200));
    SB_TRY(t.finish(*lease));
    SB_TRY(t.remove("c", "7"));
    SB_TRY(t.remove_blob(sha256("7")));
    return t.remove_stream("7");
  });
  ASSERT_TRUE(asked) << asked.error().to_string();
  EXPECT_EQ((*store)->cost().unindexed_steps, before);
}

TEST(SqliteCosts, OpeningAndReadingWritesAndSyncsNothing) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  ASSERT_TRUE(SqliteStore::open(place.path(), Access::kReadWrite, options));
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    vfs.reset_counts();
    auto store = SqliteStore::open(place.path(), access, options);
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->read([](Snapshot& snapshot) { return snapshot.head("s"); }));
    store->reset();
    EXPECT_EQ(vfs.counts().writes, 0);
    EXPECT_EQ(vfs.counts().syncs, 0);
  }
}

// The writer moves a WAL that grows past the limit into the file, and only then.
TEST(SqliteCosts, CheckpointsOnlyWhenTheWalIsLong) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  options.checkpoint_bytes = 300'000;
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  ASSERT_TRUE(advance(**store, 1));
  EXPECT_EQ((*store)->cost().checkpoints, 0);
  ASSERT_TRUE((*store)->write([](Transaction& t) { return t.put_blob(std::string(600'000, 'x')); }));
  EXPECT_EQ((*store)->cost().checkpoints, 1);
  EXPECT_EQ(std::filesystem::file_size(place.path() + "-wal"), 0u);
  ASSERT_TRUE(advance(**store, 2));
  EXPECT_EQ((*store)->cost().checkpoints, 1);
  EXPECT_GT(std::filesystem::file_size(place.path() + "-wal"), 0u);
  store->reset();
  EXPECT_GT(std::filesystem::file_size(place.path() + "-wal"), 0u);  // too short for a checkpoint
  expect_whole(place.path(), vfs, {2, std::nullopt});
}

// Readers delay a checkpoint but not a writer, and lose nothing by it.
TEST(SqliteCosts, ReaderDoesNotBlockAWriter) {
  FaultVfs vfs;
  TempSqliteStore place;
  SqliteOptions options;
  options.vfs = vfs.name();
  options.checkpoint_bytes = 1;
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  ASSERT_TRUE(advance(**store, 1));
  auto reader = SqliteStore::open(place.path(), Access::kReadOnly);
  ASSERT_TRUE(reader);
  const Status status = (*reader)->read([&](Snapshot& snapshot) -> Status {
    const Head head = SB_TRY(snapshot.head("s"));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(advance(**store, i));
    EXPECT_EQ(SB_TRY(snapshot.head("s")), head);
    return {};
  });
  EXPECT_TRUE(status);
  store->reset();
  expect_whole(place.path(), vfs, {6, std::nullopt});
}

}  // namespace
}  // namespace sb::store

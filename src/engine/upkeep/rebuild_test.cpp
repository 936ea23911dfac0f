// Sessions whose rows or last events are gone, after a repair of the store; and damaged token keys.
#include <gmock/gmock.h>

#include "base/testing/fakes.hpp"
#include "engine/state/keyring.hpp"
#include "engine/upkeep/testing.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;

class Rebuild : public testing::Test {
 protected:
  Rebuild() : store_(std::move(*place_.open())) {}

  Status write(const std::function<Status(store::Transaction&)>& work) { return store_->write(work); }
  std::vector<RebuiltSession> rebuilt() {
    auto all = rebuild_sessions(*store_);
    EXPECT_TRUE(all) << all.error().to_string();
    return all.value_or(std::vector<RebuiltSession>());
  }
  // What a repair leaves of a stream: its first events.
  void cut(const std::string& id, std::size_t kept) {
    ASSERT_TRUE(write([&](store::Transaction& transaction) -> Status {
      const auto events = SB_TRY(transaction.events(session_stream(id), 1, 1'000));
      SB_TRY(transaction.remove_stream(session_stream(id)));
      store::Head head;
      for (std::size_t i = 0; i < kept; ++i) {
        const store::NewEvent again{events[i].type, events[i].time_ms, events[i].payload};
        head = SB_TRY(transaction.append(session_stream(id), head, {&again, 1}));
      }
      return {};
    }));
  }
  std::int64_t length(const std::string& id) {
    return store_->read([&](store::Snapshot& snapshot) { return snapshot.head(session_stream(id)); })->seq;
  }

  store::TempSqliteStore place_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(Rebuild, WholeSessionsAreLeftAlone) {
  make_session(*store_);
  EXPECT_TRUE(rebuilt().empty());
}

TEST_F(Rebuild, RowsAreWrittenAgainFromTheEvents) {
  const std::string id = make_session(*store_);
  ASSERT_TRUE(write([&](store::Transaction& transaction) -> Status {
    SB_TRY(transaction.put(kSessions, id, "garbage"));
    SB_TRY(transaction.remove(kNodes, node_key(id, 2)));
    SB_TRY(transaction.put(kNodes, node_key(id, 77), "never opened"));
    return transaction.remove(kAttempts, attempt_key(id, 1, 1));
  }));
  const auto all = rebuilt();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].has_changed);
  EXPECT_EQ(all[0].undone, 0);
  EXPECT_EQ(verdict(*store_, id), "");
  EXPECT_TRUE(rebuilt().empty());
}

// Whatever number of events is left, the session can be continued, or is gone.
TEST_F(Rebuild, AdvanceCutInTheMiddleIsUndone) {
  const std::string whole = make_session(*store_, {.seed = 99, .parent = ""});
  const std::int64_t events = length(whole);
  bool has_undone = false;
  for (std::int64_t kept = 0; kept < events; ++kept) {
    SCOPED_TRACE(kept);
    const std::string id = make_session(*store_, {.seed = static_cast<unsigned>(kept) + 1, .parent = ""});
    cut(id, static_cast<std::size_t>(kept));
    const auto all = rebuilt();
    ASSERT_EQ(all.size(), 1u);
    has_undone = has_undone || all[0].undone > 0;
    if (all[0].is_gone) {
      EXPECT_LE(kept, 1) << "the first step was open";
      EXPECT_EQ(verify_session(*store_, id).error().code, ErrorCode::kNotFound);
      continue;
    }
    EXPECT_EQ(verdict(*store_, id), "");
    EXPECT_EQ(length(id), kept - all[0].undone);
    EXPECT_FALSE(all[0].goal.empty());
  }
  EXPECT_TRUE(has_undone);
  EXPECT_EQ(verdict(*store_, whole), "");
}

TEST_F(Rebuild, MissingContentStaysReportedAndChangesNothing) {
  const std::string id = make_session(*store_);
  ASSERT_TRUE(write([&](store::Transaction& transaction) {
    return transaction.remove_blob(sha256(to_canonical_json(Value::object({{"of", id}}))));
  }));
  for (int i = 0; i < 2; ++i) {
    const auto all = rebuilt();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_FALSE(all[0].has_changed);
    ASSERT_EQ(all[0].left.size(), 1u);
    EXPECT_THAT(all[0].left[0].message, HasSubstr("missing"));
  }
}

TEST_F(Rebuild, DamagedKeyIsReplacedByRotatingKeys) {
  FakeRandom random;
  Keyring keys;
  ASSERT_TRUE(write([&](store::Transaction& transaction) { return keys.load_or_make(transaction, random, 1); }));
  std::string key;
  ASSERT_TRUE(write([&](store::Transaction& transaction) -> Status {
    const store::Row row = SB_TRY(transaction.list(kKeys, {.limit = 1})).front();
    key = row.key;
    std::string value = row.value;
    value[value.size() / 2] ^= 1;
    return transaction.put(kKeys, row.key, value);
  }));
  const Status refused = store_->read([&](store::Snapshot& snapshot) { return keys.load(snapshot); });
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().remedy, HasSubstr("rotate-keys"));
  EXPECT_EQ(store_->read([](store::Snapshot& snapshot) { return damaged_keys(snapshot); }),
            (std::vector<std::string>{key}));
  ASSERT_TRUE(write([&](store::Transaction& transaction) { return keys.rotate(transaction, random, 2, false); }));
  EXPECT_TRUE(store_->read([&](store::Snapshot& snapshot) { return keys.load(snapshot); }));
  EXPECT_FALSE(keys.empty());
}

}  // namespace
}  // namespace sb::engine

// Verifying, pruning and collecting.
#include <gmock/gmock.h>

#include "engine/upkeep/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr TimestampMs kDay = 24 * 60 * 60 * 1'000;
constexpr TimestampMs kNow = 1'700'000'000'000;

class Upkeep : public testing::Test {
 protected:
  Upkeep() : store_(std::move(*place_.open())) {}

  Status write(const std::function<Status(store::Transaction&)>& work) { return store_->write(work); }
  PruneResult pruned(TimestampMs before, bool also_open = false, bool dry_run = false) {
    const auto result = prune(*store_, before, also_open, dry_run, nullptr);
    EXPECT_TRUE(result) << result.error().to_string();
    return result.value_or(PruneResult{});
  }
  bool is_there(const std::string& id) {
    return store_->read([&](store::Snapshot& snapshot) { return read_summary(snapshot, id); })->has_value();
  }

  store::TempSqliteStore place_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(Upkeep, AnIntactSessionHasNoDamage) {
  EXPECT_EQ(verdict(*store_, make_session(*store_)), "");
  EXPECT_EQ(verdict(*store_, make_session(*store_, {.seed = 2, .delivered = 0, .parent = ""})), "");
}

TEST_F(Upkeep, AnUnknownSessionIsNotFound) {
  const auto damages = verify_session(*store_, "s-none");
  ASSERT_FALSE(damages);
  EXPECT_EQ(damages.error().code, ErrorCode::kNotFound);
}

TEST_F(Upkeep, FindsRowsThatAreMissingDamagedWrongOrExtra) {
  const std::string id = make_session(*store_);
  const std::string node = node_key(id, 2);
  const std::string attempt = attempt_key(id, 1, 1);
  const store::Row kept = **store_->read([&](store::Snapshot& snapshot) { return snapshot.get(kNodes, node); });
  const auto restore = [&] {
    ASSERT_TRUE(write([&](store::Transaction& t) { return t.put(kNodes, node, kept.value); }));
    ASSERT_EQ(verdict(*store_, id), "");
  };

  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove(kNodes, node); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("node {}: its record is missing\n", node));
  restore();

  std::string flipped = kept.value;
  flipped.back() ^= 1;
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.put(kNodes, node, flipped); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("node {}: its record is damaged\n", node));
  restore();

  Node other = *node_from(*open_row(kNodes, kept));
  other.depth = 9;
  ASSERT_TRUE(write([&](store::Transaction& t) { return write_node(t, id, other); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("node {}: its record does not match the events\n", node));
  restore();

  other.number = 77;
  ASSERT_TRUE(write([&](store::Transaction& t) { return write_node(t, id, other); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("node {}: no event mentions it\n", node_key(id, 77)));
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove(kNodes, node_key(id, 77)); }));

  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove(kAttempts, attempt); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("attempt {}: its record is missing\n", attempt));
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove(kSessions, id); }));
  EXPECT_THAT(verdict(*store_, id), HasSubstr("session: its record is missing\n"));
}

TEST_F(Upkeep, FindsMissingContent) {
  SessionMaker maker(*store_, {});
  maker.start();
  const std::string lost = *maker.events.back().payload.string_at("context");
  const std::string id = maker.finish();
  const Digest digest = sha256(to_canonical_json(Value::object({{"session", id}, {"node", 1}})));
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove_blob(digest); }));
  EXPECT_EQ(verdict(*store_, id), fmt::format("content {}: it is missing, named by event 2\n", lost));
}

TEST_F(Upkeep, FindsEventsThatDoNotFitTogether) {
  SessionMaker maker(*store_, {});
  maker.start();
  const std::string id = maker.finish();
  ASSERT_TRUE(write([&](store::Transaction& t) -> Status {
    const store::NewEvent impossible{"session_completed", kNow, R"({"node":1})"};
    SB_TRY(t.append(session_stream(id), SB_TRY(t.head(session_stream(id))), {&impossible, 1}));
    return {};
  }));
  EXPECT_THAT(verdict(*store_, id), HasSubstr("event 3: "));
  EXPECT_THAT(verdict(*store_, id), HasSubstr("completes a session before its end"));
}

TEST_F(Upkeep, FindsASessionWithoutEvents) {
  const std::string id = make_session(*store_);
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove_stream(session_stream(id)); }));
  EXPECT_THAT(verdict(*store_, id), HasSubstr("events: there are none"));
  int reported = 0;
  const auto count = verify_sessions(
      *store_, [&](const std::string& session, const std::vector<Damage>&) { reported += session == id; }, nullptr);
  EXPECT_EQ(*count, 1);
  EXPECT_EQ(reported, 1);
}

TEST_F(Upkeep, VerifiesAllSessionsAndReportsProgress) {
  make_session(*store_, {.seed = 1, .parent = ""});
  const std::string bad = make_session(*store_, {.seed = 2, .parent = ""});
  make_session(*store_, {.seed = 3, .parent = ""});
  ASSERT_TRUE(write([&](store::Transaction& t) { return t.remove(kNodes, node_key(bad, 1)); }));
  std::vector<std::string> damaged;
  std::vector<std::int64_t> steps;
  const auto count = verify_sessions(
      *store_, [&](const std::string& session, const std::vector<Damage>&) { damaged.push_back(session); },
      [&](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(all, 3);
        steps.push_back(done);
      });
  EXPECT_EQ(*count, 3);
  EXPECT_THAT(damaged, ElementsAre(bad));
  EXPECT_THAT(steps, ElementsAre(1, 2, 3));
}

TEST_F(Upkeep, PrunesSessionsThatEndedEarlier) {
  const std::string old = make_session(*store_, {.seed = 1, .at = kNow - 40 * kDay, .parent = ""});
  const std::string fresh = make_session(*store_, {.seed = 2, .at = kNow - 10 * kDay, .parent = ""});
  const std::string open = make_session(*store_, {.seed = 3, .delivered = 1, .at = kNow - 40 * kDay, .parent = ""});
  EXPECT_THAT(pruned(kNow - 30 * kDay).sessions, ElementsAre(old));
  EXPECT_FALSE(is_there(old));
  EXPECT_EQ(verify_session(*store_, old).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(verdict(*store_, fresh), "");
  EXPECT_EQ(verdict(*store_, open), "");
  EXPECT_THAT(pruned(kNow - 30 * kDay, true).sessions, ElementsAre(open));
  EXPECT_THAT(pruned(kNow - 30 * kDay, true).sessions, IsEmpty());
}

TEST_F(Upkeep, ExactlyAtTheTimeIsNotBeforeIt) {
  make_session(*store_, {.seed = 1, .at = kNow, .parent = ""});
  EXPECT_THAT(pruned(kNow).sessions, IsEmpty());
  EXPECT_EQ(pruned(kNow + 1).sessions.size(), 1u);
}

TEST_F(Upkeep, ChildrenAreRemovedOnlyWithTheirParents) {
  const std::string parent = make_session(*store_, {.seed = 1, .at = kNow - 10 * kDay, .parent = ""});
  const std::string child = make_session(*store_, {.seed = 2, .at = kNow - 40 * kDay, .parent = parent});
  const std::string grandchild = make_session(*store_, {.seed = 3, .at = kNow - 40 * kDay, .parent = child});
  const std::string orphan = make_session(*store_, {.seed = 4, .at = kNow - 40 * kDay, .parent = "s-gone"});
  EXPECT_THAT(pruned(kNow - 30 * kDay).sessions, ElementsAre(orphan));
  EXPECT_THAT(pruned(kNow).sessions, UnorderedElementsAre(parent, child, grandchild));
}

TEST_F(Upkeep, AFamilyWithAnOpenChildStays) {
  const std::string parent = make_session(*store_, {.seed = 1, .at = kNow - 40 * kDay, .parent = ""});
  make_session(*store_, {.seed = 2, .delivered = 1, .at = kNow - 40 * kDay, .parent = parent});
  EXPECT_THAT(pruned(kNow).sessions, IsEmpty());
  EXPECT_EQ(pruned(kNow, true).sessions.size(), 2u);
}

TEST_F(Upkeep, ADryRunChangesNothingAndReportsTheSame) {
  const std::string old = make_session(*store_, {.seed = 1, .at = kNow - 40 * kDay, .parent = ""});
  make_session(*store_, {.seed = 2, .at = kNow, .parent = ""});
  const std::size_t blobs = count_blobs(*store_);
  const PruneResult planned = pruned(kNow, false, true);
  EXPECT_TRUE(is_there(old));
  EXPECT_EQ(count_blobs(*store_), blobs);
  const PruneResult done = pruned(kNow);
  EXPECT_EQ(planned.sessions, done.sessions);
  EXPECT_EQ(planned.blobs, done.blobs);
  EXPECT_EQ(planned.bytes, done.bytes);
  EXPECT_GT(done.blobs, 0);
  EXPECT_EQ(count_blobs(*store_), blobs - static_cast<std::size_t>(done.blobs));
}

TEST(Pain17, PrunedSessionsLeaveNoBlobsBehind) {
  store::TempSqliteStore place;
  const auto store = std::move(*place.open());
  for (unsigned seed = 1; seed <= 20; ++seed) make_session(*store, {.seed = seed, .at = 1'000, .parent = ""});
  const auto pruned = prune(*store, kNow, false, false, nullptr);
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->sessions.size(), 20u);
  const Status empty = store->read([](store::Snapshot& snapshot) -> Status {
    EXPECT_TRUE(SB_TRY(snapshot.blobs({}, 10)).empty());
    for (const std::string_view collection : {kSessions, kNodes, kAttempts}) {
      EXPECT_TRUE(SB_TRY(snapshot.list(collection, {})).empty()) << collection;
    }
    EXPECT_TRUE(SB_TRY(snapshot.streams("", "", 10)).empty());
    return {};
  });
  EXPECT_TRUE(empty);
}

TEST_F(Upkeep, CollectsOnlyUnreferencedBlobs) {
  const std::string id = make_session(*store_);
  const std::size_t used = count_blobs(*store_);
  ASSERT_TRUE(write([](store::Transaction& t) -> Status {
    for (int i = 0; i < 1'200; ++i) SB_TRY(t.put_blob(fmt::format("\"left {}\"", i)));
    return {};
  }));
  const auto planned = collect_garbage(*store_, true, nullptr);
  EXPECT_EQ(planned->blobs, 1'200);
  EXPECT_EQ(count_blobs(*store_), used + 1'200);
  const auto done = collect_garbage(*store_, false, nullptr);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->blobs, 1'200);
  EXPECT_EQ(done->bytes, planned->bytes);
  EXPECT_EQ(count_blobs(*store_), used);
  EXPECT_EQ(verdict(*store_, id), "");
  EXPECT_EQ(collect_garbage(*store_, false, nullptr)->blobs, 0);
}

TEST_F(Upkeep, KeepsWhatOtherStreamsReferTo) {
  ASSERT_TRUE(write([](store::Transaction& t) -> Status {
    const std::string hex = to_hex(as_bytes(SB_TRY(t.put_blob("\"kept\""))));
    const store::NewEvent event{"noted", kNow, fmt::format(R"({{"somewhere":["{}"]}})", hex)};
    SB_TRY(t.append("decision/d-1", {}, {&event, 1}));
    return {};
  }));
  EXPECT_EQ(collect_garbage(*store_, false, nullptr)->blobs, 0);
  EXPECT_EQ(count_blobs(*store_), 1u);
}

// Another process stores a blob that existed unused, and an event that names it, between mark and sweep.
TEST_F(Upkeep, KeepsABlobThatIsReferencedMeanwhile) {
  ASSERT_TRUE(write([](store::Transaction& t) -> Status {
    SB_TRY(t.put_blob("\"wanted again\""));
    const store::NewEvent event{"noted", kNow, "{}"};
    SB_TRY(t.append("decision/d-1", {}, {&event, 1}));
    return {};
  }));
  const auto other = std::move(*place_.open());
  bool is_done = false;
  const auto collected = collect_garbage(*store_, false, [&](std::int64_t, std::int64_t) {
    if (std::exchange(is_done, true)) return;
    const Status named = other->write([](store::Transaction& t) -> Status {
      const std::string hex = to_hex(as_bytes(SB_TRY(t.put_blob("\"wanted again\""))));
      const store::NewEvent event{"noted", kNow, fmt::format(R"({{"blob":"{}"}})", hex)};
      SB_TRY(t.append("decision/d-2", {}, {&event, 1}));
      return {};
    });
    EXPECT_TRUE(named);
  });
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(collected->blobs, 0);
  EXPECT_EQ(count_blobs(*store_), 1u);
}

TEST_F(Upkeep, KeepsTheWorkflowsThatAPinnedOneCalls) {
  workflow::FakeResolver around;
  around.add_workflow("{id: callee, name: C, description: D, version: 1.0.0, steps: [{id: sub, title: S, prompt: P}]}");
  const workflow::Bundle bundle = workflow::compiled(
      "{id: caller, name: C, description: D, version: 1.0.0, steps: [{id: one, title: T, prompt: P},"
      "{id: call, type: workflow, title: T, workflowId: callee}]}",
      around);
  SessionMaker maker(*store_, {});
  maker.start();
  for (const auto& compiled : bundle) maker.blob(compiled->pinned);
  maker.events[0].payload.set("hash", bundle.back()->hash);
  const std::string id = maker.finish();
  EXPECT_EQ(collect_garbage(*store_, false, nullptr)->blobs,
            1);  // the workflow stored by start(), which nothing refers to now
  EXPECT_EQ(verdict(*store_, id), "");
}

// Writers go first between two transactions of a prune, so there must be many small ones.
class TurnCounting final : public store::Store {
 public:
  explicit TurnCounting(store::Store& inner) : inner_(inner) {}
  void give_way() override { ++turns; }
  int writes = 0, turns = 0;

 private:
  Status run_write(const std::function<Status(store::Transaction&)>& work) override {
    ++writes;
    return inner_.write([&](store::Transaction& transaction) { return work(transaction); });
  }
  Status run_read(const std::function<Status(store::Snapshot&)>& work) override { return inner_.read(work); }
  store::Store& inner_;
};

TEST_F(Upkeep, PruningManyGivesWayToOthersAndIsNotOneCommitEach) {
  for (unsigned seed = 1; seed <= 230; ++seed) make_session(*store_, {.seed = seed, .at = 1'000 + seed});
  TurnCounting counting(*store_);
  const auto pruned = prune(counting, 5'000, false, false, {});
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->sessions.size(), 230u);
  EXPECT_GE(counting.turns, 5);
  EXPECT_LT(counting.writes, 20);
}

TEST_F(Upkeep, RemovingASessionLeavesOthersAlone) {
  const std::string first = make_session(*store_, {.seed = 1, .parent = ""});
  const std::string second = make_session(*store_, {.seed = 2, .parent = ""});
  ASSERT_TRUE(remove_session(*store_, first));
  EXPECT_EQ(remove_session(*store_, first).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(verdict(*store_, second), "");
}

}  // namespace
}  // namespace sb::engine

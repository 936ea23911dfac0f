// The cost of an advance does not depend on the length of the session: the same statements, pages and bytes and one
// sync, at step ten and at step ten thousand. What is submitted is stored once.
#include <gmock/gmock.h>

#include "engine/testing/counting_store.hpp"
#include "engine/testing/store_processes.hpp"
#include "store/sqlite/testing/fault_vfs.hpp"

namespace sb::engine {
namespace {

using store::TempSqliteStore;
using store::sqlite::FaultVfs;
using store::sqlite::IoCounts;

// Twenty steps, five hundred times.
std::string loop_workflow() {
  std::string text = R"(
id: long-loop
name: Long loop
description: Twenty steps, five hundred times.
version: 1.0.0
steps:
  - id: again
    type: loop
    title: Again
    loop: {type: for, count: 510, maxIterations: 600}
    body:
)";
  for (int i = 0; i < 20; ++i) {
    text += "      - {id: step-" + std::to_string(i) + ", title: Step, prompt: Do this.}\n";
  }
  return text;
}

struct Cost {
  std::int64_t statements = 0;
  IoCounts io;
};

// The cheapest of a few advances in the middle of an iteration: occasionally a page is full and splits, which is rare.
class CostOfAdvancing : public testing::Test {
 protected:
  CostOfAdvancing() {
    options_.vfs = vfs_.name();
    options_.checkpoint_bytes = std::int64_t{1} << 40;
    options_.close_checkpoint_bytes = std::int64_t{1} << 40;
    process_ = std::move(*SessionProcess::open(place_.path(), options_));
    // Another session: in a nearly empty store everything shares a few pages.
    begin();
    go_to(400);
    begin();
  }

  void begin() {
    const auto first = process_->start(loop_workflow());
    ASSERT_TRUE(first) << first.error().error.to_string();
    token_ = token_in(*first);
    position_ = 0;
  }

  void advance() {
    // Notes of equal length, so that rows of equal size are written.
    const auto answer = process_->continue_session(token_, std::string(200, 'n'));
    ASSERT_TRUE(answer) << answer.error().error.to_string();
    ASSERT_EQ(answer->line["kind"], Value("ok")) << to_json(answer->to_value());
    token_ = token_in(*answer);
    process_->clock.sleep_ms(1'000);
    ++position_;
  }
  void go_to(int position) {
    while (position_ < position && !HasFailure()) advance();
  }
  Cost measure() {
    std::optional<Cost> least;
    for (int i = 0; i < 8; ++i) {
      vfs_.reset_counts();
      const std::int64_t before = process_->store->cost().statements;
      advance();
      const Cost cost{process_->store->cost().statements - before, vfs_.counts()};
      EXPECT_EQ(cost.io.syncs, 1);
      if (!least) least = cost;
      EXPECT_EQ(cost.statements, least->statements);
      if (cost.io.bytes_written < least->io.bytes_written) least = cost;
    }
    return *least;
  }

  FaultVfs vfs_;
  TempSqliteStore place_;
  store::SqliteOptions options_;
  std::unique_ptr<SessionProcess> process_;
  std::string token_;
  int position_ = 0;
};

TEST_F(CostOfAdvancing, IsTheSameAtTenAndAtTenThousand) {
  go_to(10);
  const Cost early = measure();
  go_to(10'010);
  const Cost late = measure();
  EXPECT_EQ(early.statements, late.statements);
  EXPECT_EQ(early.io.syncs, 1);
  EXPECT_EQ(early.io.syncs, late.io.syncs);
  EXPECT_EQ(early.io.writes, late.io.writes);
  EXPECT_EQ(early.io.bytes_written, late.io.bytes_written);
  EXPECT_EQ(early.io.reads, late.io.reads);
  EXPECT_EQ(process_->store->cost().unindexed_steps, 0);
  std::printf("an advance: %ld statements, %ld pages read, %ld writes of %ld bytes, %ld sync\n",
              static_cast<long>(late.statements), static_cast<long>(late.io.reads), static_cast<long>(late.io.writes),
              static_cast<long>(late.io.bytes_written), static_cast<long>(late.io.syncs));
}

// Resuming a long session reads as many notes as fit, and not its log.
TEST_F(CostOfAdvancing, ResumingALongSessionReadsNoMoreThanResumingAShortOne) {
  const auto statements_of_opening = [&] {
    auto other = SessionProcess::open(place_.path(), options_);
    EXPECT_TRUE(other);
    const std::int64_t before = (*other)->store->cost().statements;
    EXPECT_TRUE((*other)->sessions.rehydrate(token_));
    return (*other)->store->cost().statements - before;
  };
  go_to(190);  // enough to fill the recall
  const std::int64_t early = statements_of_opening();
  go_to(990);
  EXPECT_EQ(statements_of_opening(), early);
}

constexpr const char* kSubmitting = R"(
id: submitting
name: Submitting
description: Every way in which an artifact is stored.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: Look at it.}
  - {id: plan, title: Plan, prompt: Plan it., requireConfirmation: true}
  - id: ask
    type: parallel
    title: Ask
    parallelDelegations: [{id: one, workflowId: asked-flow, goal: Do it}]
  - {id: build, title: Build, prompt: Build it.}
)";
constexpr const char* kAsked = R"(
id: asked-flow
name: Asked
description: One step.
version: 1.0.0
steps:
  - {id: work, title: Work, prompt: Do it.}
)";

// Serializing, hashing and writing large artifacts is what an advance costs most.
class ArtifactPuts : public testing::Test {
 protected:
  ArtifactPuts() {
    place_.sessions = std::make_unique<Sessions>(store_, place_.inbox.inbox, place_.inbox.clock, place_.inbox.random,
                                                 place_.commands);
  }

  // Submits both artifacts.
  SessionResponse submit(const SessionResponse& at, std::string notes) {
    store_.puts.clear();
    return place_.continue_session(at, {.notes = std::move(notes), .artifacts = {first_, second_}});
  }
  // How often each of them was stored since.
  std::vector<int> puts() const {
    std::vector<int> counts;
    for (const Value* artifact : {&first_, &second_}) {
      const auto found = store_.puts.find(to_canonical_json(*artifact));
      counts.push_back(found == store_.puts.end() ? 0 : found->second);
    }
    return counts;
  }

  const Value first_ = Value::object({{"kind", "report"}, {"text", std::string(5'000, 'r')}});
  const Value second_ = Value::object({{"kind", "table"}, {"text", std::string(5'000, 't')}});
  SessionTestHome place_;
  CountingStore store_{*place_.inbox.store};
};

TEST_F(ArtifactPuts, EachArtifactIsStoredOncePerAdvance) {
  using testing::ElementsAre;
  place_.around.add_workflow(kAsked);
  const SessionResponse look = place_.start(kSubmitting);
  const SessionResponse refused = submit(look, "");
  EXPECT_EQ(SessionTestHome::kind(refused), "blocked");
  EXPECT_THAT(puts(), ElementsAre(1, 1)) << "refused";

  const SessionResponse plan = submit(refused, "Done.");
  EXPECT_EQ(SessionTestHome::step(plan), "plan");
  EXPECT_THAT(puts(), ElementsAre(1, 1)) << "advanced";

  const SessionResponse gate = submit(plan, "Planned.");
  EXPECT_EQ(SessionTestHome::kind(gate), "awaiting_decision");
  EXPECT_THAT(puts(), ElementsAre(1, 1)) << "at the gate";

  place_.decide(gate, "approve");
  store_.puts.clear();
  const SessionResponse ask = place_.poll(gate);
  EXPECT_EQ(SessionTestHome::step(ask), "ask");
  EXPECT_THAT(puts(), ElementsAre(0, 0)) << "approved: they are stored already";

  place_.continue_session(ask.line["children"].items()[0].string_at("continueToken").value_or(""));
  const SessionResponse build = submit(ask, "Joined.");
  EXPECT_EQ(SessionTestHome::step(build), "build");
  EXPECT_THAT(puts(), ElementsAre(1, 1)) << "joined";
}

}  // namespace
}  // namespace sb::engine

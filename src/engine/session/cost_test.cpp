// The cost of an advance does not depend on the length of the session: the same statements, pages and bytes and one
// sync, at step ten and at step ten thousand.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace sb::engine

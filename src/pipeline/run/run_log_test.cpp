#include "pipeline/run/run_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "inbox/testing.hpp"
#include "pipeline/plan/testing.hpp"

namespace sb::pipeline {
namespace {

class RunLogTest : public testing::Test {
 protected:
  RunLog log() { return {*place_.store, place_.clock}; }
  static Value opened(const std::string& run, const std::string& goal = "Do it") {
    return Value::object({{"v", 1},
                          {"run", run},
                          {"goal", goal},
                          {"ticket", Value::object({{"title", "T"}, {"body", ""}, {"id", "T-1"}})},
                          {"ticket_hash", "h"},
                          {"workspace", "/w"},
                          {"repository", "/w"},
                          {"settings_hash", "s"}});
  }
  inbox::InboxTestBed place_;
};

TEST_F(RunLogTest, AppendsOnlyAtTheExpectedHead) {
  ASSERT_TRUE(log().append("r-1", 0, "opened", opened("r-1")));
  const auto late = log().append("r-1", 0, "routed", Value::object());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kConflict);
  ASSERT_TRUE(log().append_at_head("r-1", "stop_asked", Value::object({{"by", "kim"}})));
  const auto state = log().state("r-1");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->events, 2);
  EXPECT_TRUE(state->stop_requested);
}

// An event that cannot be folded does not update the summary either.
TEST_F(RunLogTest, RejectsInvalidEvents) {
  EXPECT_FALSE(log().append("r-1", 0, "routed", Value::object({{"mode", "FULL"}})));
  ASSERT_TRUE(log().append("r-1", 0, "opened", opened("r-1")));
  EXPECT_FALSE(log().append("r-1", 1, "phase_ended", Value::object({{"phase", "coding"}})));
  EXPECT_FALSE(log().append("r-1", 1, "routed", Value::object({{"mode", "SIDEWAYS"}})));
  EXPECT_EQ(log().state("r-1")->events, 1);
}

TEST_F(RunLogTest, ListsTheNewestFirst) {
  ASSERT_TRUE(log().append("r-1", 0, "opened", opened("r-1", "First")));
  place_.clock.sleep_ms(5);
  ASSERT_TRUE(log().append("r-2", 0, "opened", opened("r-2", "Second")));
  ASSERT_TRUE(log().append("r-1", 1, "ended", Value::object({{"outcome", "merged"}, {"reason", ""}})));
  const auto page = log().list({.limit = 10});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->runs.size(), 2u);
  EXPECT_EQ(page->runs[0].string_at("goal"), "Second");
  EXPECT_EQ(page->runs[1].string_at("status"), "merged");
  EXPECT_EQ(page->runs[1].string_at("ticket"), "T-1");
  const auto first = log().list({.limit = 1});
  EXPECT_EQ(first->facts.total, 2);
  EXPECT_EQ(first->facts.more, 1);
  EXPECT_EQ(log().list({.limit = 1, .after = first->facts.next})->runs[0].string_at("ticket"), "T-1");
}

TEST_F(RunLogTest, FindsRunsByIdPrefix) {
  ASSERT_TRUE(log().append("r-abc1", 0, "opened", opened("r-abc1")));
  place_.clock.sleep_ms(5);
  ASSERT_TRUE(log().append("r-abc2", 0, "opened", opened("r-abc2")));
  EXPECT_EQ(log().resolve("last"), "r-abc2");
  EXPECT_EQ(log().resolve("r-abc1"), "r-abc1");
  EXPECT_EQ(log().resolve("r-abc").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(log().resolve("x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(log().resolve("").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(log().resolve(std::string(10'000, 'r')));
}

TEST_F(RunLogTest, StoresBlobsWithTheirEvent) {
  ASSERT_TRUE(log().append("r-1", 0, "opened", opened("r-1"), {"bytes"}));
  EXPECT_EQ(log().blob(sha256_hex("bytes")), "bytes");
  EXPECT_EQ(log().blob(sha256_hex("others")).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(log().blob("zz"));
}

TEST(RunFold, CountsOnlyTheTimeAgentsWork) {
  std::vector<RunEvent> events;
  TimestampMs now = 1'000;
  const auto add = [&](const std::string& type, Value payload, std::int64_t after) {
    now += after;
    events.push_back({static_cast<std::int64_t>(events.size()) + 1, now, type, std::move(payload)});
  };
  const Value phase = Value::object({{"phase", "coding"}, {"round", 0}, {"attempt", 1}});
  add("opened", Value::object({{"v", 1}, {"run", "r-1"}, {"goal", "x"}}), 0);
  add("phase_started", phase, 10);
  add("asked", Value::object({{"question", "session"}, {"decision", "d"}, {"packet", Value::object()}}), 100);
  add("decided", Value::object({{"question", "session"}, {"decision", "d"}, {"choice", "approve"}}), 1'000'000);
  add("parked", Value::object({{"until", 5}, {"reason", "outage"}}), 30);
  add("woken", Value::object(), 1'000'000);
  add("resumed", Value::object(), 1'000'000);  // no process in between
  Value ended = phase;
  ended.set("state", "complete");
  ended.set("result", Value::object({{"kind", "fallback"}}));
  add("phase_ended", ended, 7);
  const auto state = fold_run(events);
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_EQ(state->worked_ms, 137);
}

TEST(RunFold, AHaltedRunShowsTheReasonUntilItIsResumed) {
  std::vector<RunEvent> events = {
      {1, 10, "opened", Value::object({{"v", 1}, {"run", "r-1"}})},
      {2, 20, "phase_started", Value::object({{"phase", "coding"}, {"round", 0}, {"attempt", 1}})},
      {3, 50, "halted", Value::object({{"reason", "the disk is full"}})}};
  auto state = fold_run(events);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status(), "halted");
  EXPECT_EQ(state->to_value().string_at("halted"), "the disk is full");
  EXPECT_EQ(state->worked_ms, 30);
  events.push_back({4, 1'000'000, "resumed", Value::object()});
  events.push_back({5, 1'000'005, "parked", Value::object({{"until", 5}})});
  state = fold_run(events);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status(), "parked");
  EXPECT_EQ(state->halted, "");
  EXPECT_EQ(state->worked_ms, 35);  // no work while it was halted
}

TEST(RunFold, RejectsEventsThatAreNotARun) {
  EXPECT_FALSE(fold_run({}));
  EXPECT_FALSE(fold_run({{1, 0, "opened", Value::object({{"v", 2}})}}));
  EXPECT_FALSE(fold_run({{1, 0, "opened", Value("text")}}));
}

TEST(RunFold, NamesTheEventAndTheMemberThatIsDamaged) {
  const auto state = fold_run({{1, 0, "opened", Value::object({{"v", 1}, {"run", "r-1"}})},
                               {2, 0, "parked", Value::object({{"until", "soon"}})}});
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(state.error().message, R"(event 2 (parked) of the run is damaged: "until" is not a whole number)");
}

TEST_F(RunLogTest, RefusesEventsOfANewerVersion) {
  ASSERT_TRUE(log().append("r-1", 0, "opened", opened("r-1")));
  EXPECT_EQ(log().append("r-1", 1, "something_new", Value::object()).error().code, ErrorCode::kUnsupported);
  ASSERT_TRUE(place_.append("run/r-1", "something_new"));
  const auto state = log().state("r-1");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(state.error().to_string(),
            R"(event 2 of run/r-1 has the unknown type "something_new" and was written by a newer version of )"
            "Signalbox. Use that version.");
  const auto stopped = log().append_at_head("r-1", "stop_asked", Value::object({{"by", "kim"}}));
  EXPECT_EQ(stopped.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(log().read("r-1")->size(), 2u);
}

TEST(RunState, PrintsTheWholeRun) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "clean"};
  walk.run();
  const Value value = walk.state.to_value();
  EXPECT_EQ(value.string_at("run"), "r-1");
  EXPECT_EQ(value.string_at("outcome"), "merged");
  EXPECT_EQ(value["phases"].size(), 6u);
  EXPECT_EQ(value["delivery"].size(), 17u);
  EXPECT_TRUE(parse_json(to_json(value)));
}

}  // namespace
}  // namespace sb::pipeline

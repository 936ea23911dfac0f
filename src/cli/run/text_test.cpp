#include "cli/run/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/text/unicode.hpp"

namespace sb::cli {
namespace {

using pipeline::RunEvent;
using pipeline::RunState;
using testing::HasSubstr;
using testing::Not;

TEST(RunText, TurnsAreCountedInSingularAndPlural) {
  EXPECT_EQ(turn_count_text(1), "1 turn");
  EXPECT_EQ(turn_count_text(12), "12 turns");
}

TEST(RunText, CutsToColumns) {
  EXPECT_EQ(one_line("abc", 3), "abc");
  EXPECT_EQ(one_line("abcd", 3), "ab…");
  EXPECT_EQ(one_line("a\nb", 5), "a b");
  EXPECT_EQ(one_line("äöü", 3), "äöü");
  EXPECT_EQ(one_line("", 3), "");
  EXPECT_EQ(one_line("漢字漢字", 5), "漢字…");
  EXPECT_EQ(one_line("abc", 0), "");
}

TEST(RunText, RemovesControlSequences) {
  const std::string line = one_line("a\x1b[2Jb\a\r\xff", 100);
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  EXPECT_TRUE(is_utf8(line));
}

TEST(RunText, TokenCountsAndDurations) {
  EXPECT_EQ(token_count_text(999), "999");
  EXPECT_EQ(token_count_text(12'345), "12.3k");
  EXPECT_EQ(token_count_text(2'000'000), "2.0M");
  EXPECT_EQ(duration_text(59'999), "59s");
  EXPECT_EQ(duration_text(61'000), "1m01s");
  EXPECT_EQ(duration_text(3'720'000), "1h02m");
  EXPECT_EQ(duration_text(-5), "0s");
}

RunState state_with_phase() {
  RunState state;
  state.id = "r-1";
  state.goal = "Fix\x1b[31m the export " + std::string(300, 'x');
  pipeline::PhaseRecord record;
  record.phase = pipeline::Phase::kCoding;
  record.session = "s-1";
  record.started_at = 1'000;
  state.phases.push_back(record);
  return state;
}

TEST(RunText, BlockFitsItsWidth) {
  const RunState state = state_with_phase();
  PhaseProgress now;
  now.step = "build-slice";
  now.doing = "Bash " + std::string(500, 'y') + "\x1b[2J";
  now.turns = 3;
  for (const int width : {20, 40, 80, 200}) {
    for (const std::string& line : run_block(state, now, {.now = 62'000, .width = width})) {
      EXPECT_LE(count_code_points(line), static_cast<std::size_t>(width)) << line;
      EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    }
  }
  const auto lines = run_block(state, now, {.now = 62'000, .width = 80});
  EXPECT_THAT(lines[1], HasSubstr("coding"));
  EXPECT_THAT(lines[1], HasSubstr("build-slice"));
  EXPECT_THAT(lines[1], HasSubstr("1m01s"));
}

TEST(RunText, ShowsWhatARunWaitsForAndUntilWhen) {
  ::setenv("TZ", "XYZ-2", 1);  // two hours east of Greenwich
  ::tzset();
  RunState state = state_with_phase();
  const TimestampMs noon = *parse_rfc3339("2026-11-15T12:00:00.000Z");
  const BlockStyle style{.now = noon, .width = 120};
  PhaseProgress now;
  now.doing = "Bash make";
  now.waits_until = noon + 57'000;
  now.wait_reason = "answered 429";
  EXPECT_THAT(run_block(state, now, style)[2],
              HasSubstr("waiting for the model until 14:00:57 XYZ (in 57s): answered 429"));
  now.waits_until = noon;
  EXPECT_THAT(run_block(state, now, style)[2], HasSubstr("Bash make"));
  state.parked_until = noon + 86'400'000;
  state.parked_reason = "answered 529";
  EXPECT_THAT(run_block(state, {}, style),
              testing::Contains(HasSubstr("parked until 2026-11-16 14:00:00 XYZ (in 24h00m): answered 529")));
  const RunEvent parked{2, noon, "parked", Value::object({{"reason", "answered 529"}})};
  EXPECT_EQ(event_line(state, parked), "parked until 2026-11-16 14:00:00 XYZ (in 24h00m): answered 529");
}

TEST(RunText, ColourOnlyIfRequested) {
  const RunState state = state_with_phase();
  const auto lines = run_block(state, {}, {.now = 2'000, .width = 80, .has_colour = true});
  EXPECT_THAT(lines[0], testing::StartsWith("\x1b[1m"));
  EXPECT_THAT(run_page(state, {.word = "running"}, false), Not(HasSubstr("\x1b")));
}

TEST(RunText, OneLinePerEvent) {
  RunState state = state_with_phase();
  const auto line = [&](const std::string& type, Value payload) {
    return event_line(state, RunEvent{1, 0, type, std::move(payload)});
  };
  EXPECT_EQ(line("routed", Value::object({{"mode", "FULL"}})), "mode FULL");
  EXPECT_EQ(line("escalated", Value::object({{"phase", "merge"}, {"reason", "no\nroom"}})),
            "escalated (merge): no room");
  EXPECT_EQ(
      line("delivered", Value::object({{"step", "scope"},
                                       {"passed", false},
                                       {"findings", Value(Value::Array{Value::object({{"summary", "x.txt"}})})}})),
      "delivery: scope failed; x.txt");
  EXPECT_EQ(line("something_new", Value::object()), "");
}

TEST(RunText, ResultNamesTheOpenQuestion) {
  RunState state = state_with_phase();
  state.asked.push_back({.question = "merge", .decision = "d-1", .packet = {}, .choice = {}, .by = {}, .remark = {}});
  state.waits_for = "a person";
  const Value value = result_of(state, {.word = "waiting for you"});
  EXPECT_EQ(value.string_at("status"), "waiting");
  EXPECT_EQ(value.string_at("decision"), "d-1");
  EXPECT_EQ(value.string_at("waits_for"), "a person");
}

}  // namespace
}  // namespace sb::cli

// Phases with incomplete results, and how their mark is passed on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kPhases =
    "phases: {discovery: small.discovery, shaping: SHAPING, coding: small.coding, review: small.review, fix: "
    "small.fix, audit: small.audit}\n";

std::string with_shaping(const std::string& workflow, const std::string& more = {}) {
  std::string text = kPhases;
  text.replace(text.find("SHAPING"), 7, workflow);
  return text + more;
}

constexpr const char* kNotes = "The answer belongs into answer.txt and nowhere else, whatever the check is named.";

Value degraded_of(const RunFixture& place, const std::string& phase) {
  for (const Value& event : place.events("phase_ended")) {
    if (event["payload"]["phase"] == Value(phase)) return event["payload"]["result"]["degraded"];
  }
  return {};
}

TEST(PartialPhase, D06_ItsNotesArePassedOnAndTheMarkIsRepeatedToTheEnd) {
  RunFixture place(SB_PROGRAM);
  place.configure(with_shaping("loose.shaping"));
  place.script(lines({discovered(), Line("loose.shaping").complete(kNotes),
                      Line("coding").step("build").expect(kNotes).call(
                          "Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}),
                      Line("review").expect("shaping").expect("partial").complete(long_notes(), {verdict("clean")})}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  for (const char* phase : {"coding", "review"}) {
    const Value degraded = degraded_of(place, phase);
    ASSERT_TRUE(degraded.is_array()) << phase;
    ASSERT_THAT(degraded.items(), SizeIs(1)) << phase;
    EXPECT_EQ(degraded.items()[0]["phase"], Value("shaping"));
    EXPECT_EQ(degraded.items()[0]["kind"], Value("partial"));
  }
  EXPECT_FALSE(degraded_of(place, "discovery").is_array() && degraded_of(place, "discovery").size() > 0);
}

TEST(PartialPhase, IsRetriedOnceIfThePolicySaysSo) {
  RunFixture place(SB_PROGRAM);
  place.configure(with_shaping("loose.shaping", "on_partial: retry_once\n"));
  place.script(lines({discovered(), Line("loose.shaping").complete(kNotes),
                      Line("loose.shaping").complete(long_notes(), {shaping_handoff()}), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(place.events("phase_ended"), SizeIs(5));
  const Value degraded = degraded_of(place, "review");
  EXPECT_TRUE(!degraded.is_array() || degraded.size() == 0) << to_json(degraded);
}

TEST(PartialPhase, ThatStaysPartialAfterTheRetryContinuesWithTheMark) {
  RunFixture place(SB_PROGRAM);
  place.configure(with_shaping("loose.shaping", "on_partial: retry_once\n"));
  place.script(lines({discovered(), Line("loose.shaping").complete(kNotes), Line("loose.shaping").complete(kNotes),
                      coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_GE(degraded_of(place, "review").size(), 1u);
}

TEST(PartialPhase, GoesToAPersonIfThePolicySaysSo) {
  RunFixture place(SB_PROGRAM);
  place.configure(with_shaping("loose.shaping", "on_partial: escalate\n"));
  place.script(lines({discovered(), Line("loose.shaping").complete(kNotes), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("shaping"));
  const ProgramResult on = place.answer_and_resume("proceed");
  EXPECT_EQ(on.code, 1) << on.output << on.errors;  // after an escalation the run asks about merging
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
}

TEST(FallbackPhase, GoesToAPersonUnderAnyPolicy) {
  RunFixture place(SB_PROGRAM);
  place.configure(with_shaping("silent.shaping", "on_partial: proceed\n"));
  place.script(lines({discovered(), Line("silent.shaping").call("complete_step", Value::object({{"notes", ""}})),
                      Line("silent.shaping").call("complete_step", Value::object())}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  const ProgramResult stopped = place.answer_and_resume("stop");
  EXPECT_EQ(place.shown()["outcome"], Value("stopped")) << stopped.output << stopped.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "");
}

TEST(Findings, AreTheFixersTaskHoweverManyThereAre) {
  RunFixture place(SB_PROGRAM);
  Value::Array many;
  for (int i = 1; i <= 60; ++i)
    many.push_back(finding("minor", fmt::format("marker-{:02} {}", i, std::string(150, 'x'))));
  place.script(lines({discovered(), shaped(), coded(), reviewed("minor", many),
                      Line("fix").expect("marker-01").expect("marker-60").complete(long_notes(), {coding_handoff()}),
                      reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Findings, OfManyChecksThatFailReachTheFixer) {
  RunFixture place(SB_PROGRAM);
  std::string checks;
  for (int i = 0; i < 5; ++i) {
    checks += fmt::format("{}{{name: c{}, run: 'grep -q tidy *.txt || {{ seq 1 900; echo marker-{}; exit 1; }}'}}",
                          i == 0 ? "" : ", ", i, i);
  }
  place.configure("checks: [" + checks + "]");
  Line first("fix");
  for (int i = 0; i < 5; ++i) first.expect(fmt::format("marker-{}", i));
  place.script(lines({discovered(), shaped(), coded(),
                      first.call("Bash", Value::object({{"command", "echo tidy >> answer.txt"}})),
                      Line("fix").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

}  // namespace
}  // namespace sb::pipeline_tests

#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string step(const std::string& id, const std::string& more = "") {
  return "{id: " + id + ", title: T, prompt: P, notesOptional: true" + (more.empty() ? "" : ", " + more) + "}";
}

std::string loop(const std::string& id, const std::string& how, const std::string& body, const std::string& more = "") {
  return "{id: " + id + ", type: loop, title: L, loop: {" + how + "}, body: [" + body + "]" +
         (more.empty() ? "" : ", " + more) + "}";
}

const char* const kControl = "outputContract: {contractRef: wr.contracts.loop_control}";

Submission sets(const std::string& context) {
  Submission submission;
  submission.context = json(context);
  return submission;
}

Submission says(const std::string& decision, const std::string& loop_id = "") {
  Submission submission;
  submission.artifacts = {loop_control(decision, loop_id)};
  return submission;
}

// Delivers until the end, at most `most` times.
void run(SessionSimulator& journey, int most = 100) {
  for (int i = 0; i < most && !journey.is_over() && !testing::Test::HasFailure(); ++i) {
    if (journey.tip().kind == NodeKind::kStep) {
      journey.deliver({});
    } else {
      journey.settle();
    }
  }
}

TEST(Cursor, GoesThroughTheStepsInOrder) {
  SessionSimulator journey(program_of("[" + step("one") + "," + step("two") + "," + step("three") + "]"));
  run(journey);
  EXPECT_THAT(journey.opened(), ElementsAre("one", "two", "three", ""));
  EXPECT_EQ(journey.summary().status, SessionStatus::kComplete);
}

TEST(Cursor, TestsTheConditionOfTheFirstStepToo) {
  SessionSimulator journey(program_of("[" + step("one", "runCondition: {var: big}") + "," + step("two") + "]"));
  EXPECT_THAT(journey.opened(), ElementsAre("two"));
  const auto skipped = journey.payloads("step_skipped");
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0]["step"], Value("one"));
  EXPECT_EQ(skipped[0]["node"], Value(1));
  EXPECT_NE(skipped[0].string_at("condition").value_or(""), "");
  EXPECT_TRUE(skipped[0].find("saw") != nullptr);
}

TEST(Cursor, EndsImmediatelyIfEverythingIsSkipped) {
  SessionSimulator journey(program_of("[" + step("one", "runCondition: {var: big}") + "]"));
  EXPECT_THAT(journey.opened(), ElementsAre(""));
  EXPECT_TRUE(journey.is_over());
}

TEST(Pain10, ASkippedStepIsNotRunLater) {
  SessionSimulator journey(program_of("[" + step("s-one") + "," +
                                      step("s-two", "runCondition: {var: late, equals: true}") + "," + step("s-three") +
                                      "," + step("s-four") + "]"));
  journey.deliver({});
  EXPECT_EQ(journey.tip().position.step, "s-three");
  journey.deliver(sets(R"({"late": true})"));
  EXPECT_EQ(journey.tip().position.step, "s-four");
  run(journey);
  EXPECT_THAT(journey.opened(), ElementsAre("s-one", "s-three", "s-four", ""));
}

TEST(Pain10, WhatTheConditionSawIsRecorded) {
  SessionSimulator journey(program_of("[" + step("one") + "," + step("two", "runCondition: {var: size, gt: 3}") + "]"));
  journey.deliver(sets(R"({"size": 2, "other": 1})"));
  const auto skipped = journey.payloads("step_skipped");
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0]["saw"], json(R"({"size": 2})"));
}

TEST(Cursor, RecordsOnlyTheSizeOfLargeValuesItSaw) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two", "runCondition: {var: text, equals: x}") + "]"));
  Submission submission;
  submission.context = Value::object({{"text", std::string(100'000, 'a')}});
  journey.deliver(submission);
  EXPECT_LT(to_json(journey.payloads("step_skipped").at(0)).size(), 500u);
}

struct Counted {
  const char* name;
  const char* how;
  const char* context;
  std::vector<std::string> opened;
  const char* reason;
};
void PrintTo(const Counted& row, std::ostream* out) {
  *out << row.name;
}

class CountedLoops : public testing::TestWithParam<Counted> {};

TEST_P(CountedLoops, Iterate) {
  const Counted& row = GetParam();
  SessionSimulator journey(program_of("[" + loop("each", row.how, step("body")) + "]"), json(row.context));
  run(journey);
  EXPECT_EQ(journey.opened(), row.opened);
  const auto left = journey.payloads("loop_left");
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["reason"], Value(row.reason));
  EXPECT_EQ(left[0]["iterations"], Value(row.opened.size() - 1));
}

INSTANTIATE_TEST_SUITE_P(
    Table, CountedLoops,
    testing::Values(
        Counted{"a number", "type: for, count: 2, maxIterations: 5", "{}", {"each@0/body", "each@1/body", ""}, "count"},
        Counted{"no rounds", "type: for, count: 0, maxIterations: 5", "{}", {""}, "count"},
        Counted{"a key", "type: for, count: n, maxIterations: 5", R"({"n": 1})", {"each@0/body", ""}, "count"},
        Counted{
            "a whole float", "type: for, count: n, maxIterations: 5", R"({"n": 1.0})", {"each@0/body", ""}, "count"},
        Counted{
            "items", "type: forEach, items: xs, maxIterations: 5", R"({"xs": ["a"]})", {"each@0/body", ""}, "items"},
        Counted{"no items", "type: forEach, items: xs, maxIterations: 5", R"({"xs": []})", {""}, "items"},
        Counted{"while", "type: while, condition: {var: go}, maxIterations: 2", R"({"go": false})", {""}, "condition"},
        Counted{"while by its own variable",
                "type: while, condition: {var: currentIteration, lte: 2}, maxIterations: 9",
                "{}",
                {"each@0/body", "each@1/body", ""},
                "condition"},
        Counted{"until by its own variable",
                "type: until, condition: {var: currentIteration, gt: 1}, maxIterations: 9",
                "{}",
                {"each@0/body", ""},
                "condition"},
        Counted{"until", "type: until, condition: {var: done}, maxIterations: 2", R"({"done": 1})", {""}, "condition"},
        Counted{"while to its limit",
                "type: while, condition: {var: go}, maxIterations: 2",
                R"({"go": 1})",
                {"each@0/body", "each@1/body", ""},
                "limit"},
        Counted{"for beyond its limit", "type: for, count: 3, maxIterations: 1", "{}", {"each@0/body", ""}, "limit"}));

TEST(Pain12, ForEachBeyondMaxIterationsIsReported) {
  SessionSimulator journey(
      program_of("[" + loop("each", "type: forEach, items: xs, maxIterations: 2", step("body")) + "]"),
      json(R"({"xs": [1, 2, 3, 4, 5]})"));
  journey.deliver({});
  const AdvanceResult outcome = journey.deliver({});
  ASSERT_EQ(outcome.notes_to_agent.size(), 1u);
  EXPECT_THAT(outcome.notes_to_agent[0], HasSubstr("3 items were not visited"));
  const auto left = journey.payloads("loop_left");
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["left_over"], Value(3));
  EXPECT_EQ(left[0]["wanted_more"], Value(true));
}

TEST(Pain12, ContinueAtTheLimitIsReported) {
  SessionSimulator journey(program_of(
      "[" + loop("audit", "type: while, condition: {var: go}, maxIterations: 2", step("look", kControl)) + "]"));
  EXPECT_THAT(journey.deliver(says("continue")).notes_to_agent, IsEmpty());
  const AdvanceResult last = journey.deliver(says("continue"));
  ASSERT_EQ(last.notes_to_agent.size(), 1u);
  EXPECT_THAT(last.notes_to_agent[0], HasSubstr("limit of 2 iterations"));
  EXPECT_EQ(journey.payloads("loop_left").at(0)["wanted_more"], Value(true));
  EXPECT_TRUE(journey.is_over());
}

TEST(Pain12, StopAtTheLimitGivesNoWarning) {
  SessionSimulator journey(program_of(
      "[" + loop("audit", "type: while, condition: {var: go}, maxIterations: 1", step("look", kControl)) + "]"));
  EXPECT_THAT(journey.deliver(says("stop")).notes_to_agent, IsEmpty());
  EXPECT_EQ(journey.payloads("loop_left").at(0)["reason"], Value("stop"));
}

TEST(Pain12, AStopFromAnotherBodyStepDoesNotLeaveMidBody) {
  SessionSimulator journey(program_of("[" +
                                      loop("audit", "type: while, condition: {var: go}, maxIterations: 3",
                                           step("draft") + "," + step("look", kControl) + "," + step("fix")) +
                                      "]"));
  const AdvanceResult outcome = journey.deliver(says("stop"));
  EXPECT_EQ(place_of(journey.tip().position), "audit@0/look");
  ASSERT_EQ(outcome.notes_to_agent.size(), 1u);
  EXPECT_THAT(outcome.notes_to_agent[0], HasSubstr("not requested"));
  EXPECT_EQ(journey.payloads("output_recorded").at(0)["unsolicited"].size(), 1u);
  journey.deliver(says("continue"));
  EXPECT_EQ(place_of(journey.tip().position), "audit@0/fix");
  journey.deliver({});
  journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "audit@1/look");
  journey.deliver(says("stop"));
  EXPECT_TRUE(journey.is_over());
}

TEST(Pain12, AConditionIsNotTestedMidBody) {
  SessionSimulator journey(
      program_of("[" +
                 loop("work", "type: while, condition: {var: go}, maxIterations: 5", step("one") + "," + step("two")) +
                 "]"),
      json(R"({"go": true})"));
  journey.deliver(sets(R"({"go": false})"));
  EXPECT_EQ(place_of(journey.tip().position), "work@0/two");
  journey.deliver({});
  EXPECT_TRUE(journey.is_over());
}

TEST(ArtifactLoop, IsAlwaysEntered) {
  SessionSimulator journey(program_of(
      "[" + loop("audit", "type: until, condition: {var: go}, maxIterations: 3", step("look", kControl)) + "]"));
  EXPECT_THAT(journey.opened(), ElementsAre("audit@0/look"));
}

const char* const kNested =
    "type: while, maxIterations: 2, conditionSource: {kind: artifact_contract, contractRef: "
    "wr.contracts.loop_control, loopId: ";

TEST(ArtifactLoop, ADecisionForAnotherEnclosingLoopIsIgnored) {
  const auto program = program_of(
      "[" +
      loop("outer", std::string(kNested) + "the-outer}",
           loop("inner", std::string(kNested) + "the-inner}", step("look", kControl)) + "," + step("rest", kControl)) +
      "]");
  for (const char* id : {"the-outer", "outer"}) {
    SessionSimulator journey(program);
    journey.deliver(says("stop", id));
    EXPECT_EQ(place_of(journey.tip().position), "outer@0/inner@1/look") << id;
  }
  for (const char* id : {"the-inner", "inner", "", "an unknown name"}) {
    SessionSimulator journey(program);
    journey.deliver(says("stop", id));
    EXPECT_EQ(place_of(journey.tip().position), "outer@0/rest") << id;
  }
}

TEST(ArtifactLoop, WithoutACarrierTheLastBodyStepDecides) {
  SessionSimulator journey(program_of("[" +
                                      loop("audit",
                                           "type: while, maxIterations: 3, conditionSource: {kind: artifact_contract, "
                                           "contractRef: wr.contracts.loop_control}",
                                           step("draft") + "," + step("look")) +
                                      "]"));
  journey.deliver(says("stop"));
  EXPECT_EQ(place_of(journey.tip().position), "audit@0/look");
  EXPECT_THAT(journey.deliver(says("stop")).notes_to_agent, IsEmpty());
  EXPECT_TRUE(journey.is_over());
}

TEST(Loops, NestAndStartAgainInEachIteration) {
  SessionSimulator journey(program_of("[" +
                                      loop("outer", "type: for, count: 2, maxIterations: 9, iterationVar: outerRound",
                                           loop("inner", "type: forEach, items: xs, maxIterations: 9", step("body"))) +
                                      "," + step("end") + "]"),
                           json(R"({"xs": ["a", "b"]})"));
  run(journey);
  EXPECT_THAT(journey.opened(), ElementsAre("outer@0/inner@0/body", "outer@0/inner@1/body", "outer@1/inner@0/body",
                                            "outer@1/inner@1/body", "end", ""));
}

TEST(Loops, AnInnerLoopMayRunOverTheOuterItem) {
  SessionSimulator journey(
      program_of("[" +
                 loop("outer",
                      "type: forEach, items: groups, itemVar: group, indexVar: gi, iterationVar: gn, "
                      "maxIterations: 9",
                      loop("inner", "type: forEach, items: group.files, maxIterations: 9", step("body"))) +
                 "]"),
      json(R"({"groups": [{"files": ["a"]}, {"files": []}, {"files": ["b", "c"]}]})"));
  std::vector<std::string> files;
  while (!journey.is_over()) {
    const Node& tip = journey.tip();
    files.push_back(context_at(journey.program(), tip.position, journey.context(tip))["currentItem"].as_string());
    journey.deliver({});
  }
  EXPECT_THAT(files, ElementsAre("a", "b", "c"));
}

TEST(Loops, AListThatChangesDuringTheLoopIsReadAgain) {
  const auto program = program_of("[" + loop("each", "type: forEach, items: xs, maxIterations: 9", step("body")) + "]");
  SessionSimulator grows(program, json(R"({"xs": [1]})"));
  grows.deliver(sets(R"({"xs": [1, 2]})"));
  EXPECT_EQ(place_of(grows.tip().position), "each@1/body");
  SessionSimulator shrinks(program, json(R"({"xs": [1, 2, 3]})"));
  shrinks.deliver(sets(R"({"xs": [1]})"));
  EXPECT_TRUE(shrinks.is_over());
  SessionSimulator vanishes(program, json(R"({"xs": [1, 2, 3]})"));
  const AdvanceResult outcome = vanishes.deliver(sets(R"({"xs": null})"));
  ASSERT_EQ(outcome.blockers.size(), 1u);
  EXPECT_EQ(outcome.blockers[0].subject, "xs");
}

TEST(Loops, ALoopWithAFalseConditionIsSkippedEntirely) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," +
                 loop("each", "type: for, count: 2, maxIterations: 9", step("body"), "runCondition: {var: go}") + "]"));
  journey.deliver({});
  EXPECT_TRUE(journey.is_over());
  EXPECT_EQ(journey.payloads("step_skipped").at(0)["step"], Value("each"));
  EXPECT_THAT(journey.payloads("loop_entered"), IsEmpty());
}

TEST(Loops, ABodyOfSkippedStepsStillCountsIterations) {
  SessionSimulator journey(
      program_of("[" + loop("each", "type: for, count: 3, maxIterations: 9", step("body", "runCondition: {var: go}")) +
                 "," + step("end") + "]"));
  EXPECT_THAT(journey.opened(), ElementsAre("end"));
  EXPECT_EQ(journey.payloads("step_skipped").size(), 3u);
  EXPECT_EQ(journey.payloads("loop_left").at(0)["reason"], Value("count"));
}

TEST(Loops, NestedLoopsOfSkippedStepsTerminate) {
  std::string body = step("body", "runCondition: {var: go}");
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    body = loop("loop-" + n, "type: for, count: 1000, maxIterations: 1000, iterationVar: round" + n, body);
  }
  SessionSimulator journey(program_of("[" + body + "," + step("end") + "]"));
  EXPECT_THAT(journey.opened(), ElementsAre("end"));
  EXPECT_LT(journey.events().size(), limits::kSkippedStepsPerAdvance + 100);
  ASSERT_FALSE(journey.start().warnings.empty());
  EXPECT_THAT(journey.start().warnings[0], HasSubstr("were skipped"));
}

TEST(Loops, AKeyThatALoopNeedsBlocksTheStepBeforeIt) {
  struct Row {
    const char* how;
    const char* context;
    BlockerCode code;
    const char* key;
  };
  for (const Row& row :
       {Row{"type: forEach, items: xs, maxIterations: 9", "{}", BlockerCode::kMissingContext, "xs"},
        Row{"type: forEach, items: xs, maxIterations: 9", R"({"xs": "a"})", BlockerCode::kInvalidContext, "xs"},
        Row{"type: for, count: n, maxIterations: 9", "{}", BlockerCode::kMissingContext, "n"},
        Row{"type: for, count: n, maxIterations: 9", R"({"n": "3"})", BlockerCode::kInvalidContext, "n"},
        Row{"type: for, count: n, maxIterations: 9", R"({"n": 1.5})", BlockerCode::kInvalidContext, "n"},
        Row{"type: for, count: n, maxIterations: 9", R"({"n": -1})", BlockerCode::kInvalidContext, "n"},
        Row{"type: forEach, items: xs, maxIterations: 9, parallel: 2", "{}", BlockerCode::kMissingContext, "xs"}}) {
    SessionSimulator journey(program_of("[" + step("one") + "," + loop("each", row.how, step("body")) + "]"));
    const AdvanceResult outcome = journey.deliver(sets(row.context));
    ASSERT_EQ(outcome.kind, AdvanceResult::Kind::kBlocked) << row.how;
    ASSERT_EQ(outcome.blockers.size(), 1u) << row.how;
    EXPECT_EQ(outcome.blockers[0].code, row.code) << row.how;
    EXPECT_EQ(outcome.blockers[0].subject, row.key);
    EXPECT_THAT(outcome.blockers[0].message, HasSubstr("\"each\""));
    EXPECT_EQ(journey.tip().position.step, "one");
  }
}

}  // namespace
}  // namespace sb::engine

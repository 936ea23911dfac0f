// What a step says it is checked for is what its delivery is checked for, given the conditions ahead.
#include "engine/advance/keys_ahead.hpp"

#include <gmock/gmock.h>

#include "engine/answer/answer.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string listed(const SessionSimulator& journey) {
  return requirement_text(journey.program(), journey.tip().position,
                          context_at(journey.program(), journey.tip().position, journey.context(journey.tip())));
}

// `key`, or `key if STEP`.
std::vector<std::string> ahead_of(const SessionSimulator& journey) {
  const Value context = context_at(journey.program(), journey.tip().position, journey.context(journey.tip()));
  const Value required = requirements(journey.program(), journey.tip().position, context);
  std::vector<std::string> keys;
  for (const Value& capture : required["captures"].items()) {
    const auto only = capture.string_at("ifNext");
    keys.push_back(capture["key"].as_string() + (only ? " if " + *only : ""));
  }
  return keys;
}

const std::string kSized = R"([
  {id: size-up, title: Size it up, prompt: P},
  {id: plan-small, title: Plan it, prompt: P, runCondition: {var: size, equals: Small}},
  {id: plan, title: Plan, prompt: P, runCondition: {var: size, not_equals: Small}, needs: [approach]},
  {id: each, type: loop, title: Build, runCondition: {var: size, not_equals: Small},
   loop: {type: forEach, items: slices, maxIterations: 3}, body: [{id: build, title: B, prompt: P}]},
  {id: end, title: End, prompt: P}])";

TEST(KeysAhead, AStepThatConditionsRuleOutNeedsNothing) {
  SessionSimulator small(program_of(kSized), json(R"({"size":"Small"})"));
  small.deliver({.notes = "n"});
  ASSERT_EQ(small.tip().position.step, "plan-small");
  EXPECT_THAT(ahead_of(small), IsEmpty());
  EXPECT_EQ(small.deliver({.notes = "n"}).kind, AdvanceResult::Kind::kAdvanced);
  EXPECT_EQ(small.tip().position.step, "end");
}

TEST(KeysAhead, AStepThatSurelyComesNextNeedsItsKeysAndHidesWhatIsBehindIt) {
  const SessionSimulator large(program_of(kSized), json(R"({"size":"Large"})"));
  EXPECT_THAT(ahead_of(large), ElementsAre("approach"));
}

TEST(KeysAhead, WhatDependsOnAKeyThatIsNotSetYetSaysSo) {
  const SessionSimulator open(program_of(kSized));
  EXPECT_THAT(ahead_of(open), ElementsAre("approach if plan", "slices if each"));
  EXPECT_THAT(listed(open), HasSubstr("- Context key `approach`, if \"Plan\" comes next\n"));
  EXPECT_THAT(listed(open), HasSubstr("- Context key `slices` (array), if \"Build\" comes next\n"));
}

TEST(KeysAhead, AKeyThatTheStepItselfSetsDecidesNothingYet) {
  const SessionSimulator again(
      program_of(
          "[{id: one, title: T, prompt: P, needs: [xs], captures: {size: {type: string}}},{id: each, type: loop, "
          "title: L, runCondition: {var: size, equals: L}, loop: {type: forEach, items: xs, maxIterations: 3}, "
          "body: [{id: body, title: T, prompt: P}]}]"),
      json(R"({"size":"S","xs":"no list"})"));
  EXPECT_THAT(ahead_of(again), ElementsAre("size", "xs if each"));
}

TEST(KeysAhead, TheStepAfterALoopNeedsItsKeysInTheLastIterationOnly) {
  SessionSimulator journey(program_of("[{id: each, type: loop, title: L, loop: {type: forEach, items: xs, "
                                      "maxIterations: 5}, body: [{id: body, title: T, prompt: P}]},"
                                      "{id: end, title: End, prompt: P, needs: [size]}]"),
                           json(R"({"xs":[1,2]})"));
  EXPECT_THAT(ahead_of(journey), IsEmpty());
  journey.deliver({.notes = "n"});
  EXPECT_THAT(ahead_of(journey), ElementsAre("size"));
  EXPECT_EQ(journey.deliver({.notes = "n"}).kind, AdvanceResult::Kind::kBlocked);
}

TEST(KeysAhead, AfterADecisionOfALoopBothWaysAreOpen) {
  const SessionSimulator journey(program_of(
      "[{id: each, type: loop, title: L, loop: {type: while, maxIterations: 3, conditionSource: {kind: "
      "artifact_contract, contractRef: wr.contracts.loop_control}}, body: [{id: judge, title: T, prompt: P, "
      "outputContract: {contractRef: wr.contracts.loop_control}}]},{id: end, title: End, prompt: P, needs: [size]}]"));
  EXPECT_THAT(ahead_of(journey), ElementsAre("size if end"));
}

TEST(KeysAhead, AGateThatDependsOnWhatIsDeliveredSaysSo) {
  const auto program = program_of(
      "[{id: one, title: T, prompt: P, captures: {risk: {type: string}}, "
      "requireConfirmation: {var: risk, equals: High}},{id: two, title: T, prompt: P, "
      "requireConfirmation: {var: risk, equals: High}}]");
  SessionSimulator journey(program);
  EXPECT_THAT(listed(journey), HasSubstr("- It must be approved before the next step, if risk is \"High\".\n"));
  journey.deliver({.notes = "n", .context = json(R"({"risk":"Low"})")});
  EXPECT_THAT(listed(journey), Not(HasSubstr("approved")));
}

TEST(KeysAhead, AListIsListedWithTheFieldsThatItsLoopUses) {
  const SessionSimulator journey(program_of(
      "[{id: one, title: T, prompt: P},{id: each, type: loop, title: L, loop: {type: forEach, items: xs, "
      "itemVar: x, maxIterations: 5}, body: [{id: body, title: 'Do {{x.title}}', prompt: 'In {{x.file}}'}]}]"));
  EXPECT_THAT(listed(journey), HasSubstr("- Context key `xs` (array), each item with title, file\n"));
}

}  // namespace
}  // namespace sb::engine

// Jumps, needs, and the kinds of steps that are not delivered by an agent.
#include <gmock/gmock.h>

#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string step(const std::string& id, const std::string& more = "") {
  return "{id: " + id + ", title: T, prompt: P, notesOptional: true" + (more.empty() ? "" : ", " + more) + "}";
}

Submission sets(const std::string& context) {
  Submission submission;
  submission.context = json(context);
  return submission;
}

TEST(Jump, GoesBackAtMostTheAllowedTimes) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two") + "," +
                 step("three", "jumpIf: {when: {var: bad}, to: two, atMost: 2}") + "," + step("four") + "]"),
      json(R"({"bad": true})"));
  for (int i = 0; i < 6; ++i) journey.deliver({});
  EXPECT_THAT(journey.opened(), ElementsAre("one", "two", "three", "two", "three", "two", "three"));
  const AdvanceResult last = journey.deliver({});
  EXPECT_EQ(journey.tip().position.step, "four");
  ASSERT_EQ(last.notes_to_agent.size(), 1u);
  EXPECT_THAT(last.notes_to_agent[0], HasSubstr("2 of 2"));
  const auto jumped = journey.payloads("jumped");
  ASSERT_EQ(jumped.size(), 2u);
  EXPECT_EQ(jumped[1]["count"], Value(2));
  EXPECT_EQ(jumped[1]["to"], Value("two"));
}

TEST(Jump, IsNotTakenIfItsConditionIsFalse) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two", "jumpIf: {when: {var: bad}, to: one, atMost: 2}") + "]"));
  journey.deliver({});
  EXPECT_THAT(journey.deliver({}).notes_to_agent, IsEmpty());
  EXPECT_TRUE(journey.is_over());
}

TEST(Jump, SeesTheContextAfterItsStep) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two", "jumpIf: {when: {var: bad}, to: one, atMost: 2}") + "]"));
  journey.deliver({});
  journey.deliver(sets(R"({"bad": "yes"})"));
  EXPECT_EQ(journey.tip().position.step, "one");
}

const std::string kTwice = "type: for, count: 2, maxIterations: 5";

TEST(Jump, ToALoopStartsItAgain) {
  SessionSimulator journey(
      program_of("[{id: build, type: loop, title: L, loop: {" + kTwice + "}, body: [" + step("body") + "]}," +
                 step("rework", "jumpIf: {when: {var: bad}, to: build, atMost: 1}") + "]"),
      json(R"({"bad": true})"));
  for (int i = 0; i < 3; ++i) journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "build@0/body");
  EXPECT_EQ(journey.payloads("loop_entered").size(), 2u);
}

// Reading refuses such a jump; a pinned workflow that has one must still continue at a sensible step.
TEST(Jump, IntoALoopEntersTheLoop) {
  const auto bundle = workflow::compiled(
      workflow_text("[{id: build, type: loop, title: L, loop: {" + kTwice + "}, body: [" + step("body") + "," +
                    step("test") + "]}," + step("rework", "jumpIf: {when: {var: bad}, to: build, atMost: 1}") + "]"));
  auto changed = std::make_shared<workflow::CompiledWorkflow>(*bundle.back());
  changed->definition.steps[1].jump->to = "test";
  SessionSimulator journey(std::make_shared<Program>(changed), json(R"({"bad": true})"));
  for (int i = 0; i < 5; ++i) journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "build@0/body");
}

TEST(Jump, WithinALoopKeepsTheIteration) {
  SessionSimulator journey(program_of("[{id: build, type: loop, title: L, loop: {" + kTwice + "}, body: [" +
                                      step("body") + "," +
                                      step("test", "jumpIf: {when: {var: bad}, to: body, atMost: 1}") + "]}]"));
  for (int i = 0; i < 3; ++i) journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "build@1/test");
  journey.deliver(sets(R"({"bad": true})"));
  EXPECT_EQ(place_of(journey.tip().position), "build@1/body");
}

TEST(Jump, OutOfALoopLeavesIt) {
  SessionSimulator journey(program_of("[" + step("one") + ",{id: build, type: loop, title: L, loop: {" + kTwice +
                                      "}, body: [" + step("test", "jumpIf: {when: {var: bad}, to: one, atMost: 1}") +
                                      "]}]"));
  journey.deliver({});
  journey.deliver(sets(R"({"bad": true})"));
  EXPECT_EQ(place_of(journey.tip().position), "one");
  EXPECT_EQ(journey.payloads("loop_left").at(0)["reason"], Value("jump"));
}

TEST(Jump, IsCountedOnItsBranch) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two", "jumpIf: {when: {var: bad}, to: one, atMost: 1}") + "]"),
      json(R"({"bad": true})"));
  journey.deliver({});
  journey.deliver({});
  ASSERT_EQ(journey.opened().size(), 3u);
  journey.deliver_at(1, {});
  journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "one") << "the other branch's jump does not count here";
}

TEST(Needs, BlockTheStepBefore) {
  SessionSimulator journey(program_of("[" + step("one") + "," + step("two", "needs: [shape, size]") + "]"));
  const AdvanceResult outcome = journey.deliver({});
  ASSERT_EQ(outcome.blockers.size(), 1u);
  EXPECT_EQ(outcome.blockers[0].subject, "shape, size");
  EXPECT_EQ(outcome.blockers[0].code, BlockerCode::kMissingContext);
  journey.deliver(sets(R"({"shape": 1, "size": false})"));
  EXPECT_EQ(journey.tip().position.step, "two");
}

TEST(Needs, OfASkippedStepDoNotCount) {
  SessionSimulator journey(
      program_of("[" + step("one") + "," + step("two", "needs: [shape], runCondition: {var: big}") + "]"));
  journey.deliver({});
  EXPECT_TRUE(journey.is_over());
}

TEST(Needs, OfTheFirstStepAreMissingAtTheStart) {
  SessionSimulator journey(program_of("[" + step("one", "needs: [ticket]") + "]"));
  ASSERT_EQ(journey.start().missing.size(), 1u);
  EXPECT_EQ(journey.start().missing[0].subject, "ticket");
}

TEST(Decision, WaitsForAPerson) {
  SessionSimulator journey(program_of("[" + step("one") +
                                      ",{id: pick, type: decision, title: Pick, decision: {instruction: Which one?, "
                                      "optionsFrom: shapes}, captureAs: shape}," +
                                      step("two", "needs: [shape]") + "]"));
  EXPECT_EQ(journey.deliver({}).blockers.at(0).subject, "shapes");
  EXPECT_EQ(journey.deliver(sets(R"({"shapes": []})")).blockers.at(0).code, BlockerCode::kInvalidContext);
  EXPECT_EQ(journey.deliver(sets(R"({"shapes": [3]})")).blockers.at(0).code, BlockerCode::kInvalidContext);
  journey.deliver(sets(R"({"shapes": ["a", {"id": "b", "label": "B"}]})"));
  EXPECT_EQ(journey.tip().kind, NodeKind::kDecision);
  EXPECT_EQ(journey.summary().status, SessionStatus::kWaiting);
  EXPECT_FALSE(journey.settle().missing.empty()) << "nothing was captured";
  journey.settle(json(R"({"shape": "a"})"));
  EXPECT_EQ(journey.tip().position.step, "two");
  EXPECT_EQ(journey.summary().status, SessionStatus::kOpen);
}

class ChildNodes : public testing::Test {
 protected:
  ChildNodes() { around_.add_workflow(workflow_text("[" + step("inner") + "]", "")); }
  workflow::FakeResolver around_;
};

TEST_F(ChildNodes, OfACallAndOfAParallelStepAreJoined) {
  SessionSimulator journey(std::make_shared<Program>(
      workflow::compiled("{id: outer-flow, name: O, description: D, version: 1.0.0, steps: [" + step("one") +
                             ",{id: call, type: workflow, title: C, workflowId: test-flow, captureAs: got},"
                             "{id: both, type: parallel, title: B, parallelDelegations: [{workflowId: test-flow}]}," +
                             step("two") + "]}",
                         around_)
          .back()));
  journey.deliver({});
  EXPECT_EQ(journey.tip().kind, NodeKind::kChildren);
  EXPECT_EQ(place_of(journey.tip().position), "call");
  journey.settle(json(R"({"got": {"outcome": "complete"}})"));
  EXPECT_EQ(journey.tip().kind, NodeKind::kChildren);
  EXPECT_EQ(place_of(journey.tip().position), "both");
  journey.settle();
  EXPECT_EQ(place_of(journey.tip().position), "two");
}

TEST_F(ChildNodes, OfAParallelLoopOpenAtTheLoopAndContinueAfterIt) {
  const std::string flow =
      "{id: outer-flow, name: O, description: D, version: 1.0.0, steps: [" + step("one") +
      ",{id: rounds, type: loop, title: R, loop: {type: for, count: 2, maxIterations: 2, iterationVar: round}, body: ["
      "{id: each, type: loop, title: E, loop: {type: forEach, items: xs, maxIterations: 2, parallel: 2}, body: [" +
      step("body") + "]}]}]}";
  SessionSimulator journey(std::make_shared<Program>(workflow::compiled(flow, around_).back()),
                           json(R"({"xs": [1, 2, 3]})"));
  journey.deliver({});
  EXPECT_EQ(place_of(journey.tip().position), "rounds@0/each");
  EXPECT_EQ(journey.tip().kind, NodeKind::kChildren);
  const CursorMove first = journey.settle();
  ASSERT_EQ(first.warnings.size(), 1u);
  EXPECT_THAT(first.warnings[0], HasSubstr("1 items were not visited"));
  EXPECT_EQ(place_of(journey.tip().position), "rounds@1/each");
  journey.settle();
  EXPECT_TRUE(journey.is_over());
  EXPECT_EQ(journey.payloads("loop_left").at(0)["left_over"], Value(1));
}

TEST_F(ChildNodes, OfAnEmptyParallelLoopAreNotOpened) {
  const std::string flow =
      "{id: outer-flow, name: O, description: D, version: 1.0.0, steps: [{id: each, type: loop, title: E, loop: {type: "
      "forEach, items: xs, maxIterations: 2, parallel: 2}, body: [" +
      step("body") + "]}," + step("two") + "]}";
  SessionSimulator journey(std::make_shared<Program>(workflow::compiled(flow, around_).back()), json(R"({"xs": []})"));
  EXPECT_THAT(journey.opened(), ElementsAre("two"));
}

// WorkRail pins unexpanded steps, records the advance and then cannot show the step.
TEST(Pain2, VirtualStepsAreOrdinarySteps) {
  SessionSimulator journey(program_of(
      "[" + step("one", "audit: {prompt: Look again.}, verification: {prompt: Check it.}") + "," + step("two") + "]"));
  Submission done;
  done.notes = "done";
  for (int i = 0; i < 4; ++i) journey.deliver(done);
  EXPECT_THAT(journey.opened(), ElementsAre("one", "one__verification", "one__audit", "two", ""));
}

TEST(Cursor, APositionUnknownToTheWorkflowIsReported) {
  const auto program = program_of("[" + step("one") + "]");
  EXPECT_FALSE(next_position(*program, {"gone", {}}, {}, Value::object(), {}, false).missing.empty());
  EXPECT_FALSE(next_position(*program, {"one", {{"loop", 0}}}, {}, Value::object(), {}, false).missing.empty());
  Node node;
  node.position.step = "gone";
  const auto outcome = advance(*program, node, Value::object(), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sb::engine

// Loop bodies given by id, and steps that compiling adds.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string workflow(std::string_view steps) {
  return fmt::format("id: test-flow\nname: Test\ndescription: For tests.\nversion: 1.0.0\nsteps:\n{}", steps);
}

std::vector<std::string> ids_of(const Bundle& bundle) {
  std::vector<std::string> ids;
  for_each_step(bundle.back()->definition.steps, [&](const Step& step) { ids.push_back(step.id); });
  return ids;
}

// WorkRail expands them only in the compiler: the pinned workflow lacks them and the session gets stuck.
TEST(Pain2, VirtualStepsArePinned) {
  const Bundle bundle = compiled(workflow(R"(
  - id: build
    title: Build it
    prompt: Build.
    runCondition: {var: isNeeded}
    writes: [src/**]
    audit: {prompt: Look at it., rubric: [It is small., It is tested.]}
    verification: {command: make test}
  - {id: after, title: After, prompt: Continue.}
)"));
  EXPECT_THAT(ids_of(bundle), ElementsAre("build", "build__verification", "build__audit", "after"));
  const Value& pinned = bundle.back()->pinned["workflow"]["steps"];
  ASSERT_EQ(pinned.size(), 4u);
  EXPECT_EQ(pinned.items()[1]["command"], Value("make test"));

  const std::vector<Step>& steps = bundle.back()->definition.steps;
  EXPECT_FALSE(steps[0].audit);
  EXPECT_FALSE(steps[0].verification);
  for (int i = 1; i <= 2; ++i) {
    EXPECT_TRUE(steps[i].notes_optional);
    EXPECT_THAT(keys_of(*steps[i].run_condition), ElementsAre("isNeeded"));
    EXPECT_THAT(steps[i].interlock.writes, ElementsAre("src/**"));
  }
  EXPECT_THAT(steps[1].prompt, HasSubstr("make test"));
  EXPECT_EQ(steps[1].command, "make test");
  EXPECT_THAT(steps[2].prompt, HasSubstr("Look at it."));
  EXPECT_THAT(steps[2].prompt, HasSubstr("- It is tested."));
}

TEST(VirtualSteps, AVerificationWithOnlyAPromptRunsNothing) {
  const Bundle bundle =
      compiled(workflow("  - {id: build, title: B, prompt: Build., verification: {prompt: Try it by hand.}}"));
  EXPECT_EQ(bundle.back()->definition.steps[1].prompt, "Try it by hand.");
  EXPECT_EQ(bundle.back()->definition.steps[1].command, "");
}

TEST(VirtualSteps, SynthesisHasItsContract) {
  FakeResolver around;
  around.add_workflow(
      "{id: other-flow, name: O, description: O., version: 1.0.0, steps: [{id: one, title: O, prompt: P.}]}");
  const Bundle bundle = compiled(workflow(R"(
  - id: fan-out
    type: parallel
    title: Fan out
    parallelDelegations: [{workflowId: other-flow}]
    synthesis: {outputContract: {contractRef: wr.contracts.review_verdict}}
)"),
                                 around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("fan-out", "fan-out__synthesis"));
  EXPECT_EQ(bundle.back()->definition.steps[1].contract->ref, "wr.contracts.review_verdict");
  EXPECT_NE(bundle.back()->contracts.find("wr.contracts.review_verdict"), nullptr);
  EXPECT_THAT(bundle.back()->definition.steps[1].prompt, HasSubstr("Fan out"));
}

TEST(VirtualSteps, AreAddedInsideLoops) {
  const Bundle bundle = compiled(workflow(R"(
  - id: again
    type: loop
    title: Again
    loop: {type: for, count: 2, maxIterations: 2}
    body: [{id: build, title: B, prompt: Build., verification: {command: make}}]
)"));
  EXPECT_THAT(ids_of(bundle), ElementsAre("again", "build", "build__verification"));
  EXPECT_EQ(bundle.back()->definition.steps.size(), 1u);
}

TEST(LoopBodies, GivenByIdMoveIntoTheirLoop) {
  const Bundle bundle = compiled(workflow(R"(
  - {id: first, title: F, prompt: First.}
  - {id: build, title: B, prompt: Build.}
  - {id: again, type: loop, title: A, loop: {type: for, count: 2, maxIterations: 2}, body: build}
  - {id: last, title: L, prompt: Last.}
)"));
  EXPECT_THAT(ids_of(bundle), ElementsAre("first", "again", "build", "last"));
  const LoopStep* loop = bundle.back()->definition.steps[1].loop();
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->body.size(), 1u);
  EXPECT_EQ(loop->body_ref, "");
}

TEST(LoopBodies, OneStepIsTheBodyOfOneLoop) {
  EXPECT_NE(compile_faults(workflow(R"(
  - {id: build, title: B, prompt: Build.}
  - {id: again, type: loop, title: A, loop: {type: for, count: 2, maxIterations: 2}, body: build}
  - {id: encore, type: loop, title: E, loop: {type: for, count: 2, maxIterations: 2}, body: build}
)")),
            "");
}

TEST(LoopBodies, LoopsThatNameEachOtherAreReported) {
  EXPECT_NE(compile_faults(workflow(R"(
  - {id: begin, title: B, prompt: Begin.}
  - {id: again, type: loop, title: A, loop: {type: for, count: 2, maxIterations: 2}, body: encore}
  - {id: encore, type: loop, title: E, loop: {type: for, count: 2, maxIterations: 2}, body: again}
)")),
            "");
}

// The ids of expanded steps contain dots; WorkRail cannot build a message for them.
TEST(Pain5, ExpandedIdsAreOrdinaryIds) {
  FakeResolver around;
  around.add_routine("wr.templates.routine.look", R"({id: wr.routine-look, name: L, description: L., version: 1.0.0,
    steps: [{id: walk, title: G, prompt: Go., verification: {command: "true"}}]})");
  const Bundle bundle =
      compiled(workflow("  - {id: look, title: L, templateCall: {templateId: wr.templates.routine.look}}"), around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("look.walk", "look.walk__verification"));
  const auto back = read_pinned(bundle.back()->pinned);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ((*back)->definition.steps[0].id, "look.walk");
}

}  // namespace
}  // namespace sb::workflow

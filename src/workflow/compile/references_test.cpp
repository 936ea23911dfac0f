// What a workflow refers to outside its file, and the workflows it starts.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "workflow/compile/passes.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string workflow(std::string_view steps, std::string_view id = "test-flow") {
  return fmt::format("id: {}\nname: Test\ndescription: For tests.\nversion: 1.0.0\nsteps:\n{}", id, steps);
}

std::string plain(std::string_view id, std::string_view prompt = "Do it.") {
  return workflow(fmt::format("  - {{id: one, title: One, prompt: {}}}", prompt), id);
}

// A workflow that starts others.
std::string starting(std::string_view id, const std::vector<std::string>& others) {
  std::string steps;
  for (const std::string& other : others) {
    steps += fmt::format("  - {{id: start-{0}, type: workflow, title: Start, workflowId: {0}}}\n", other);
  }
  return workflow(steps, id);
}

std::vector<std::string> ids_of(const Bundle& bundle) {
  std::vector<std::string> ids;
  for (const auto& each : bundle) ids.push_back(each->definition.id);
  return ids;
}

TEST(CompileReferences, AnUnknownContractIsReportedEverywhere) {
  for (const auto& [step, pointer] : std::vector<std::pair<std::string, std::string>>{
           {"{id: one, title: O, prompt: P., outputContract: {contractRef: wr.contracts.revew_verdict}}",
            "/steps/0/outputContract/contractRef"},
           {"{id: one, type: loop, title: O, loop: {type: while, maxIterations: 2, conditionSource: {kind: "
            "artifact_contract, contractRef: wr.contracts.revew_verdict}}, body: [{id: two, title: T, prompt: P.}]}",
            "/steps/0/loop/conditionSource/contractRef"},
           {"{id: one, type: loop, title: O, loop: {type: for, count: 1, maxIterations: 2}, body: [{id: two, title: T, "
            "prompt: P., outputContract: {contractRef: wr.contracts.revew_verdict}}]}",
            "/steps/0/body/0/outputContract/contractRef"}}) {
    const std::string reported = compile_faults(workflow("  - " + step));
    EXPECT_THAT(reported, AllOf(HasSubstr(pointer), HasSubstr("no contract is called \"wr.contracts.revew_verdict\""),
                                HasSubstr("Did you mean wr.contracts.review_verdict?")));
    EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
  }
}

TEST(CompileReferences, AnUnknownContractListsTheExistingOnes) {
  const std::string reported =
      compile_faults(workflow("  - {id: one, title: O, prompt: P., outputContract: {contractRef: x}}"));
  EXPECT_THAT(reported, HasSubstr("wr.contracts.loop_control"));
}

TEST(CompileReferences, AllFaultsOfAFileAreReportedTogetherInOrder) {
  const std::string reported = compile_faults(workflow(R"(
  - {id: one, title: O, prompt: P., outputContract: {contractRef: no-such}}
  - {id: two, title: T, templateCall: {templateId: no-such-template}}
  - {id: three, type: workflow, title: T, workflowId: no-such-flow}
  - {id: four, title: F, prompt: "{{wr.no_such}}"}
)"));
  for (const auto* at : {"/steps/0", "/steps/1", "/steps/2", "/steps/3"}) EXPECT_THAT(reported, HasSubstr(at));
  EXPECT_LT(reported.find("/steps/0"), reported.find("/steps/1"));
  EXPECT_LT(reported.find("/steps/1"), reported.find("/steps/2"));
  EXPECT_LT(reported.find("/steps/2"), reported.find("/steps/3"));
}

// A contract is one file: nothing else has to change for steps to use it.
TEST(Pain20, AProjectsContractWorksLikeABundledOne) {
  FakeResolver around;
  around.add_contract(R"({contract: team.contracts.estimate, kind: team.estimate, version: 1, help: How long.,
    schema: {type: object, required: [kind, days], properties: {kind: {const: team.estimate}, days: {type: integer}}},
    example: {kind: team.estimate, days: 3}})");
  const Bundle bundle = compiled(
      workflow("  - {id: one, title: O, prompt: P., outputContract: {contractRef: team.contracts.estimate}}"), around);
  EXPECT_NE(bundle.back()->contracts.find("team.contracts.estimate"), nullptr);
  EXPECT_EQ(bundle.back()->pinned["contracts"]["team.contracts.estimate"]["kind"], Value("team.estimate"));
}

TEST(CompileCalls, CalleesComeFirstEachOnce) {
  FakeResolver around;
  around.add_workflow(plain("leaf-flow"));
  around.add_workflow(starting("left-flow", {"leaf-flow"}));
  around.add_workflow(starting("right-flow", {"leaf-flow"}));
  const Bundle bundle = compiled(starting("test-flow", {"left-flow", "right-flow", "leaf-flow"}), around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("leaf-flow", "left-flow", "right-flow", "test-flow"));
  EXPECT_EQ(bundle.back()->calls.at("left-flow"), bundle[1]->hash);
  EXPECT_EQ(bundle[1]->calls.at("leaf-flow"), bundle[0]->hash);
  EXPECT_EQ(bundle.back()->pinned["calls"]["leaf-flow"], Value(bundle[0]->hash));
}

TEST(CompileCalls, UnknownWorkflowNamesTheNearest) {
  FakeResolver around;
  around.add_workflow(plain("leaf-flow"));
  EXPECT_THAT(compile_faults(starting("test-flow", {"leef-flow"}), around),
              AllOf(HasSubstr("/steps/0/workflowId"), HasSubstr("Did you mean leaf-flow?")));
  EXPECT_THAT(compile_faults(workflow("  - {id: fan, type: parallel, title: F, parallelDelegations: [{workflowId: "
                                      "leaf-flow}, {workflowId: leef-flow}]}"),
                             around),
              HasSubstr("/steps/0/parallelDelegations/1/workflowId"));
}

TEST(CompileCalls, AWorkflowCannotStartItself) {
  FakeResolver around;
  around.add_workflow(plain("test-flow"));
  EXPECT_THAT(compile_faults(starting("test-flow", {"test-flow"}), around), HasSubstr("starts itself"));
}

TEST(CompileCalls, CyclesAreNamed) {
  FakeResolver around;
  around.add_workflow(starting("left-flow", {"right-flow"}));
  around.add_workflow(starting("right-flow", {"left-flow"}));
  EXPECT_THAT(compile_faults(starting("test-flow", {"left-flow"}), around),
              HasSubstr("left-flow, right-flow, left-flow"));
  EXPECT_THAT(compile_faults(starting("left-flow", {"right-flow"}), around),
              HasSubstr("left-flow, right-flow, left-flow"));
}

TEST(CompileCalls, DepthHasALimit) {
  FakeResolver around;
  for (int i = 0; i < limits::kCallDepth; ++i) {
    around.add_workflow(i == 0 ? plain("flow-0")
                               : starting(fmt::format("flow-{}", i), {fmt::format("flow-{}", i - 1)}));
  }
  EXPECT_EQ(compile_faults(starting("test-flow", {fmt::format("flow-{}", limits::kCallDepth - 2)}), around), "");
  EXPECT_THAT(compile_faults(starting("test-flow", {fmt::format("flow-{}", limits::kCallDepth - 1)}), around),
              HasSubstr(fmt::format("more than {} deep", limits::kCallDepth)));
}

TEST(CompileCalls, ABrokenCalleeIsExplained) {
  FakeResolver around;
  around.add_workflow(
      workflow("  - {id: one, title: O, prompt: P., outputContract: {contractRef: gone}}", "broken-flow"));
  const std::string reported = compile_faults(starting("test-flow", {"broken-flow"}), around);
  EXPECT_THAT(reported, AllOf(HasSubstr("/steps/0/workflowId"), HasSubstr("\"broken-flow\" does not compile"),
                              HasSubstr("no contract is called \"gone\"")));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
}

// Sixteen levels that each start the level below twice would otherwise be compiled 65,536 times.
TEST(CompileCalls, BrokenCalleesAreTriedOnce) {
  FakeResolver around;
  around.add_workflow(workflow("  - {id: one, title: O, prompt: P., outputContract: {contractRef: gone}}", "flow-0"));
  for (int i = 1; i < 14; ++i) {
    const std::string below = fmt::format("flow-{}", i - 1);
    around.add_workflow(workflow(fmt::format("  - {{id: one, type: workflow, title: O, workflowId: {0}}}\n"
                                             "  - {{id: two, type: workflow, title: O, workflowId: {0}}}\n",
                                             below),
                                 fmt::format("flow-{}", i)));
  }
  EXPECT_THAT(compile_faults(starting("test-flow", {"flow-13"}), around), HasSubstr("does not compile"));
}

TEST(CompileCalls, GatesCallTheirEvaluator) {
  FakeResolver around;
  const std::string gated = workflow("  - {id: one, title: O, prompt: P., requireConfirmation: true}");
  EXPECT_TRUE(compiled(gated, around).back()->calls.empty());
  around.add_workflow(workflow("  - {id: judge, title: J, prompt: Judge., requireConfirmation: true}", kGateWorkflow));
  const Bundle bundle = compiled(gated, around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("wr.gate-eval-generic", "test-flow"));
  EXPECT_EQ(bundle.back()->calls.at("wr.gate-eval-generic"), bundle[0]->hash);
  EXPECT_TRUE(bundle[0]->calls.empty());
  const std::string signed_by_people =
      workflow("  - {id: one, title: O, prompt: P., requireConfirmation: {kind: human_approval}}");
  EXPECT_TRUE(compiled(signed_by_people, around).back()->calls.empty());
}

constexpr std::string_view kParallelLoop = R"(
  - {id: list-them, title: List, prompt: List., captures: {things: {type: array}}}
  - id: each-thing
    type: loop
    title: Each thing
    loop: {type: forEach, items: things, maxIterations: 9, parallel: 3, captureAs: results}
    body:
      - id: do-one
        title: Do
        prompt: "Do {{currentItem}}."
        outputContract: {contractRef: wr.contracts.coding_handoff}
      - {id: sub, type: workflow, title: Sub, workflowId: leaf-flow}
)";

TEST(CompileCalls, BodiesOfParallelLoopsAreWorkflows) {
  FakeResolver around;
  around.add_workflow(plain("leaf-flow"));
  const Bundle bundle = compiled(workflow(kParallelLoop), around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("leaf-flow", "each-thing#body", "test-flow"));
  const CompiledWorkflow& body = *bundle[1];
  EXPECT_EQ(body.definition.steps.size(), 2u);
  EXPECT_EQ(body.calls.at("leaf-flow"), bundle[0]->hash);
  EXPECT_NE(body.contracts.find("wr.contracts.coding_handoff"), nullptr);
  const CompiledWorkflow& parent = *bundle[2];
  EXPECT_EQ(parent.calls.at("each-thing#body"), body.hash);
  EXPECT_FALSE(parent.calls.contains("leaf-flow"));
  const auto back = read_pinned(body.pinned);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ((*back)->hash, body.hash);
}

TEST(CompileCalls, AJumpOutOfAParallelLoopIsReported) {
  EXPECT_NE(compile_faults(workflow(R"(
  - {id: list-them, title: List, prompt: List.}
  - id: each-thing
    type: loop
    title: Each thing
    loop: {type: forEach, items: things, maxIterations: 9, parallel: 3}
    body: [{id: do-one, title: Do, prompt: Do., jumpIf: {when: {var: isBad}, to: list-them}}]
)")),
            "");
}

TEST(Compiler, CompilesCalleesOnceForAll) {
  FakeResolver around;
  around.add_workflow(plain("leaf-flow"));
  Compiler compiler(around);
  const Document one = document_from(starting("one-flow", {"leaf-flow"}));
  const Document two = document_from(starting("two-flow", {"leaf-flow"}));
  const auto first = compiler.compile(one, defined(one));
  const auto second = compiler.compile(two, defined(two));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->front().get(), second->front().get());
}

}  // namespace
}  // namespace sb::workflow

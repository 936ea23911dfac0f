// Routines that replace the steps calling them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kLook = "wr.templates.routine.look";

std::string workflow(std::string_view rest) {
  return fmt::format("id: test-flow\nname: Test\ndescription: For tests.\nversion: 1.0.0\n{}", rest);
}

// One call of the routine `look`, with these additional lines.
std::string calling(std::string_view more, std::string_view head = "") {
  return workflow(
      fmt::format("{}\nsteps:\n  - id: look-around\n    title: Look around\n    templateCall: "
                  "{{templateId: {}, args: {{place: attic, depth: 3, deep: true}}}}\n{}\n",
                  head, kLook, more));
}

FakeResolver with_routine(std::string_view steps, std::string_view head = "") {
  FakeResolver around;
  around.add_routine(std::string(kLook), fmt::format("id: wr.routine-look\nname: Look\ndescription: Looks.\n"
                                                     "version: 1.0.0\n{}\nsteps:\n{}",
                                                     head, steps));
  return around;
}

const Definition& definition_of(const Bundle& bundle) {
  return bundle.back()->definition;
}

std::vector<std::string> ids_of(const Bundle& bundle) {
  std::vector<std::string> ids;
  for_each_step(definition_of(bundle).steps, [&](const Step& step) { ids.push_back(step.id); });
  return ids;
}

constexpr std::string_view kTwoSteps = R"(
  - {id: find-it, title: "Find it in the {place}", prompt: "Go {depth} deep, {deep}. Then {{later}}."}
  - {id: report-it, title: Report it, prompt: Report what you found., runCondition: {var: isFound}}
)";

TEST(CompileTemplates, StepsReplaceTheCaller) {
  const Bundle bundle = compiled(calling("    runCondition: {var: isNeeded}"), with_routine(kTwoSteps));
  EXPECT_THAT(ids_of(bundle), ElementsAre("look-around.find-it", "look-around.report-it"));
  const std::vector<Step>& steps = definition_of(bundle).steps;
  EXPECT_EQ(steps[0].title, "Find it in the attic");
  EXPECT_EQ(steps[0].prompt, "Go 3 deep, true. Then {{later}}.");
  EXPECT_EQ(to_text(*steps[0].run_condition),
            to_text(*defined(calling("    runCondition: {var: isNeeded}")).steps[0].run_condition));
  EXPECT_THAT(keys_of(*steps[1].run_condition), ElementsAre("isFound"));
}

TEST(CompileTemplates, StandingGuidanceOfTheRoutineReachesItsSteps) {
  const Bundle bundle = compiled(calling("    guidance: [Be quick.]"),
                                 with_routine("  - {id: find-it, title: Find, prompt: Find., guidance: [Own.]}",
                                              "metaGuidance: [Touch nothing.]"));
  EXPECT_THAT(definition_of(bundle).steps[0].guidance, ElementsAre("Be quick.", "Touch nothing.", "Own."));
}

TEST(CompileTemplates, UnknownTemplateNamesTheNearest) {
  const std::string reported = compile_faults(workflow(R"(
steps:
  - {id: look-around, title: Look, templateCall: {templateId: wr.templates.routine.lok}}
)"),
                                              with_routine(kTwoSteps));
  EXPECT_THAT(reported, HasSubstr("test.yaml:7:51:"));
  EXPECT_THAT(reported, HasSubstr("no template is called \"wr.templates.routine.lok\""));
  EXPECT_THAT(reported, HasSubstr("Did you mean wr.templates.routine.look?"));
}

TEST(CompileTemplates, AMissingArgumentIsReportedOnceByName) {
  const std::string reported = compile_faults(calling(""), with_routine(R"(
  - {id: find-it, title: "{room}", prompt: "{room} and {room}"}
  - {id: report-it, title: Report, prompt: "{room}"}
)"));
  EXPECT_THAT(reported, HasSubstr("needs the argument \"room\""));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
}

TEST(CompileTemplates, EveryCallWithAMissingArgumentIsReported) {
  const std::string reported = compile_faults(workflow(R"(
steps:
  - {id: one-call, title: One, templateCall: {templateId: wr.templates.routine.look}}
  - {id: two-call, title: Two, templateCall: {templateId: wr.templates.routine.look, args: {}}}
)"),
                                              with_routine("  - {id: find-it, title: Find, prompt: \"{room}\"}"));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 2) << reported;
}

TEST(CompileTemplates, AnArgumentOfTheWrongTypeIsReported) {
  const std::string reported = compile_faults(workflow(R"(
steps:
  - {id: look-around, title: Look, templateCall: {templateId: wr.templates.routine.look, args: {room: [a, b]}}}
)"),
                                              with_routine("  - {id: find-it, title: Find, prompt: \"{room}\"}"));
  EXPECT_THAT(reported, HasSubstr("the argument \"room\" is a list"));
}

TEST(CompileTemplates, UnusedArgumentsAreNotFaults) {
  EXPECT_EQ(compile_faults(calling(""), with_routine("  - {id: find-it, title: Find, prompt: Find.}")), "");
}

TEST(CompileTemplates, BracesThatAreNotArgumentsStay) {
  const Bundle bundle = compiled(calling(""), with_routine(R"(
  - id: find-it
    title: Find
    prompt: 'A \{place}, {{place}}, {"json": 1}, {}, { place }, {{{place}}} and {place}'
)"));
  EXPECT_EQ(definition_of(bundle).steps[0].prompt,
            "A {place}, {{place}}, {\"json\": 1}, {}, { place }, {{{place}}} and attic");
}

TEST(CompileTemplates, ArgumentsAreFilledInOnce) {
  FakeResolver around = with_routine("  - {id: find-it, title: Find, prompt: \"{place}\"}");
  const Bundle bundle = compiled(workflow(R"(
steps:
  - {id: look-around, title: Look, templateCall: {templateId: wr.templates.routine.look, args: {place: "{place}"}}}
)"),
                                 around);
  EXPECT_EQ(definition_of(bundle).steps[0].prompt, "{place}");
}

TEST(CompileTemplates, RoutinesMayCallRoutines) {
  FakeResolver around = with_routine(R"(
  - {id: go-in, title: Go in, templateCall: {templateId: wr.templates.routine.step, args: {where: "the {place}"}}}
)");
  around.add_routine("wr.templates.routine.step", R"({id: wr.routine-step, name: S, description: S., version: 1.0.0,
    steps: [{id: one-step, title: One, prompt: "Into {where}."}]})");
  const Bundle bundle = compiled(calling(""), around);
  EXPECT_THAT(ids_of(bundle), ElementsAre("look-around.go-in.one-step"));
  EXPECT_EQ(definition_of(bundle).steps[0].prompt, "Into the attic.");
}

TEST(CompileTemplates, ACycleOfRoutinesIsReportedOnce) {
  FakeResolver around = with_routine(R"(
  - {id: go-in, title: Go in, templateCall: {templateId: wr.templates.routine.step}}
  - {id: proceed, title: Proceed, templateCall: {templateId: wr.templates.routine.step}}
)");
  around.add_routine("wr.templates.routine.step", R"({id: wr.routine-step, name: S, description: S., version: 1.0.0,
    steps: [{id: back, title: B, templateCall: {templateId: wr.templates.routine.look}},
            {id: back-too, title: B, templateCall: {templateId: wr.templates.routine.step}}]})");
  const std::string reported = compile_faults(calling(""), around);
  EXPECT_THAT(reported, HasSubstr("calls itself"));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
}

// Ten routines that each call the next one ten times would expand to ten billion steps.
TEST(CompileTemplates, RoutinesThatMultiplyStopAtTheLimit) {
  FakeResolver around;
  for (int level = 0; level < 10; ++level) {
    std::string steps;
    for (int i = 0; i < 10; ++i) {
      steps +=
          level == 9
              ? fmt::format("  - {{id: step-{}, title: T, prompt: P.}}\n", i)
              : fmt::format("  - {{id: step-{}, title: T, templateCall: {{templateId: wr.templates.routine.r{}}}}}\n",
                            i, level + 1);
    }
    around.add_routine(
        fmt::format("wr.templates.routine.r{}", level),
        fmt::format("id: wr.routine-r{}\nname: R\ndescription: R.\nversion: 1.0.0\nsteps:\n{}", level, steps));
  }
  const std::string reported = compile_faults(
      workflow("steps:\n  - {id: boom, title: Boom, templateCall: {templateId: wr.templates.routine.r0}}"), around);
  EXPECT_THAT(reported, HasSubstr(fmt::format("more than {} steps", limits::kWorkflowSteps)));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
}

TEST(CompileTemplates, ArgumentsThatMultiplyStopAtTheLimit) {
  FakeResolver around;
  for (int level = 0; level < 12; ++level) {
    std::string doubled;
    for (int i = 0; i < 40; ++i) doubled += "{x}";
    const std::string step =
        level == 11
            ? "{id: end, title: End, prompt: \"{x}\"}"
            : fmt::format(
                  "{{id: next, title: N, templateCall: {{templateId: wr.templates.routine.r{}, args: {{x: \"{}\"}}}}}}",
                  level + 1, doubled);
    around.add_routine(
        fmt::format("wr.templates.routine.r{}", level),
        fmt::format("{{id: wr.routine-r{}, name: R, description: R., version: 1.0.0, steps: [{}]}}", level, step));
  }
  const std::string reported = compile_faults(
      workflow("steps:\n  - {id: boom, title: B, templateCall: {templateId: wr.templates.routine.r0, args: {x: ab}}}"),
      around);
  EXPECT_THAT(reported, HasSubstr("too long"));
}

TEST(CompileTemplates, DeepRoutinesStopAtTheLimit) {
  FakeResolver around;
  for (int level = 0; level < 40; ++level) {
    const std::string step =
        level == 39
            ? "{id: end, title: End, prompt: P.}"
            : fmt::format("{{id: next, title: N, templateCall: {{templateId: wr.templates.routine.r{}}}}}", level + 1);
    around.add_routine(
        fmt::format("wr.templates.routine.r{}", level),
        fmt::format("{{id: wr.routine-r{}, name: R, description: R., version: 1.0.0, steps: [{}]}}", level, step));
  }
  EXPECT_THAT(
      compile_faults(workflow("steps:\n  - {id: deep, title: D, templateCall: {templateId: wr.templates.routine.r0}}"),
                     around),
      HasSubstr("deep"));
}

TEST(CompileTemplates, RoutineFeaturesApplyToItsBlocksOnly) {
  FakeResolver around = with_routine("  - {id: find-it, title: Find, promptBlocks: {goal: \"Find {place}.\"}}",
                                     "features: [own.feature]");
  around.add_feature("own.feature", Value::object({{"constraints", Value::array({"From the routine."})}}));
  around.add_feature("outer.feature", Value::object({{"constraints", Value::array({"From outside."})}}));
  const Bundle bundle = compiled(
      calling("  - {id: after, title: After, promptBlocks: {goal: Continue.}}", "features: [outer.feature]"), around);
  EXPECT_EQ(definition_of(bundle).steps[0].prompt,
            "## Goal\nFind attic.\n\n## Constraints\n- From outside.\n- From the routine.");
  EXPECT_EQ(definition_of(bundle).steps[1].prompt, "## Goal\nContinue.\n\n## Constraints\n- From outside.");
}

TEST(CompileTemplates, TheCallersRequirementsApplyToTheLastStep) {
  const Bundle bundle = compiled(calling(R"(
    requireConfirmation: {kind: human_approval}
    outputContract: {contractRef: wr.contracts.coding_handoff}
    agentRole: A careful looker.
    needs: [ticket]
    writes: none
    verification: {command: make test}
)"),
                                 with_routine(kTwoSteps));
  EXPECT_THAT(ids_of(bundle),
              ElementsAre("look-around.find-it", "look-around.report-it", "look-around.report-it__verification"));
  const std::vector<Step>& steps = definition_of(bundle).steps;
  EXPECT_FALSE(steps[0].contract);
  EXPECT_EQ(steps[0].confirmation.kind, Confirmation::Kind::kNone);
  EXPECT_THAT(steps[0].needs, ElementsAre("ticket"));
  EXPECT_EQ(steps[0].agent_role, "A careful looker.");
  EXPECT_EQ(steps[1].contract->ref, "wr.contracts.coding_handoff");
  EXPECT_EQ(steps[1].confirmation.kind, Confirmation::Kind::kPerson);
  for (const Step& step : steps) EXPECT_TRUE(step.interlock.writes_declared) << step.id;
  EXPECT_EQ(steps[2].command, "make test");
}

TEST(CompileTemplates, TheCallerNeverRemovesAGate) {
  const Bundle bundle =
      compiled(calling("    requireConfirmation: false"),
               with_routine("  - {id: find-it, title: F, prompt: F., requireConfirmation: {kind: human_approval}}"));
  EXPECT_EQ(definition_of(bundle).steps[0].confirmation.kind, Confirmation::Kind::kPerson);
}

TEST(CompileTemplates, TwoContractsForOneStepAreReportedAtTheCaller) {
  const std::string reported = compile_faults(
      calling("    outputContract: {contractRef: wr.contracts.coding_handoff}"),
      with_routine(
          "  - {id: find-it, title: F, prompt: F., outputContract: {contractRef: wr.contracts.review_verdict}}"));
  EXPECT_THAT(reported, HasSubstr("has its own \"outputContract\""));
}

TEST(CompileTemplates, JumpsFollowTheExpandedIds) {
  const Bundle bundle = compiled(calling(R"(
  - {id: redo, title: Redo, prompt: Redo., jumpIf: {when: {var: isBad}, to: look-around}}
)"),
                                 with_routine(R"(
  - {id: find-it, title: Find, prompt: Find.}
  - {id: check-it, title: Check, prompt: Check., jumpIf: {when: {var: isLost}, to: find-it}}
)"));
  const std::vector<Step>& steps = definition_of(bundle).steps;
  EXPECT_EQ(steps[1].jump->to, "look-around.find-it");
  EXPECT_EQ(steps[2].jump->to, "look-around.find-it");
}

TEST(CompileTemplates, LoopsInRoutinesKeepTheirBodies) {
  const Bundle bundle = compiled(calling(""), with_routine(R"(
  - {id: again, type: loop, title: Again, loop: {type: for, count: 2, maxIterations: 2}, body: find-it}
  - {id: find-it, title: Find, prompt: "In the {place}."}
)"));
  EXPECT_THAT(ids_of(bundle), ElementsAre("look-around.again", "look-around.find-it"));
  ASSERT_EQ(definition_of(bundle).steps.size(), 1u);
  EXPECT_EQ(definition_of(bundle).steps[0].loop()->body[0].prompt, "In the attic.");
}

TEST(CompileTemplates, AssessmentsComeWithTheRoutine) {
  FakeResolver around = with_routine("  - {id: find-it, title: F, prompt: F., assessmentRefs: [found]}", R"(
assessments: [{id: found, purpose: Was it found?, dimensions: [{id: sure, purpose: How sure?, levels: [low, high]}]}]
)");
  const Bundle bundle = compiled(calling(""), around);
  EXPECT_NE(definition_of(bundle).assessment("found"), nullptr);
  const std::string reported = compile_faults(calling("", R"(
assessments: [{id: found, purpose: Another, dimensions: [{id: sure, purpose: How sure?, levels: [low, high]}]}]
)"),
                                              around);
  EXPECT_THAT(reported, HasSubstr("declare the assessment \"found\""));
}

TEST(CompileTemplates, DuplicateStepIdsAreReportedAtTheCall) {
  const std::string reported = compile_faults(workflow(R"(
steps:
  - id: outer
    type: loop
    title: Outer
    loop: {type: for, count: 1, maxIterations: 1}
    body:
      - {id: look-around, title: L, templateCall: {templateId: wr.templates.routine.look, args: {place: here}}}
)"),
                                              with_routine("  - {id: find-it, title: F, prompt: \"{other}\"}"));
  EXPECT_THAT(reported, HasSubstr("/steps/0/body/0/templateCall"));
}

// The routines of a project are templates like the bundled ones.
TEST(Pain20, AnyAvailableRoutineIsATemplate) {
  FakeResolver around;
  around.add_routine("wr.templates.routine.house-style", R"({id: house-style, name: H, description: H., version: 1.0.0,
    steps: [{id: apply, title: Apply, prompt: Apply it.}]})");
  EXPECT_EQ(
      compile_faults(
          workflow("steps:\n  - {id: style, title: S, templateCall: {templateId: wr.templates.routine.house-style}}"),
          around),
      "");
}

}  // namespace
}  // namespace sb::workflow

// Checks that need the whole file; and that one mistake gives one fault.
#include <gmock/gmock.h>

#include "workflow/definition/testing.hpp"

namespace sb::workflow {
namespace {

struct Row {
  std::string text;
  std::string fault;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const auto& [text, fault] : rows) EXPECT_EQ(reported(text), fault) << text.substr(0, 600);
}

std::string step(std::string_view id, std::string_view more = "") {
  return fmt::format("{{id: {}, title: T, prompt: p{}{}}}", id, more.empty() ? "" : ", ", more);
}

std::string loop(std::string_view id, std::string_view rules, std::string_view body) {
  return fmt::format("{{id: {}, type: loop, title: L, loop: {{{}}}, body: {}}}", id, rules, body);
}

constexpr std::string_view kTwice = "type: for, maxIterations: 2, count: 2";

TEST(DefinitionChecks, StepIdsAreUniqueEverywhere) {
  expect_rows({
      {with_steps(step("one") + ", " + step("one")), "duplicate_step_id@/steps/1/id"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "[" + step("one") + "]")),
       "duplicate_step_id@/steps/1/body/0/id"},
      {with_steps(loop("two", kTwice, "[" + step("two") + "]")), "duplicate_step_id@/steps/0/body/0/id"},
      {with_steps(loop("two", kTwice, "[" + step("one") + "]") + ", " + loop("three", kTwice, "[" + step("one") + "]")),
       "duplicate_step_id@/steps/1/body/0/id"},
  });
  EXPECT_THAT(definition_faults("id: mine\nname: N\ndescription: d\nversion: 1.0.0\nsteps:\n  - {id: one, title: T, "
                                "prompt: p}\n  - {id: one, title: T, prompt: p}\n"),
              testing::HasSubstr("Rename this one, or the one in line 6"));
}

TEST(DefinitionChecks, BodiesById) {
  expect_rows({
      {with_steps(step("one") + ", " + loop("two", kTwice, "one")), ""},
      {with_steps(loop("two", kTwice, "one") + ", " + step("one")), ""},
      {with_steps(step("one") + ", " + loop("two", kTwice, "onw")), "unknown_body@/steps/1/body"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "two")), "bad_body@/steps/1/body"},
      {with_steps(step("one", "runCondition: {var: x}") + ", " + loop("two", kTwice, "one")), "bad_body@/steps/1/body"},
      {with_steps(step("one", "audit: {prompt: p}") + ", " + loop("two", kTwice, "one")), "bad_body@/steps/1/body"},
      {with_steps(step("one", "verification: {prompt: p}") + ", " + loop("two", kTwice, "one")),
       "bad_body@/steps/1/body"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "one") + ", " + loop("three", kTwice, "one")),
       "bad_body@/steps/2/body"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "\"\"")), "too_short@/steps/1/body"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "[]")), "too_few@/steps/1/body"},
      {with_steps(step("one") + ", " + loop("two", kTwice, "7")), "wrong_kind@/steps/1/body"},
  });
  EXPECT_THAT(definition_faults(with_steps(step("one") + ", " + loop("two", kTwice, "onw"))),
              testing::HasSubstr("Did you mean one?"));
}

TEST(DefinitionChecks, JumpsGoBack) {
  const auto jump = [](std::string_view to, std::string_view more = ", atMost: 2") {
    return fmt::format("jumpIf: {{when: {{var: x}}, to: {}{}}}", to, more);
  };
  expect_rows({
      {with_steps(step("one") + ", " + step("two", jump("one"))), ""},
      {with_steps(step("one") + ", " + step("two", jump("one", ""))), ""},
      {with_steps(step("one") + ", " +
                  loop("two", kTwice, "[" + step("three") + ", " + step("four", jump("three")) + "]")),
       ""},
      {with_steps(step("one") + ", " +
                  loop("two", kTwice, "[" + step("three") + ", " + step("four", jump("one")) + "]")),
       ""},
      {with_steps(loop("two", kTwice, "[" + step("three") + "]") + ", " + step("four", jump("two"))), ""},
      {with_steps(step("one", jump("one"))), "bad_jump@/steps/0/jumpIf/to"},
      {with_steps(step("one", jump("two")) + ", " + step("two")), "bad_jump@/steps/0/jumpIf/to"},
      {with_steps(step("one") + ", " + step("two", jump("onee"))), "bad_jump@/steps/1/jumpIf/to"},
      {with_steps(loop("two", kTwice, "[" + step("three") + "]") + ", " + step("four", jump("three"))),
       "bad_jump@/steps/1/jumpIf/to"},
      {with_steps(loop("two", kTwice, "[" + step("three", jump("two")) + "]")), "bad_jump@/steps/0/body/0/jumpIf/to"},
      {with_steps(step("one") + ", " +
                  loop("two", "type: forEach, items: k, maxIterations: 2, parallel: 2",
                       "[" + step("three", jump("one")) + "]")),
       "bad_jump@/steps/1/body/0/jumpIf/to"},
      {with_steps(step("one") + ", " + step("two", jump("one", ", atMost: 0"))), "out_of_range@/steps/1/jumpIf/atMost"},
      {with_steps(step("one") + ", " + step("two", "jumpIf: {to: one}")), "missing_key@/steps/1/jumpIf"},
      {with_steps(step("one") + ", " + step("two", "jumpIf: {when: {var: x}}")), "missing_key@/steps/1/jumpIf"},
  });
  EXPECT_THAT(definition_faults(with_steps(step("one") + ", " + step("two", jump("onee")))),
              testing::HasSubstr("Did you mean one?"));
}

constexpr std::string_view kAssessments =
    "assessments: [{id: design, purpose: p, dimensions: [{id: d, purpose: p, levels: [low, high]}]}, {id: tests, "
    "purpose: p, dimensions: [{id: d, purpose: p, levels: [few, many]}]}]";

TEST(DefinitionChecks, AssessmentsAndTheirConsequences) {
  const auto use = [](std::string_view fields) { return workflow_text(kAssessments, step("one", fields)); };
  const auto consequence = [](std::string_view when) {
    return fmt::format("{{when: {{{}}}, effect: {{kind: require_followup, guidance: g}}}}", when);
  };
  const std::string low = consequence("anyEqualsLevel: low");
  expect_rows({
      {use("assessmentRefs: [design]"), ""},
      {use("assessmentRefs: [design, tests], assessmentConsequences: [" + low + "]"), ""},
      {use("assessmentRefs: [design, tests], assessmentConsequences: [" +
           consequence("anyEqualsLevel: few, forAssessment: tests") + "]"),
       ""},
      {use("assessmentRefs: [desing]"), "unknown_assessment@/steps/0/assessmentRefs/0"},
      {use("assessmentRefs: []"), "too_few@/steps/0/assessmentRefs"},
      {use("assessmentRefs: [design, design]"), "repeated@/steps/0/assessmentRefs/1"},
      {use("assessmentConsequences: [" + low + "]"), "consequence_without_assessment@/steps/0/assessmentConsequences"},
      {use("assessmentRefs: [design], assessmentConsequences: [" +
           consequence("anyEqualsLevel: low, forAssessment: tests") + "]"),
       "unknown_assessment@/steps/0/assessmentConsequences/0/when/forAssessment"},
      {use("assessmentRefs: [design], assessmentConsequences: [" + consequence("anyEqualsLevel: few") + "]"),
       "unknown_level@/steps/0/assessmentConsequences/0/when/anyEqualsLevel"},
      {use("assessmentRefs: [desing], assessmentConsequences: [" + consequence("anyEqualsLevel: low") + "]"),
       "unknown_assessment@/steps/0/assessmentRefs/0"},
      {use("assessmentRefs: [design], assessmentConsequences: [" + low + ", " + low + "]"),
       "duplicate_consequence@/steps/0/assessmentConsequences/1"},
      {use("assessmentRefs: [design], assessmentConsequences: []"), "too_few@/steps/0/assessmentConsequences"},
      {use("assessmentRefs: [design], assessmentConsequences: [{when: {anyEqualsLevel: low}}]"),
       "missing_key@/steps/0/assessmentConsequences/0"},
      {use("assessmentRefs: [design], assessmentConsequences: [{when: {anyEqualsLevel: low}, effect: {kind: stop, "
           "guidance: g}}]"),
       "unknown_choice@/steps/0/assessmentConsequences/0/effect/kind"},
      {workflow_text(kAssessments, loop("two", kTwice, "[" + step("one", "assessmentRefs: [nothing]") + "]")),
       "unknown_assessment@/steps/0/body/0/assessmentRefs/0"},
      {with_head("assessments: [{id: a, purpose: p, dimensions: []}]"), "too_few@/assessments/0/dimensions"},
      {with_head("assessments: [{id: a, purpose: p, dimensions: [{id: d, purpose: p, levels: [low]}]}]"),
       "too_few@/assessments/0/dimensions/0/levels"},
      {with_head("assessments: [{id: a, purpose: p, dimensions: [{id: d, purpose: p, levels: [low, low]}]}]"),
       "repeated@/assessments/0/dimensions/0/levels/1"},
      {with_head("assessments: [{id: a, purpose: p, dimensions: [{id: d, purpose: p, levels: [a, b]}, {id: d, purpose: "
                 "q, levels: [a, b]}]}]"),
       "duplicate_dimension@/assessments/0/dimensions/1"},
      {with_head("assessments: [{id: a, purpose: p, dimensions: [{id: d, purpose: p, levels: [a, b]}]}, {id: a, "
                 "purpose: q, dimensions: [{id: d, purpose: p, levels: [a, b]}]}]"),
       "duplicate_assessment@/assessments/1"},
  });
}

TEST(DefinitionChecks, LoopsInsideLoops) {
  const auto inner = [](std::string_view outer, std::string_view rules) {
    return with_steps(loop("out", outer, "[" + loop("inner", rules, "[" + step("one") + "]") + "]"));
  };
  constexpr std::string_view kEach = "type: forEach, maxIterations: 2, items: k";
  expect_rows({
      {inner(kEach, "type: forEach, maxIterations: 2, items: k"), ""},
      {inner("type: forEach, maxIterations: 2, items: k, itemVar: file",
             "type: forEach, maxIterations: 2, items: k, itemVar: line"),
       ""},
      {inner("type: forEach, maxIterations: 2, items: k, itemVar: file",
             "type: forEach, maxIterations: 2, items: k, itemVar: file"),
       "duplicate_loop_variable@/steps/0/body/0/loop/itemVar"},
      {inner(kEach, "type: forEach, maxIterations: 2, items: k, indexVar: currentItem"),
       "duplicate_loop_variable@/steps/0/body/0/loop/indexVar"},
  });
  std::string deep = step("leaf");
  for (int depth = 0; depth < limits::kLoopDepth; ++depth)
    deep = loop(fmt::format("loop-{}", depth), kTwice, "[" + deep + "]");
  EXPECT_EQ(reported(with_steps(deep)), "");
  std::string pointer = "/steps/0";
  for (int depth = 1; depth < limits::kLoopDepth; ++depth) pointer += "/body/0";
  EXPECT_EQ(reported(with_steps(loop("outermost", kTwice, "[" + deep + "]"))), "too_deep@" + pointer + "/body/0/body");
}

TEST(DefinitionChecks, StepsAtTheirLimit) {
  std::string steps;
  for (std::size_t i = 0; i < limits::kWorkflowSteps; ++i)
    steps += fmt::format("{},\n", step(fmt::format("step-{}", i)));
  EXPECT_EQ(reported(with_steps(steps)), "");
  EXPECT_EQ(reported(with_steps(steps + step("one-more"))), "too_many@/steps");
}

// Keys are checked only if captures are declared.
TEST(DefinitionSense, KeysNothingSets) {
  const auto both = [](std::string_view first, std::string_view second) {
    return with_steps(fmt::format("{}, {}", first, second));
  };
  const std::string sets = step("one", "captures: {verdict: {type: string}}, needs: [ticket]");
  const auto uses = [&](std::string_view fields) { return both(sets, step("two", fields)); };
  expect_rows({
      {both(step("one"), step("two", "runCondition: {var: nothing}")), ""},
      {uses("runCondition: {var: verdict, equals: good}"), ""},
      {uses("runCondition: {var: verdict.deep, equals: good}"), ""},
      {uses("runCondition: {var: ticket}"), ""},
      {uses("runCondition: {var: goal}"), ""},
      {uses("runCondition: {var: metrics_outcome}"), ""},
      {uses("runCondition: {and: [{var: verdict}, {not: {var: verdct}}]}"),
       "unknown_context_key@/steps/1/runCondition"},
      {uses("requireConfirmation: {var: verdct}"), "unknown_context_key@/steps/1/requireConfirmation"},
      {uses("requireConfirmation: {kind: human_approval, condition: {var: verdct}}"),
       "unknown_context_key@/steps/1/requireConfirmation"},
      {uses("needs: [verdct]"), "unknown_context_key@/steps/1/needs"},
      {uses("guidance: [\"Mind {{verdct}}.\"]"), "unknown_context_key@/steps/1/guidance/0"},
      {uses("promptFragments: [{id: a, text: t, when: {var: verdct}}]"),
       "unknown_context_key@/steps/1/promptFragments/0/when"},
      {uses("promptFragments: [{id: a, text: \"{{verdct}}\"}]"), "unknown_context_key@/steps/1/promptFragments/0/text"},
      {uses("jumpIf: {when: {var: verdct}, to: one}"), "unknown_context_key@/steps/1/jumpIf"},
      {both(sets, "{id: two, title: \"Fix {{verdct}}\", prompt: p}"), "unknown_context_key@/steps/1/title"},
      {both(sets, "{id: two, title: T, prompt: \"{{verdct}} and {{verdct}}\"}"), "unknown_context_key@/steps/1/prompt"},
      {both(sets, "{id: two, title: T, promptBlocks: {procedure: [a, \"{{verdct}}\"]}}"),
       "unknown_context_key@/steps/1/promptBlocks/procedure/1"},
      {both(sets, loop("two", "type: forEach, maxIterations: 2, items: verdct", "[" + step("three") + "]")),
       "unknown_context_key@/steps/1/loop/items"},
      {both(sets, loop("two", "type: for, maxIterations: 2, count: verdct", "[" + step("three") + "]")),
       "unknown_context_key@/steps/1/loop/count"},
      {both(sets, "{id: two, type: workflow, title: T, workflowId: w, contextMapping: {verdct: x}}"),
       "unknown_context_key@/steps/1/contextMapping"},
      {both(sets, "{id: two, type: decision, title: T, decision: {instruction: Which one?, optionsFrom: verdct}}"),
       "unknown_context_key@/steps/1/decision"},
      {both(sets, "{id: two, type: workflow, title: T, workflowId: w, captureAs: out}, " +
                      step("three", "runCondition: {var: out.outcome, equals: complete}")),
       ""},
      {both(sets,
            "{id: two, type: decision, title: T, captureAs: pick, decision: {instruction: Which one?, options: "
            "[red, blue]}}, " +
                step("three", "runCondition: {var: pick, equals: red}")),
       ""},
      {both(sets, loop("two", "type: forEach, maxIterations: 2, items: verdict, itemVar: file",
                       "[{id: three, title: T, prompt: \"{{file.name}} {{currentIteration}}\"}]")),
       ""},
      // A key that nothing sets is reported once, however often it is read.
      {uses("runCondition: {var: verdct}, needs: [verdct], guidance: [\"{{verdct}}\"]"),
       "unknown_context_key@/steps/1/guidance/0"},
      // What a template's steps set is unknown here.
      {both(sets, "{id: two, title: T, templateCall: {templateId: t}}, " + step("three", "needs: [anything]")), ""},
  });
}

TEST(DefinitionSense, StepsThatCannotBeReached) {
  const auto never = [](std::string_view condition) { return with_fields(fmt::format("runCondition: {}", condition)); };
  for (const std::string_view condition :
       {"{or: []}", "{var: x, in: []}", "{not: {}}", "{and: [{var: x, equals: a}, {var: x, equals: b}]}"})
    EXPECT_EQ(reported(never(condition)), "never_true@/steps/0/runCondition") << condition;
  expect_rows({
      {with_fields("promptFragments: [{id: a, text: t, when: {or: []}}]"),
       "never_true@/steps/0/promptFragments/0/when"},
      {with_steps(
           "{id: fan, type: parallel, title: P, parallelDelegations: [{workflowId: w, runCondition: {or: []}}]}"),
       "never_true@/steps/0/parallelDelegations/0/runCondition"},
      {with_steps(step("one") + ", " + step("two", "jumpIf: {when: {or: []}, to: one}")), "never_true@/steps/1/jumpIf"},
  });
}

TEST(DefinitionSense, LoopsThatCannotExit) {
  const auto with_loop = [](std::string_view rules, std::string_view more = "") {
    return with_steps(loop("two", rules, "[" + step("one", more) + "]"));
  };
  expect_rows({
      {with_loop("type: while, maxIterations: 3, condition: {}"), "endless_loop@/steps/0/loop"},
      {with_loop("type: while, maxIterations: 3, condition: {not: {or: []}}"), "endless_loop@/steps/0/loop"},
      {with_loop("type: until, maxIterations: 3, condition: {or: []}"), "endless_loop@/steps/0/loop"},
      {with_loop("type: until, maxIterations: 3, condition: {}"), "never_true@/steps/0/loop"},
      {with_loop("type: while, maxIterations: 3, condition: {var: x, in: []}"), "never_true@/steps/0/loop"},
      // A step of the body ends it, so its condition is not checked.
      {with_loop("type: while, maxIterations: 3, condition: {}",
                 "outputContract: {contractRef: wr.contracts.loop_control}"),
       ""},
      {with_loop("type: for, maxIterations: 3, count: 3, condition: {}"), ""},
      {with_loop("type: while, maxIterations: 3, condition: {var: more}"), ""},
      {with_loop("type: while, maxIterations: 3, condition: {var: more}", "captures: {more: {type: boolean}}"), ""},
      {with_loop("type: while, maxIterations: 3, condition: {var: currentIteration, lt: 2}", "captures: {a: {}}"), ""},
      {with_steps(step("one", "captures: {more: {}}") + ", " +
                  loop("two", "type: while, maxIterations: 3, condition: {var: more}", "[" + step("three") + "]")),
       "endless_loop@/steps/1/loop"},
  });
}

// Regression: one unknown field on a step used to give eleven messages.
TEST(DefinitionFaults, OneMistakeGivesOneFault) {
  expect_rows({
      {with_fields("runCondtion: {var: x}"), "unknown_key@/steps/0/runCondtion"},
      {with_steps("{id: one, titel: T, prompt: p}"), "unknown_key@/steps/0/titel"},
      {with_steps("{id: one, title: T, promt: p}"), "unknown_key@/steps/0/promt"},
      {with_steps("{id: one, title: T, type: lop, loop: {type: for, maxIterations: 2, count: 2}, body: [{id: x}]}"),
       "unknown_choice@/steps/0/type"},
      {with_steps("{id: one, title: T, loop: {type: for, maxIterations: 2, count: 2}, body: [" + step("two") + "]}"),
       "missing_key@/steps/0"},
      {with_steps("{id: one, title: T, parallelDelegations: [{workflowId: w}]}"), "missing_key@/steps/0"},
      {with_steps("{id: one, title: T, decision: {instruction: Which one?, options: [red, blue]}}"),
       "missing_key@/steps/0"},
      {with_steps("{id: one, title: T, workflowId: w}"), "missing_key@/steps/0"},
      // A broken body is not also reported as a loop without an exit.
      {with_steps(loop("two", "type: while, maxIterations: 2, condition: {}", "[{id: one, title: T}]")),
       "missing_key@/steps/0/body/0"},
      {with_steps(loop("two", "type: while, maxIterations: 2, condition: {var: x, gt: high}", "[" + step("one") + "]")),
       "wrong_kind@/steps/0/loop/condition/gt"},
      {with_steps(step("Bad", "") + ", " + step("two", "jumpIf: {when: {var: x}, to: Bad}")), "bad_id@/steps/0/id"},
      {with_fields("runCondition: {var: x, equal: 1}"), "unknown_key@/steps/0/runCondition/equal"},
      {with_fields("validationCriteria: [{type: regex, pattern: \"(\", message: m}]"),
       "invalid_value@/steps/0/validationCriteria/0/pattern"},
  });
}

TEST(DefinitionPinned, AcceptsOnlyWhatCompilingMakes) {
  const auto pinned = [](std::string_view steps) { return reported(with_steps(steps), DefinitionForm::kPinned); };
  EXPECT_EQ(pinned("{id: caller.step, title: T, prompt: p}"), "");
  EXPECT_EQ(pinned("{id: one__verification, title: T, prompt: p, command: make test, notesOptional: true}"), "");
  EXPECT_EQ(pinned("{id: one, title: T, prompt: \"" + repeat("x", 20'000) + "\"}"), "");
  EXPECT_EQ(pinned("{id: one, title: T, templateCall: {templateId: t}}"), "unknown_key@/steps/0/templateCall");
  EXPECT_EQ(pinned("{id: one, title: T, promptBlocks: {goal: g}}"), "unknown_key@/steps/0/promptBlocks");
  EXPECT_EQ(pinned(loop("two", kTwice, "one")), "wrong_kind@/steps/0/body");
  EXPECT_EQ(defined(document_from(with_steps("{id: one__verification, title: T, prompt: p, command: make}")),
                    DefinitionForm::kPinned)
                .steps[0]
                .command,
            "make");
}

}  // namespace
}  // namespace sb::workflow

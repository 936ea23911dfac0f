// Steps of all kinds: every field at its limits, and one past them.
#include <gmock/gmock.h>

#include "workflow/definition/testing.hpp"

namespace sb::workflow {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct Row {
  std::string text;
  std::string fault;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const auto& [text, fault] : rows) EXPECT_EQ(reported(text), fault) << text.substr(0, 400);
}

Step only_step(std::string_view steps) {
  return defined(with_steps(steps)).steps.at(0);
}

TEST(DefinitionStep, IdsAndTitles) {
  const auto with_id = [](std::string_view id) {
    return with_steps(fmt::format("{{id: \"{}\", title: T, prompt: p}}", id));
  };
  const auto with_title = [](std::string_view title) {
    return with_steps(fmt::format("{{id: one, title: \"{}\", prompt: p}}", title));
  };
  expect_rows({
      {with_id("a-1"), ""},
      {with_id("---"), ""},
      {with_id(repeat("a", 64)), ""},
      {with_id(repeat("a", 65)), "too_long@/steps/0/id"},
      {with_id("ab"), "too_short@/steps/0/id"},
      {with_id("a_b"), "bad_id@/steps/0/id"},
      {with_id("a.b"), "bad_id@/steps/0/id"},
      {with_id("Abc"), "bad_id@/steps/0/id"},
      {with_title(repeat("ж", 128)), ""},
      {with_title(repeat("ж", 129)), "too_long@/steps/0/title"},
      {with_title(""), "too_short@/steps/0/title"},
      {with_steps("{title: T, prompt: p}"), "missing_key@/steps/0"},
      {with_steps("{id: one, prompt: p}"), "missing_key@/steps/0"},
      {with_steps("text"), "wrong_kind@/steps/0"},
      {with_steps("{id: one, title: T, prompt: p}, 7"), "wrong_kind@/steps/1"},
  });
}

TEST(DefinitionStep, ExactlyOnePrompt) {
  const auto step = [](std::string_view fields) {
    return with_steps(fmt::format("{{id: one, title: T, {}}}", fields));
  };
  expect_rows({
      {step("prompt: p"), ""},
      {step("promptBlocks: {goal: g}"), ""},
      {step("templateCall: {templateId: t}"), ""},
      {with_steps("{id: one, title: T}"), "missing_key@/steps/0"},
      {step("prompt: p, promptBlocks: {goal: g}"), "two_prompts@/steps/0"},
      {step("prompt: p, templateCall: {templateId: t}"), "two_prompts@/steps/0"},
      {step("prompt: p, promptBlocks: {goal: g}, templateCall: {templateId: t}"), "two_prompts@/steps/0"},
      {step("prompt: \"\""), "too_short@/steps/0/prompt"},
      {step("prompt: \"" + repeat("ä", 8192) + "\""), ""},
      {step("prompt: \"" + repeat("ä", 8193) + "\""), "too_long@/steps/0/prompt"},
      {step("prompt: [p]"), "wrong_kind@/steps/0/prompt"},
  });
}

TEST(DefinitionStep, PromptBlocks) {
  const auto blocks = [](std::string_view fields) {
    return with_steps(fmt::format("{{id: one, title: T, promptBlocks: {{{}}}}}", fields));
  };
  expect_rows({
      {blocks("goal: g, constraints: [c], procedure: [p], outputRequired: {notes: n}, verify: [v]"), ""},
      {blocks("goal: [{kind: text, text: a}, {kind: ref, refId: wr.refs.memory_usage}]"), ""},
      {blocks("constraints: [[{kind: ref, refId: r}], plain]"), ""},
      {blocks(""), "empty_blocks@/steps/0/promptBlocks"},
      {blocks("goal: 5"), "wrong_kind@/steps/0/promptBlocks/goal"},
      {blocks("goals: g"), "unknown_key@/steps/0/promptBlocks/goals"},
      {blocks("procedure: p"), "wrong_kind@/steps/0/promptBlocks/procedure"},
      {blocks("verify: [{}]"), "wrong_kind@/steps/0/promptBlocks/verify/0"},
      {blocks("goal: [{kind: link, refId: r}]"), "unknown_choice@/steps/0/promptBlocks/goal/0/kind"},
      {blocks("goal: [{kind: ref}]"), "missing_key@/steps/0/promptBlocks/goal/0"},
      {blocks("goal: [{kind: ref, refId: \"\"}]"), "too_short@/steps/0/promptBlocks/goal/0/refId"},
      {blocks("goal: [{kind: text, text: a, refId: b}]"), "unknown_key@/steps/0/promptBlocks/goal/0/refId"},
      {blocks("goal: [{text: a}]"), "missing_key@/steps/0/promptBlocks/goal/0"},
      {blocks("goal: [plain]"), "wrong_kind@/steps/0/promptBlocks/goal/0"},
      {blocks("outputRequired: [a]"), "wrong_kind@/steps/0/promptBlocks/outputRequired"},
      {blocks("outputRequired: {a: 1}"), "wrong_kind@/steps/0/promptBlocks/outputRequired/a"},
  });
  EXPECT_EQ(only_step("{id: one, title: T, promptBlocks: {goal: g}}").prompt_blocks["goal"], Value("g"));
}

TEST(DefinitionStep, TemplateCalls) {
  const auto call = [](std::string_view fields) {
    return with_steps(fmt::format("{{id: one, title: T, templateCall: {{{}}}}}", fields));
  };
  expect_rows({
      {call("templateId: " + repeat("t", 128)), ""},
      {call("templateId: " + repeat("t", 129)), "too_long@/steps/0/templateCall/templateId"},
      {call("templateId: \"\""), "too_short@/steps/0/templateCall/templateId"},
      {call("args: {}"), "missing_key@/steps/0/templateCall"},
      {call("templateId: t, args: [a]"), "wrong_kind@/steps/0/templateCall/args"},
      {call("templateId: t, arguments: {}"), "unknown_key@/steps/0/templateCall/arguments"},
  });
  EXPECT_EQ(only_step("{id: one, title: T, templateCall: {templateId: t, args: {a: 1}}}").template_call->args["a"],
            Value(1));
}

TEST(DefinitionStep, Fragments) {
  const auto fragments = [](std::string_view list) { return with_fields(fmt::format("promptFragments: [{}]", list)); };
  expect_rows({
      {fragments("{id: a, text: t}"), ""},
      {fragments("{id: a, text: t, when: {var: x, equals: 1}}, {id: b_-1, text: u}"), ""},
      {fragments("{id: a, text: \"{{name}}\"}"), ""},
      {fragments(""), "too_few@/steps/0/promptFragments"},
      {fragments("{id: a}"), "missing_key@/steps/0/promptFragments/0"},
      {fragments("{id: A, text: t}"), "bad_id@/steps/0/promptFragments/0/id"},
      {fragments("{id: 1a, text: t}"), "bad_id@/steps/0/promptFragments/0/id"},
      {fragments(fmt::format("{{id: {}, text: t}}", repeat("a", 65))), "too_long@/steps/0/promptFragments/0/id"},
      {fragments(fmt::format("{{id: a, text: {}}}", repeat("a", 4096))), ""},
      {fragments(fmt::format("{{id: a, text: {}}}", repeat("a", 4097))), "too_long@/steps/0/promptFragments/0/text"},
      {fragments("{id: a, text: t}, {id: a, text: u}"), "duplicate_fragment@/steps/0/promptFragments/1/id"},
      {fragments("{id: a, text: \"{{wr.bindings.x}}\"}"), "early_token@/steps/0/promptFragments/0/text"},
      {fragments("{id: a, text: t, when: {var: x, gt: five}}"), "wrong_kind@/steps/0/promptFragments/0/when/gt"},
  });
}

TEST(DefinitionStep, TextsFlagsAndTiers) {
  expect_rows({
      {with_fields("agentRole: " + repeat("x", 10)), ""},
      {with_fields("agentRole: " + repeat("x", 9)), "too_short@/steps/0/agentRole"},
      {with_fields("agentRole: " + repeat("x", 1025)), "too_long@/steps/0/agentRole"},
      {with_fields("guidance: [a, a, \"\"]"), ""},
      {with_fields("guidance: a"), "wrong_kind@/steps/0/guidance"},
      {with_fields("modelTier: mid"), ""},
      {with_fields("modelTier: midd"), "unknown_choice@/steps/0/modelTier"},
      {with_fields("askForFiles: true, hasValidation: true, notesOptional: true"), ""},
      {with_fields("askForFiles: 1"), "wrong_kind@/steps/0/askForFiles"},
      {with_fields("hasValidation: \"no\""), "wrong_kind@/steps/0/hasValidation"},
      {with_fields("notesOptional: {}"), "wrong_kind@/steps/0/notesOptional"},
      {with_fields("colour: red"), "unknown_key@/steps/0/colour"},
      {with_fields("command: make"), "unknown_key@/steps/0/command"},
  });
}

TEST(DefinitionStep, Confirmations) {
  const auto confirmation = [](std::string_view value) {
    return only_step(fmt::format("{{id: one, title: T, prompt: p, requireConfirmation: {}}}", value)).confirmation;
  };
  using Kind = Confirmation::Kind;
  EXPECT_EQ(confirmation("false").kind, Kind::kNone);
  EXPECT_EQ(confirmation("true").kind, Kind::kEvaluator);
  EXPECT_EQ(confirmation("{kind: coordinator_eval}").kind, Kind::kEvaluator);
  EXPECT_EQ(confirmation("{kind: human_approval}").kind, Kind::kPerson);
  EXPECT_TRUE(confirmation("{kind: human_approval, condition: {var: x}}").when.has_value());
  EXPECT_EQ(confirmation("{var: x, equals: 1}").kind, Kind::kEvaluator);
  EXPECT_EQ(confirmation("{var: x, equals: 1}").when->var, "x");
  expect_rows({
      {with_fields("requireConfirmation: \"yes\""), "wrong_kind@/steps/0/requireConfirmation"},
      {with_fields("requireConfirmation: {kind: human}"), "unknown_choice@/steps/0/requireConfirmation/kind"},
      {with_fields("requireConfirmation: {kind: human_approval, var: x}"),
       "unknown_key@/steps/0/requireConfirmation/var"},
  });
}

TEST(DefinitionStep, ContractsAuditsAndVerification) {
  expect_rows({
      {with_fields("outputContract: {contractRef: wr.contracts.loop_control, required: false}"), ""},
      {with_fields("outputContract: {}"), "missing_key@/steps/0/outputContract"},
      {with_fields("outputContract: {contractRef: \"\"}"), "too_short@/steps/0/outputContract/contractRef"},
      {with_fields("outputContract: {contract: c}"), "unknown_key@/steps/0/outputContract/contract"},
      {with_fields("audit: {prompt: p}"), ""},
      {with_fields("audit: {rubric: [r]}"), ""},
      {with_fields("audit: {}"), "empty_audit@/steps/0/audit"},
      {with_fields("audit: {rubric: []}"), "too_few@/steps/0/audit/rubric"},
      {with_fields("audit: {prompt: " + repeat("x", 4097) + "}"), "too_long@/steps/0/audit/prompt"},
      {with_fields("verification: {command: make test}"), ""},
      {with_fields("verification: {prompt: p}"), ""},
      {with_fields("verification: {}"), ""},
      {with_fields("verification: {command: \"\"}"), "too_short@/steps/0/verification/command"},
      {with_fields("verification: {command: " + repeat("x", 1025) + "}"), "too_long@/steps/0/verification/command"},
      {with_fields("verification: {cmd: x}"), "unknown_key@/steps/0/verification/cmd"},
  });
}

TEST(DefinitionStep, CapturesNeedsAndInterlock) {
  const Step step = only_step(
      "{id: one, title: T, prompt: p, captures: {slices: {type: array}}, needs: [a, b.c], writes: [\"src/**\"], "
      "commands: read-only}");
  EXPECT_EQ(step.captures.at(0).key, "slices");
  EXPECT_EQ(step.captures.at(0).schema["type"], Value("array"));
  EXPECT_THAT(step.needs, ElementsAre("a", "b.c"));
  EXPECT_THAT(step.interlock.writes, ElementsAre("src/**"));
  EXPECT_TRUE(step.interlock.commands_read_only);
  const Step none = only_step("{id: one, title: T, prompt: p, writes: none, commands: any}");
  EXPECT_TRUE(none.interlock.writes_declared);
  EXPECT_TRUE(none.interlock.writes.empty());
  EXPECT_FALSE(none.interlock.commands_read_only);
  EXPECT_FALSE(only_step(kPlainStep).interlock.writes_declared);
  expect_rows({
      {with_fields("captures: {a-b: {}}"), "bad_name@/steps/0/captures/a-b"},
      {with_fields("captures: {a: {type: lizt}}"), "bad_schema@/steps/0/captures/a/type"},
      {with_fields("captures: {a: {colour: red}}"), "bad_schema@/steps/0/captures/a/colour"},
      {with_fields("captures: {a: {\"$ref\": \"http://example.com/x\"}}"), "bad_schema@/steps/0/captures/a/$ref"},
      {with_fields("captures: [a]"), "wrong_kind@/steps/0/captures"},
      {with_fields("needs: [a, a]"), "repeated@/steps/0/needs/1"},
      {with_fields("needs: [\"\"]"), "too_short@/steps/0/needs/0"},
      {with_fields("writes: all"), "unknown_choice@/steps/0/writes"},
      {with_fields("writes: []"), "too_few@/steps/0/writes"},
      {with_fields("writes: true"), "wrong_kind@/steps/0/writes"},
      {with_fields("commands: readonly"), "unknown_choice@/steps/0/commands"},
  });
}

TEST(DefinitionLoop, Kinds) {
  const auto loop = [](std::string_view rules) {
    return with_steps(fmt::format("{{id: round, type: loop, title: L, loop: {{{}}}, body: [{}]}}", rules, kPlainStep));
  };
  expect_rows({
      {loop("type: while, maxIterations: 3, condition: {var: x}"), ""},
      {loop("type: until, maxIterations: 3, condition: {var: x}"), ""},
      {loop("type: for, maxIterations: 3, count: 3"), ""},
      {loop("type: for, maxIterations: 3.0, count: rounds"), ""},
      {loop("type: forEach, maxIterations: 1000, items: list, itemVar: x, indexVar: i, iterationVar: n"), ""},
      {loop("type: forEach, maxIterations: 3, items: list, parallel: 2, captureAs: results"), ""},
      {loop("type: while, maxIterations: 3, conditionSource: {kind: artifact_contract, contractRef: c, loopId: l}"),
       ""},
      {loop("type: while, maxIterations: 3, conditionSource: {kind: context_variable, condition: {var: x}}"), ""},
      {loop("type: while, maxIterations: 3"), "missing_key@/steps/0/loop"},
      {loop("type: for, maxIterations: 3"), "missing_key@/steps/0/loop"},
      {loop("type: forEach, maxIterations: 3"), "missing_key@/steps/0/loop"},
      {loop("type: for, count: 3"), "missing_key@/steps/0/loop"},
      {loop("maxIterations: 3"), "missing_key@/steps/0/loop"},
      {loop("type: foreach, maxIterations: 3, items: list"), "unknown_choice@/steps/0/loop/type"},
      {loop("type: for, maxIterations: 0, count: 3"), "out_of_range@/steps/0/loop/maxIterations"},
      {loop("type: for, maxIterations: 1001, count: 3"), "out_of_range@/steps/0/loop/maxIterations"},
      {loop("type: for, maxIterations: 2.5, count: 3"), "wrong_kind@/steps/0/loop/maxIterations"},
      {loop("type: for, maxIterations: 3, count: 1001"), "out_of_range@/steps/0/loop/count"},
      {loop("type: for, maxIterations: 3, count: true"), "wrong_kind@/steps/0/loop/count"},
      {loop("type: forEach, maxIterations: 3, items: [a]"), "wrong_kind@/steps/0/loop/items"},
      {loop("type: forEach, maxIterations: 3, items: list, itemVar: 1x"), "bad_name@/steps/0/loop/itemVar"},
      {loop("type: forEach, maxIterations: 3, items: list, itemVar: x, indexVar: x"),
       "duplicate_loop_variable@/steps/0/loop/indexVar"},
      {loop("type: for, maxIterations: 3, count: 2, parallel: 2"), "parallel_without_items@/steps/0/loop/parallel"},
      {loop("type: forEach, maxIterations: 3, items: list, captureAs: r"),
       "capture_without_parallel@/steps/0/loop/captureAs"},
      {loop("type: while, maxIterations: 3, conditionSource: {kind: oracle}"),
       "unknown_choice@/steps/0/loop/conditionSource/kind"},
      {loop("type: while, maxIterations: 3, conditionSource: {kind: artifact_contract}"),
       "missing_key@/steps/0/loop/conditionSource"},
      {loop("type: while, maxIterations: 3, conditionSource: {kind: context_variable}"),
       "missing_key@/steps/0/loop/conditionSource"},
      {loop("type: while, maxIteration: 3, condition: {var: x}"), "unknown_key@/steps/0/loop/maxIteration"},
  });
}

TEST(DefinitionLoop, BodiesMayContainEveryKindOfStep) {
  EXPECT_EQ(
      reported(with_steps("{id: round, type: loop, title: L, loop: {type: for, maxIterations: 3, count: 2}, body: ["
                          "{id: one, title: T, prompt: p}, {id: fan, type: parallel, title: P, parallelDelegations: "
                          "[{workflowId: w}]}, {id: ask, type: decision, title: D, decision: {instruction: Which one?, "
                          "options: [red, blue]}}, {id: call, type: workflow, title: C, workflowId: w}, {id: inner, "
                          "type: loop, title: I, loop: {type: for, maxIterations: 2, count: 2}, body: [{id: two, "
                          "title: T, prompt: p}]}]}")),
      "");
}

TEST(DefinitionLoop, TheSourceIsTheExplicitOneThenTheBodysThenTheCondition) {
  const auto source = [](std::string_view rules, std::string_view body_fields) {
    const Step step = only_step(
        fmt::format("{{id: round, type: loop, title: L, loop: {{type: while, maxIterations: 3, {}}}, body: [{{id: one, "
                    "title: T, prompt: p{}}}]}}",
                    rules, body_fields));
    return step.loop()->loop.source;
  };
  constexpr std::string_view kCarries = ", outputContract: {contractRef: wr.contracts.loop_control}";
  EXPECT_TRUE(std::holds_alternative<Condition>(source("condition: {var: x}", "")));
  EXPECT_EQ(std::get<Loop::FromArtifact>(source("condition: {var: x}", kCarries)).contract_ref,
            "wr.contracts.loop_control");
  EXPECT_TRUE(std::holds_alternative<Condition>(
      source("conditionSource: {kind: context_variable, condition: {var: y}}", kCarries)));
  EXPECT_EQ(
      std::get<Loop::FromArtifact>(
          source("condition: {var: x}, conditionSource: {kind: artifact_contract, contractRef: c, loopId: l}", ""))
          .loop_id,
      "l");
}

TEST(DefinitionParallel, Fields) {
  const auto parallel = [](std::string_view fields) {
    return with_steps(fmt::format("{{id: fan, type: parallel, title: P, {}}}", fields));
  };
  const auto one = [&](std::string_view fields) {
    return parallel(fmt::format("parallelDelegations: [{{workflowId: w, {}}}]", fields));
  };
  expect_rows({
      {parallel(
           "parallelDelegations: [{workflowId: w}], requireConfirmation: true, runCondition: {var: x}, "
           "notesOptional: true, synthesis: {prompt: p, outputContract: {contractRef: c}}, needs: [k], writes: none"),
       ""},
      {one("goal: g, runCondition: {var: x}, contextMapping: {a: b}, args: {c: d}, modelTier: mid, allowedTools: "
           "[Read, \"mcp__x:y-z\"], id: first, captureAs: out"),
       ""},
      {with_steps("{id: fan, type: parallel, title: P}"), "missing_key@/steps/0"},
      {parallel("parallelDelegations: []"), "too_few@/steps/0/parallelDelegations"},
      {parallel("parallelDelegations: [{workflowId: w}, {workflowId: w}]"), "repeated@/steps/0/parallelDelegations/1"},
      {parallel("parallelDelegations: [{goal: g}]"), "missing_key@/steps/0/parallelDelegations/0"},
      {one("contextMapping: {a: 1}"), "wrong_kind@/steps/0/parallelDelegations/0/contextMapping/a"},
      {one("args: {a: [b]}"), "wrong_kind@/steps/0/parallelDelegations/0/args/a"},
      {one("allowedTools: []"), "too_few@/steps/0/parallelDelegations/0/allowedTools"},
      {one("allowedTools: [\"1x\"]"), "bad_name@/steps/0/parallelDelegations/0/allowedTools/0"},
      {one("captureAs: a-b"), "bad_name@/steps/0/parallelDelegations/0/captureAs"},
      {one("id: \"a b\""), "bad_id@/steps/0/parallelDelegations/0/id"},
      {parallel("parallelDelegations: [{workflowId: w, id: a}, {workflowId: v, id: a}]"),
       "duplicate_delegation@/steps/0/parallelDelegations/1/id"},
      {parallel("parallelDelegations: [{workflowId: w, captureAs: a}, {workflowId: v, captureAs: a}]"),
       "duplicate_capture@/steps/0/parallelDelegations/1/captureAs"},
      {parallel("parallelDelegations: [{workflowId: w}, {workflowId: v}], quorum: 2"), ""},
      {parallel("parallelDelegations: [{workflowId: w}, {workflowId: v}], quorum: 3"),
       "quorum_too_large@/steps/0/quorum"},
      {parallel("parallelDelegations: [{workflowId: w}], quorum: 0"), "out_of_range@/steps/0/quorum"},
      {parallel("parallelDelegations: [{workflowId: w}], audit: {prompt: p}"), "unknown_key@/steps/0/audit"},
      {parallel("parallelDelegations: [{workflowId: w}], verification: {prompt: p}"),
       "unknown_key@/steps/0/verification"},
      {with_fields("synthesis: {prompt: p}"), "unknown_key@/steps/0/synthesis"},
  });
}

TEST(DefinitionParallel, DelegationsWithoutIdsGetDistinctNames) {
  const Step step = only_step(
      "{id: fan, type: parallel, title: P, parallelDelegations: [{workflowId: w, goal: a}, {workflowId: w, goal: b}, "
      "{workflowId: v, id: w-2}, {workflowId: w, goal: c}]}");
  std::vector<std::string> ids;
  for (const Delegation& delegation : step.parallel()->delegations) ids.push_back(delegation.id);
  EXPECT_THAT(ids, ElementsAre("w", "w-3", "w-2", "w-4"));
}

TEST(DefinitionCall, Fields) {
  const auto call = [](std::string_view fields) {
    return with_steps(fmt::format("{{id: review, type: workflow, title: R{}}}", fields));
  };
  expect_rows({
      {call(", workflowId: wr.mr-review, goal: g, contextMapping: {a: b}, args: {c: d}, captureAs: out, modelTier: "
            "heavy, "
            "allowedTools: [Read], runCondition: {var: x}, requireConfirmation: true, notesOptional: true, needs: [a]"),
       ""},
      {call(""), "missing_key@/steps/0"},
      {call(", workflowId: w, prompt: p"), "unknown_key@/steps/0/prompt"},
      {call(", workflowId: \"\""), "too_short@/steps/0/workflowId"},
  });
  const Step step =
      only_step("{id: review, type: workflow, title: R, workflowId: w, contextMapping: {a: b}, captureAs: out}");
  EXPECT_EQ(step.call()->call.workflow_id, "w");
  EXPECT_THAT(step.call()->call.context_mapping, ElementsAre(Pair("a", "b")));
  EXPECT_EQ(step.call()->call.capture_as, "out");
}

TEST(DefinitionDecision, Fields) {
  const auto ask = [](std::string_view declaration, std::string_view more = "") {
    return with_steps(fmt::format("{{id: ask, type: decision, title: D, decision: {{{}}}{}}}", declaration, more));
  };
  expect_rows({
      {ask("instruction: Which one?, options: [red, blue]", ", captureAs: colour, runCondition: {var: x}, needs: [a]"),
       ""},
      {ask("instruction: Which one?, optionsFrom: shapes, select: one"), ""},
      {ask("instruction: Which ones?, optionsFrom: shapes, select: many, min: 2, max: 5"), ""},
      {ask("instruction: What name?, select: text"), ""},
      {ask("instruction: Which one?, options: [red, blue], optionsFrom: shapes"),
       "two_options@/steps/0/decision/optionsFrom"},
      {ask("instruction: Which one?, options: [red, blue], colour: red"), "unknown_key@/steps/0/decision/colour"},
      {ask("instruction: Which one?, options: [red]"), "invalid_value@/steps/0/decision/options"},
      {ask("instruction: Which one?, options: [red, {label: 5}]"), "wrong_kind@/steps/0/decision/options/1/label"},
      {ask("instruction: What name?, select: text, optionsFrom: shapes"),
       "invalid_value@/steps/0/decision/optionsFrom"},
      {ask("decision: x, instruction: Which one?, options: [red, blue]"), "unknown_key@/steps/0/decision/decision"},
      {ask("instruction: Which one?, optionsFrom: \"\""), "too_short@/steps/0/decision/optionsFrom"},
      {with_steps("{id: ask, type: decision, title: D}"), "missing_key@/steps/0"},
      {with_steps("{id: ask, type: decision, title: D, decision: text}"), "wrong_kind@/steps/0/decision"},
  });
  EXPECT_EQ(defined(ask("instruction: Which one?, options: [red, blue]")).steps[0].decision()->capture_as, "ask");
}

TEST(DefinitionFunctions, CallsAreChecked) {
  constexpr std::string_view kFunctions =
      "functionDefinitions: [{name: f, definition: d, parameters: [{name: a, type: string, required: true}, {name: b, "
      "type: number, enum: [1, 2]}, {name: c, type: boolean, required: true, default: true}]}]";
  const auto call = [&](std::string_view calls) {
    return workflow_text(kFunctions, fmt::format("{{id: one, title: T, prompt: p, {}}}", calls));
  };
  expect_rows({
      {call("functionCalls: [{name: f, args: {a: x}}]"), ""},
      {call("functionCalls: [{name: f, args: {a: x, b: 2, c: false}}]"), ""},
      {call("functionReferences: [\"f()\", \"other()\"]"), ""},
      {call("functionCalls: [{name: g, args: {}}]"), "unknown_function@/steps/0/functionCalls/0"},
      {call("functionCalls: [{name: f, args: {}}]"), "bad_argument@/steps/0/functionCalls/0"},
      {call("functionCalls: [{name: f, args: {a: 5}}]"), "bad_argument@/steps/0/functionCalls/0/args/a"},
      {call("functionCalls: [{name: f, args: {a: x, b: 3}}]"), "bad_argument@/steps/0/functionCalls/0/args/b"},
      {call("functionCalls: [{name: f}]"), "missing_key@/steps/0/functionCalls/0"},
      {call("functionCalls: [{name: g, args: {}}], functionDefinitions: [{name: g, definition: d, scope: step}]"), ""},
      {call("functionReferences: [f]"), "bad_name@/steps/0/functionReferences/0"},
      {call("functionDefinitions: [{name: 1g, definition: d}]"), "bad_name@/steps/0/functionDefinitions/0/name"},
      {call("functionDefinitions: [{name: g, definition: d, scope: world}]"),
       "unknown_choice@/steps/0/functionDefinitions/0/scope"},
      {call("functionDefinitions: [{name: g, definition: d, parameters: [{name: a, type: date}]}]"),
       "unknown_choice@/steps/0/functionDefinitions/0/parameters/0/type"},
      {call("functionDefinitions: [{name: g, definition: d, parameters: [{name: a, type: string, enum: []}]}]"),
       "too_few@/steps/0/functionDefinitions/0/parameters/0/enum"},
      {call("functionDefinitions: [{name: g, definition: d, parameters: [{name: a, type: string, enum: [[]]}]}]"),
       "wrong_kind@/steps/0/functionDefinitions/0/parameters/0/enum/0"},
  });
  EXPECT_THAT(only_step("{id: one, title: T, prompt: p, functionReferences: [\"f()\"]}").function_references,
              ElementsAre("f"));
}

TEST(DefinitionFunctions, OfALoopAreInScopeInItsBody) {
  EXPECT_EQ(
      reported(with_steps("{id: round, type: loop, title: L, functionDefinitions: [{name: f, definition: d}], loop: "
                          "{type: for, maxIterations: 2, count: 2}, body: [{id: one, title: T, prompt: p, "
                          "functionCalls: [{name: f, args: {}}]}]}, {id: two, title: T, prompt: p, functionCalls: "
                          "[{name: f, args: {}}]}")),
      "unknown_function@/steps/1/functionCalls/0");
}

}  // namespace
}  // namespace sb::workflow

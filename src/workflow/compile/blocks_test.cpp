// promptBlocks, features, refs, bindings, and unresolved tokens.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string workflow(std::string_view steps, std::string_view head = "") {
  return fmt::format("id: test-flow\nname: Test\ndescription: For tests.\nversion: 1.0.0\n{}\nsteps:\n{}", head, steps);
}

std::string first_prompt(const Bundle& bundle) {
  return bundle.back()->definition.steps[0].prompt;
}

TEST(CompileBlocks, RenderInTheFixedOrder) {
  const Bundle bundle = compiled(workflow(R"(
  - id: plan
    title: Plan
    promptBlocks:
      verify: [It fits.]
      outputRequired: {plan: The plan., risks: What may go wrong.}
      procedure: [Read., "Write\nit down."]
      constraints: [Short., [{kind: text, text: "No "}, {kind: text, text: code.}]]
      goal: Make a plan.
)"));
  EXPECT_EQ(first_prompt(bundle),
            "## Goal\nMake a plan.\n\n"
            "## Constraints\n- Short.\n- No code.\n\n"
            "## Procedure\n1. Read.\n2. Write\n   it down.\n\n"
            "## Output Required\n- **plan**: The plan.\n- **risks**: What may go wrong.\n\n"
            "## Verify\n- It fits.");
  EXPECT_TRUE(bundle.back()->definition.steps[0].prompt_blocks.is_null());
}

// They are rendered in place, both in the value and in the steps, with the same result.
TEST(CompileBlocks, ArePinnedAsTheyAreReadBackAlsoInLoops) {
  const Bundle bundle = compiled(workflow(R"(
  - {id: plain, title: Plain, prompt: Look.}
  - id: again
    title: Again
    type: loop
    loop: {type: for, count: 2, maxIterations: 2}
    body:
      - {id: inner, title: Inner, promptBlocks: {goal: Go., constraints: [Short.]}}
      - {id: other, title: Other, prompt: Read.}
)",
                                          "features: [wr.features.memory_context]"));
  const Definition& made = bundle.back()->definition;
  const auto back = read_pinned(bundle.back()->pinned);
  ASSERT_TRUE(back) << back.error().to_string();
  const auto prompts = [](const Definition& definition) {
    std::vector<std::string> all;
    for_each_step(definition.steps, [&](const Step& step) {
      EXPECT_TRUE(step.prompt_blocks.is_null());
      all.push_back(step.id + ": " + step.prompt);
    });
    return all;
  };
  EXPECT_EQ(prompts(made), prompts((*back)->definition));
  EXPECT_THAT(made.steps[1].loop()->body[0].prompt, HasSubstr("## Constraints\n- Short.\n- "));
  EXPECT_TRUE(made.source.is_null());
}

TEST(CompileBlocks, RefsAreFilledIn) {
  FakeResolver around;
  around.add_ref("own.ref", "the house rules");
  const std::string text = workflow(
      "  - {id: plan, title: P, promptBlocks: {goal: [{kind: text, text: 'Follow '}, {kind: ref, refId: own.ref}]}}");
  EXPECT_EQ(first_prompt(compiled(text, around)), "## Goal\nFollow the house rules");
}

TEST(CompileBlocks, UnknownRefNamesTheNearest) {
  const std::string reported = compile_faults(workflow(
      "  - {id: plan, title: P, promptBlocks: {goal: G., constraints: [[{kind: ref, refId: wr.refs.memory_usge}]]}}"));
  EXPECT_THAT(reported, AllOf(HasSubstr("/steps/0/promptBlocks/constraints/0/0/refId"),
                              HasSubstr("Did you mean wr.refs.memory_usage?")));
}

TEST(CompileBlocks, EveryBuiltInRefExists) {
  for (const auto name :
       {"memory_usage", "memory_store", "memory_query", "notes_first_durability", "synthesis_under_disagreement",
        "parallelize_cognition_serialize_synthesis", "adversarial_challenge_rules"}) {
    const std::string reported = compile_faults(workflow(
        fmt::format("  - {{id: plan, title: P, promptBlocks: {{goal: [{{kind: ref, refId: wr.refs.{}}}]}}}}", name)));
    EXPECT_EQ(reported, "");
  }
}

TEST(CompileBlocks, FeaturesAddToBlocksInDeclaredOrderAndNowhereElse) {
  FakeResolver around;
  around.add_feature("one.feature",
                     Value::object({{"constraints", Value::array({"One."})}, {"verify", Value::array({"V1."})}}));
  around.add_feature("two.feature",
                     Value::object({{"constraints", Value::array({"Two."})}, {"procedure", Value::array({"P2."})}}));
  const Bundle bundle = compiled(workflow(R"(
  - {id: plan, title: P, promptBlocks: {goal: G., constraints: [Own.]}}
  - {id: raw, title: R, prompt: Raw.}
)",
                                          "features: [two.feature, one.feature]"),
                                 around);
  EXPECT_EQ(first_prompt(bundle),
            "## Goal\nG.\n\n## Constraints\n- Own.\n- Two.\n- One.\n\n## Procedure\n1. P2.\n\n## Verify\n- V1.");
  EXPECT_EQ(bundle.back()->definition.steps[1].prompt, "Raw.");
}

struct FeatureCount {
  const char* id;
  std::size_t constraints, procedure, verify;
};
TEST(CompileBlocks, BuiltInFeaturesHaveAsManyEntriesAsTheFormat) {
  for (const FeatureCount& expected : {FeatureCount{"wr.features.memory_context", 1, 0, 0},
                                       {"wr.features.capabilities", 3, 3, 3},
                                       {"wr.features.subagent_guidance", 3, 2, 2},
                                       {"wr.features.assumption_resolution", 2, 3, 2}}) {
    const auto found = builtin_features().find(expected.id);
    ASSERT_NE(found, builtin_features().end()) << expected.id;
    EXPECT_EQ(found->second["constraints"].size(), expected.constraints) << expected.id;
    EXPECT_EQ(found->second["procedure"].size(), expected.procedure) << expected.id;
    EXPECT_EQ(found->second["verify"].size(), expected.verify) << expected.id;
  }
  EXPECT_EQ(builtin_refs().size(), 7u);
}

TEST(CompileBlocks, AnUnknownFeatureIsReportedEvenIfNoStepHasBlocks) {
  const std::string reported =
      compile_faults(workflow("  - {id: raw, title: R, prompt: Raw.}", "features: [wr.features.capabilites]"));
  EXPECT_THAT(reported, AllOf(HasSubstr("test.yaml:5:"), HasSubstr("/features/0"),
                              HasSubstr("Did you mean wr.features.capabilities?")));
}

constexpr std::string_view kSlots =
    "extensionPoints: [{slotId: review_pass, purpose: Who reviews., default: wr.routine-review}]";

TEST(CompileBindings, DefaultsFillPromptsAndBlocks) {
  const Bundle bundle = compiled(workflow(R"(
  - {id: one, title: O, prompt: "Run {{wr.bindings.review_pass}} with {{ticket}}."}
  - id: two
    title: T
    promptBlocks:
      goal: "Run {{wr.bindings.review_pass}}."
      procedure: [[{kind: text, text: "{{wr.bindings.review_pass}}"}]]
)",
                                          kSlots));
  EXPECT_EQ(first_prompt(bundle), "Run wr.routine-review with {{ticket}}.");
  EXPECT_EQ(bundle.back()->definition.steps[1].prompt,
            "## Goal\nRun wr.routine-review.\n\n## Procedure\n1. wr.routine-review");
  EXPECT_EQ(bundle.back()->bindings.at("review_pass"), "wr.routine-review");
  EXPECT_EQ(bundle.back()->pinned["bindings"]["review_pass"], Value("wr.routine-review"));
}

// The caller provides the workspace; nothing here asks for the current directory.
TEST(Pain22, BindingsComeFromTheWorkspace) {
  FakeResolver here, there;
  here.bind("test-flow", "review_pass", "team.review");
  const std::string text = workflow("  - {id: one, title: O, prompt: \"Run {{wr.bindings.review_pass}}.\"}", kSlots);
  EXPECT_EQ(first_prompt(compiled(text, here)), "Run team.review.");
  EXPECT_EQ(first_prompt(compiled(text, there)), "Run wr.routine-review.");
  EXPECT_NE(compiled(text, here).back()->hash, compiled(text, there).back()->hash);
}

TEST(CompileBindings, AnUnknownSlotIsReportedOnceWithTheNearest) {
  const std::string reported =
      compile_faults(workflow("  - {id: one, title: O, prompt: \"Run {{wr.bindings.reviw_pass}}.\"}", kSlots));
  EXPECT_THAT(reported, AllOf(HasSubstr("/steps/0/prompt"), HasSubstr("Did you mean review_pass?")));
  EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
}

TEST(CompileBindings, RoutinesHaveTheirOwnSlots) {
  FakeResolver around;
  around.add_routine("wr.templates.routine.look", R"({id: wr.routine-look, name: L, description: L., version: 1.0.0,
    extensionPoints: [{slotId: finder, purpose: F., default: wr.routine-find}],
    steps: [{id: walk, title: G, prompt: "{{wr.bindings.finder}} it"}]})");
  around.bind("wr.routine-look", "finder", "team.find");
  const Bundle bundle = compiled(
      workflow("  - {id: look, title: L, templateCall: {templateId: wr.templates.routine.look}}", kSlots), around);
  EXPECT_EQ(first_prompt(bundle), "team.find it");
  EXPECT_EQ(bundle.back()->bindings.at("look.finder"), "team.find");
}

TEST(CompileScan, NoTokenOfOursRemainsInAText) {
  for (const auto step : {R"({id: one, title: O, prompt: "See {{wr.refs.memory_usage}}."})",
                          R"({id: one, title: O, promptBlocks: {goal: "See {{wr.nothing}}."}})",
                          R"({id: one, title: "{{wr.nothing}}", prompt: P.})",
                          R"({id: one, title: O, prompt: "An open {{wr.bindings.review_pass"})",
                          R"({id: one, title: O, prompt: P., audit: {prompt: "{{wr.nothing}}"}})"}) {
    const std::string reported = compile_faults(workflow(fmt::format("  - {}", step), kSlots));
    EXPECT_THAT(reported, HasSubstr("cannot be resolved")) << step;
    EXPECT_EQ(std::ranges::count(reported, '\n'), 1) << reported;
  }
}

}  // namespace
}  // namespace sb::workflow

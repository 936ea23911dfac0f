// What an agent reads.
#include "engine/answer/answer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "workflow/testing.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHead = "id: shown\nname: Shown\ndescription: For rendering.\nversion: 1.0.0\n";

class RenderedSteps {
 public:
  explicit RenderedSteps(const std::string& yaml) : program_(workflow::compiled(kHead + yaml).back()) {}

  const Program& program() const { return program_; }
  Node node(const std::string& step, std::vector<LoopFrame> loops = {}) const {
    Node node;
    node.number = 1;
    node.position = {step, std::move(loops)};
    return node;
  }
  std::string step(const std::string& id, RenderReason render_reason = RenderReason::kAdvance,
                   const Value& context = Value::object(), std::vector<LoopFrame> loops = {}) const {
    const Node at = node(id, std::move(loops));
    const Value seen = context_at(program_, at.position, context);
    return render_step({.program = program_, .node = at, .context = seen, .render_reason = render_reason});
  }

 private:
  Program program_;
};

constexpr const char* kFull = R"(
preconditions: [The tests pass.]
clarificationPrompts: [Which browser?]
metaGuidance: [Small commits only.]
references:
  - {id: guide, title: Style guide, source: docs/style.md, purpose: How we write, authoritative: true}
  - {id: gone, title: Old notes, source: docs/old.md, purpose: History, authoritative: false}
functionDefinitions:
  - {name: tally, definition: Count the findings.}
  - {name: unused, definition: Never shown.}
steps:
  - id: fix
    title: "Fix {{what}}"
    agentRole: You are a careful plumber.
    prompt: "Look at {{what}} and {{missing}}."
    guidance: ["Start at {{what}}."]
    functionReferences: [tally()]
    promptFragments:
      - {id: big, when: {var: size, equals: big}, text: It is big.}
      - {id: small, when: {var: size, equals: small}, text: It is small.}
  - {id: rest, title: Rest, prompt: Nothing more.}
)";

TEST(Pain1, StandingGuidanceReachesTheAgentAtStartAndResume) {
  const RenderedSteps rendered(kFull);
  for (const RenderReason render_reason : {RenderReason::kStart, RenderReason::kRehydrate}) {
    const std::string text = rendered.step("fix", render_reason);
    EXPECT_THAT(text, HasSubstr("- The tests pass.\n"));
    EXPECT_THAT(text, HasSubstr("- Small commits only.\n"));
    EXPECT_THAT(text, HasSubstr("- Which browser?\n"));
  }
  const std::string later = rendered.step("rest");
  EXPECT_THAT(later, Not(HasSubstr("The tests pass.")));
  EXPECT_THAT(later, Not(HasSubstr("Small commits only.")));
}

TEST(Pain1, RoleAndGuidanceComeWithTheirStep) {
  for (const RenderReason render_reason : {RenderReason::kStart, RenderReason::kAdvance, RenderReason::kRehydrate}) {
    const std::string text = RenderedSteps(kFull).step("fix", render_reason, Value::object({{"what", "the tap"}}));
    EXPECT_THAT(text, HasSubstr("You are a careful plumber."));
    EXPECT_THAT(text, HasSubstr("- Start at the tap.\n"));
  }
}

TEST(Answer, ClarificationsAreAskedUntilTheFirstDelivery) {
  const RenderedSteps rendered(kFull);
  EXPECT_THAT(rendered.step("fix", RenderReason::kStart),
              HasSubstr("from what you know; ask a person the rest with `ask`"));
  Node node = rendered.node("rest");
  node.depth = 1;
  const Value context = Value::object();
  const std::string later = render_step(
      {.program = rendered.program(), .node = node, .context = context, .render_reason = RenderReason::kRehydrate});
  EXPECT_THAT(later, Not(HasSubstr("Which browser?")));
}

TEST(Answer, ReferencesAreFullAtTheStartAndShortLater) {
  const RenderedSteps rendered(kFull);
  const Node node = rendered.node("fix");
  const Value context = Value::object();
  const Value found = Value(Value::Array{Value::object({{"id", "guide"}, {"path", "/srv/docs/style.md"}}),
                                         Value::object({{"id", "gone"}, {"path", Value()}})});
  StepView view{.program = rendered.program(), .node = node, .context = context, .render_reason = RenderReason::kStart};
  view.references = found;
  const std::string start = render_step(view);
  EXPECT_THAT(start, HasSubstr("- Style guide (authoritative): How we write\n  /srv/docs/style.md"));
  EXPECT_THAT(start, HasSubstr("- Old notes: History\n  not found: docs/old.md\n"));
  view.render_reason = RenderReason::kRehydrate;
  const std::string later = render_step(view);
  EXPECT_THAT(later, HasSubstr("- Style guide: /srv/docs/style.md\n"));
  EXPECT_THAT(later, Not(HasSubstr("How we write")));
}

TEST(Answer, PartsHaveAFixedOrder) {
  const RenderedSteps rendered(kFull);
  const Node node = rendered.node("fix");
  const Value context = Value::object({{"what", "the tap"}, {"size", "big"}});
  StepView view{
      .program = rendered.program(), .node = node, .context = context, .render_reason = RenderReason::kRehydrate};
  view.goal = "Dry floor";
  view.notices = {"something was odd"};
  view.recall = "Noted so far";
  const std::string text = render_step(view);
  std::size_t at = 0;
  for (const char* part :
       {"Note: something was odd", "Goal: Dry floor", "The tests pass.", "Small commits", "Style guide", "Noted so far",
        "# Fix the tap", "careful plumber", "Look at the tap", "Start at the tap", "tally(): Count the findings.",
        "It is big.", "Checked on delivery:", "continueToken"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
}

TEST(Answer, MarksUnsetVariables) {
  EXPECT_THAT(RenderedSteps(kFull).step("fix"), HasSubstr("Look at [unset: what] and [unset: missing]."));
}

TEST(Answer, ShowsFragmentsWhoseConditionIsTrue) {
  const std::string text = RenderedSteps(kFull).step("fix", RenderReason::kAdvance, Value::object({{"size", "SMALL"}}));
  EXPECT_THAT(text, HasSubstr("It is small."));
  EXPECT_THAT(text, Not(HasSubstr("It is big.")));
}

// WorkRail shows nothing for a step with references, and everything for one without.
TEST(RunnersUp, FunctionReferencesShowTheReferencedFunction) {
  const RenderedSteps rendered(kFull);
  EXPECT_THAT(rendered.step("fix"), HasSubstr("- tally(): Count the findings.\n"));
  EXPECT_THAT(rendered.step("fix"), Not(HasSubstr("Never shown.")));
  EXPECT_THAT(rendered.step("rest", RenderReason::kRehydrate), Not(HasSubstr("Count the findings.")));
}

TEST(Answer, TheFunctionOfTheNearestScopeIsShown) {
  const RenderedSteps rendered(R"(
functionDefinitions: [{name: check, definition: The workflow's.}, {name: far, definition: From afar.}]
steps:
  - id: again
    type: loop
    title: Again
    functionDefinitions: [{name: check, definition: "The loop's.", parameters: [{name: n, type: number, required: true}]}]
    loop: {type: for, count: 2, maxIterations: 3}
    body: [{id: look, title: Look, prompt: Look., functionReferences: [check(), far()]}]
)");
  const std::string text = rendered.step("look", RenderReason::kAdvance, Value::object(), {{"again", 0}});
  EXPECT_THAT(text, HasSubstr("- check(n: number): The loop's.\n- far(): From afar.\n"));
}

TEST(Answer, LoopsShowTheirIteration) {
  struct Case {
    std::string loop;
    Value context;
    std::string banner;
  };
  const Value items = Value(Value::Array{Value("roof"), Value::object({{"name", "door"}})});
  const std::vector<Case> table = {
      {"{type: for, count: 3, maxIterations: 9}", Value::object(),
       "Again: iteration 2 of 3. Keep what the earlier ones produced and add what they missed.\n"},
      {"{type: for, count: rounds, maxIterations: 9}", Value::object({{"rounds", 4}}), "Again: iteration 2 of 4. Keep"},
      {"{type: for, count: 9, maxIterations: 5}", Value::object(), "Again: iteration 2 of 5. Keep"},
      {"{type: while, condition: {var: more}, maxIterations: 5}", Value::object(),
       "Again: iteration 2 of at most 5. Keep"},
      {"{type: forEach, items: parts, maxIterations: 5}", Value::object({{"parts", items}}),
       "Again: iteration 2 of 2\nItem: {\"name\":\"door\"}\n"},
  };
  for (const Case& one : table) {
    const RenderedSteps rendered(
        fmt::format("steps:\n  - id: again\n    type: loop\n    title: Again\n    loop: {}\n"
                    "    body: [{{id: look, title: Look, prompt: Look.}}]\n",
                    one.loop));
    EXPECT_THAT(rendered.step("look", RenderReason::kAdvance, one.context, {{"again", 1}}), HasSubstr(one.banner));
  }
}

TEST(Answer, NestedLoopsHaveALineEachAndLongItemsAreShortened) {
  const RenderedSteps rendered(R"(
steps:
  - id: outer
    type: loop
    title: Outer
    loop: {type: forEach, items: texts, maxIterations: 5}
    body:
      - id: inner
        type: loop
        title: Inner
        loop: {type: for, count: 2, maxIterations: 2, iterationVar: round}
        body: [{id: look, title: Look, prompt: Look.}]
)");
  const Value context = Value::object({{"texts", Value(Value::Array{Value(std::string(5'000, 'x'))})}});
  const std::string text = rendered.step("look", RenderReason::kAdvance, context, {{"outer", 0}, {"inner", 1}});
  EXPECT_THAT(text, HasSubstr("Outer: iteration 1 of 1\nItem: xxx"));
  EXPECT_THAT(text, HasSubstr("x… (5000 bytes in total)\n"));
  EXPECT_THAT(text, HasSubstr("Inner: iteration 2 of 2. Keep"));
}

TEST(Answer, ListsWhatWillBeChecked) {
  const RenderedSteps rendered(R"(
assessments:
  - id: depth
    purpose: How deep it went.
    dimensions: [{id: reach, purpose: How far., levels: [low, high]}]
steps:
  - {id: plain, title: T, prompt: P}
  - {id: silent, title: T, prompt: P, notesOptional: true}
  - id: strict
    title: T
    prompt: P
    validationCriteria:
      - {type: contains, value: Root cause, message: Name the root cause.}
      - {type: length, min: 50, message: Say more.}
  - {id: typed, title: T, prompt: P, outputContract: {contractRef: wr.contracts.gate_verdict}}
  - {id: maybe, title: T, prompt: P, outputContract: {contractRef: wr.contracts.gate_verdict, required: false}}
  - {id: rated, title: T, prompt: P, assessmentRefs: [depth]}
  - {id: caught, title: T, prompt: P, captures: {parts: {type: array, minItems: 1}, name: {type: string}, band: {enum: [low, high]}, free: {}, risky: {type: boolean}}}
  - {id: asked, title: T, prompt: P, requireConfirmation: {kind: human_approval}}
  - {id: judged, title: T, prompt: P, requireConfirmation: {var: risky}}
  - {id: last, title: T, prompt: P, verification: {command: make test}}
)");
  const Value none = Value::object();
  const auto lines = [&](const std::string& step, const Value& context = Value::object()) {
    return requirement_text(rendered.program(), {step, {}}, context);
  };
  EXPECT_EQ(lines("plain"), "- Notes: what you did, found and decided.\n");
  EXPECT_EQ(lines("silent"), "");
  EXPECT_THAT(lines("strict"), HasSubstr("- Notes: Name the root cause. (contain \"Root cause\")\n"));
  EXPECT_THAT(lines("strict"), HasSubstr("- Notes: Say more. (at least 50 characters)\n"));
  EXPECT_THAT(lines("typed"), HasSubstr("- An artifact `wr.gate_verdict` in `artifacts`: "));
  EXPECT_THAT(lines("typed"), HasSubstr("\n  Example: {\"kind\":\"wr.gate_verdict\""));
  EXPECT_THAT(lines("maybe"), HasSubstr("- If it applies, an artifact `wr.gate_verdict`"));
  EXPECT_THAT(lines("rated"),
              HasSubstr("`wr.assessment` for `depth`: How deep it went.\n  - `reach` low|high: How far.\n"));
  EXPECT_THAT(lines("rated"), HasSubstr("\"reach\":\"low\""));
  EXPECT_THAT(lines("caught"), HasSubstr("- Context key `parts`: {\"type\":\"array\",\"minItems\":1}\n"));
  EXPECT_THAT(lines("caught"), HasSubstr("- Context key `name` (string)\n"));
  EXPECT_THAT(lines("caught"), HasSubstr("- Context key `band`: {\"enum\":[\"low\",\"high\"]}\n"));
  EXPECT_THAT(lines("caught"), HasSubstr("- Context key `free`\n"));
  EXPECT_THAT(lines("asked"), HasSubstr("- A person must approve it before the next step.\n"));
  EXPECT_THAT(lines("judged", Value::object({{"risky", true}})), HasSubstr("- It must be approved"));
  EXPECT_THAT(lines("judged"), HasSubstr("approved before the next step, if risky is set and not false.\n"));
  EXPECT_THAT(lines("judged", Value::object({{"risky", false}})), Not(HasSubstr("approved")));
  EXPECT_THAT(lines("last__verification"), Not(HasSubstr("make test"))) << "its own prompt says so already";
  EXPECT_THAT(rendered.step("last__verification"), HasSubstr("make test"));
  EXPECT_THAT(rendered.step("plain"), HasSubstr("Checked on delivery:\n- Notes:"));
  EXPECT_THAT(rendered.step("silent"), Not(HasSubstr("Checked on")));
}

TEST(Answer, ListsAKeyTheNextLoopNeeds) {
  const RenderedSteps rendered(R"(
steps:
  - {id: plan, title: T, prompt: P}
  - id: each
    type: loop
    title: Each
    loop: {type: forEach, items: slices, maxIterations: 5}
    body: [{id: build, title: T, prompt: P}]
)");
  EXPECT_THAT(rendered.step("plan"), HasSubstr("- Context key `slices` (array)\n"));
}

TEST(Answer, TheInterlockIsShownInOneLine) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"writes: none", "Enforced while this step is open: change no file.\n"},
      {"writes: ['src/**', 'docs/*.md']", "open: change only src/**, docs/*.md.\n"},
      {"commands: read-only", "open: run only read-only commands.\n"},
      {"writes: none, commands: read-only", "change no file; run only read-only commands.\n"},
  };
  for (const auto& [fields, line] : table) {
    EXPECT_THAT(RenderedSteps(fmt::format("steps: [{{id: one, title: T, prompt: P, {}}}]", fields)).step("one"),
                HasSubstr(line));
  }
  const std::string free = RenderedSteps("steps: [{id: one, title: T, prompt: P, commands: any}]").step("one");
  EXPECT_THAT(free, Not(HasSubstr("Enforced while")));
}

TEST(Answer, AsksForFilesIfTheAuthorWantsIt) {
  EXPECT_THAT(RenderedSteps("steps: [{id: one, title: T, prompt: P, askForFiles: true}]").step("one"),
              HasSubstr("ask for them by name"));
}

TEST(Answer, MetricsFootersFollowTheProfile) {
  struct Case {
    std::string profile;
    bool commits_first, outcome_last, numbers_last, diff_last;
  };
  for (const Case& one : std::vector<Case>{{"coding", true, true, true, true},
                                           {"review", false, true, true, false},
                                           {"research", false, true, false, false},
                                           {"design", false, true, false, false},
                                           {"ticket", false, true, false, false},
                                           {"none", false, false, false, false}}) {
    SCOPED_TRACE(one.profile);
    const RenderedSteps rendered(
        fmt::format("metricsProfile: {}\nsteps: [{{id: one, title: T, prompt: P}}, {{id: two, title: T, prompt: P}}]",
                    one.profile));
    const std::string first = rendered.step("one");
    const std::string last = rendered.step("two");
    EXPECT_EQ(first.contains("metrics_commit_shas"), one.commits_first);
    EXPECT_EQ(last.contains("metrics_commit_shas"), one.commits_first);
    EXPECT_FALSE(first.contains("metrics_outcome"));
    EXPECT_EQ(last.contains("metrics_outcome` (success|partial|abandoned|error)"), one.outcome_last);
    EXPECT_EQ(last.contains("metrics_pr_numbers"), one.numbers_last);
    EXPECT_EQ(last.contains("metrics_lines_added"), one.diff_last);
  }
}

TEST(Pain18, ABlockedAnswerNeverSuggestsAUsedToken) {
  const RenderedSteps rendered(
      "steps: [{id: one, title: Dig, prompt: P, outputContract: {contractRef: wr.contracts.loop_control}}]");
  Blocker blocker;
  blocker.code = BlockerCode::kMissingOutput;
  blocker.message = "There is no artifact of kind wr.loop_control.";
  blocker.fix = "Send one in artifacts.";
  blocker.example = rendered.program().compiled().contracts.find("wr.contracts.loop_control")->example;
  const std::string text = render_blocked(rendered.program(), rendered.node("one"), {blocker});
  EXPECT_THAT(text, HasSubstr("Dig (step one)"));
  EXPECT_THAT(text, HasSubstr("There is no artifact of kind wr.loop_control.\n  Send one in artifacts.\n"));
  EXPECT_THAT(text, HasSubstr("Example: {\"kind\":\"wr.loop_control\",\"decision\":\"stop\"}"));
  EXPECT_THAT(text, HasSubstr("`retryContinueToken`"));
  EXPECT_THAT(text, Not(HasSubstr("same token")));
  EXPECT_THAT(text, Not(HasSubstr("`continueToken`")));
}

TEST(Answer, ABlockThatCostsNoAttemptKeepsTheTokenValid) {
  const RenderedSteps rendered("steps: [{id: one, title: Dig, prompt: P}]");
  const std::string text = render_blocked(rendered.program(), rendered.node("one"), {}, false);
  EXPECT_THAT(text, HasSubstr("everything with the same token"));
  EXPECT_THAT(text, Not(HasSubstr("spent")));
}

TEST(Answer, OfManyBlockersTheFirstAreShownAndTheRestCounted) {
  const RenderedSteps rendered("steps: [{id: one, title: T, prompt: P}]");
  std::vector<Blocker> blockers(limits::kBlockers + 3);
  for (Blocker& blocker : blockers) blocker.message = "missing";
  EXPECT_THAT(render_blocked(rendered.program(), rendered.node("one"), blockers), HasSubstr("- and 3 more\n"));
}

TEST(Answer, AWaitingAnswerSaysWhoAnswersAndWhere) {
  const std::string command = "signalbox inbox answer d-1 approve";
  const Value nothing;
  const Value options = Value(Value::Array{Value::object({{"id", "approve"}, {"label", "Let it pass"}})});
  Value decision =
      Value::object({{"id", "d-1"}, {"text", "Ship it?"}, {"options", options}, {"url", Value()}, {"relay", false}});
  const std::string asked = render_awaiting({.why = "A person must decide.", .decision = decision, .command = command});
  EXPECT_THAT(asked, HasSubstr("A person must decide.\n\nShip it?"));
  EXPECT_THAT(asked, HasSubstr("A person must answer this: `signalbox inbox answer d-1 approve`."));
  EXPECT_THAT(asked, HasSubstr("do not answer for them"));
  EXPECT_THAT(render_awaiting({.decision = decision, .command = command, .shown = "Ship it?\n\n1) Let it pass"}),
              StartsWith("Ship it?\n\n1) Let it pass\n\nA person must answer"));
  EXPECT_THAT(
      render_awaiting({.decision = decision, .command = command, .is_signed = true}),
      HasSubstr("A person must sign this: `signalbox inbox answer d-1 approve` in a terminal, with their passphrase."));
  EXPECT_THAT(
      render_awaiting({.decision = decision, .command = command, .is_signed = true, .unsigned_options = "reject"}),
      HasSubstr("in a terminal, with their passphrase; reject needs none.\n"));
  decision.set("url", "http://localhost/d-1");
  decision.set("relay", true);
  const std::string relayed = render_awaiting({.decision = decision, .command = command});
  EXPECT_THAT(relayed, HasSubstr("or at http://localhost/d-1"));
  EXPECT_THAT(relayed, HasSubstr("as `answer`"));
  EXPECT_THAT(render_awaiting({.why = "An evaluator judges.", .decision = nothing}),
              HasSubstr("You need to do nothing."));
  const ChildView judge{.id = "gate", .workflow_id = "wr.gate", .token = "ct_x"};
  EXPECT_THAT(render_awaiting({.why = "An evaluator judges.", .decision = nothing, .evaluator = &judge}),
              HasSubstr("continueToken: ct_x"));
}

TEST(Answer, ChildrenAreShownWithTokensAndOutcomes) {
  workflow::FakeResolver around;
  around.add_workflow("{id: helper, name: H, description: D, version: 1.0.0, steps: [{id: sub, title: S, prompt: P}]}");
  const Program program(workflow::compiled(std::string(kHead) +
                                               "steps: [{id: fan, type: parallel, title: Fan out, parallelDelegations: "
                                               "[{workflowId: helper, goal: Look}]}]",
                                           around)
                            .back());
  Node node;
  node.position.step = "fan";
  const std::vector<ChildView> children = {{.id = "a", .workflow_id = "helper", .goal = "Look", .token = "ct_a"},
                                           {.id = "b", .workflow_id = "helper", .outcome = "dead", .reason = "silent"},
                                           {.id = "c", .workflow_id = "helper"}};
  const Value context = Value::object();
  const StepView view{.program = program, .node = node, .context = context};
  const std::string text = render_children(view, children);
  EXPECT_THAT(text, HasSubstr("# Fan out\n"));
  EXPECT_THAT(text, HasSubstr("- a (helper): Look\n  continueToken: ct_a\n"));
  EXPECT_THAT(text, HasSubstr("- b (helper) [dead: silent]\n"));
  EXPECT_THAT(text, HasSubstr("- c (helper) [queued]\n"));
  EXPECT_THAT(text, HasSubstr("continues when all have ended"));
  EXPECT_THAT(render_children(view, children, 2), HasSubstr("when 2 of 3 have completed"));
}

TEST(Answer, TheEndAndAnOldNodeAreReported) {
  EXPECT_EQ(render_complete("Shown", {"a limit was reached"}),
            "Note: a limit was reached\n\nShown is complete. There is nothing left to deliver.\n");
  Summary summary;
  summary.tip = 7;
  summary.step_id = "build";
  summary.step_title = "Build it";
  EXPECT_THAT(already_delivered_notice(summary), HasSubstr("is now at \"Build it\" (step build, node 7)"));
  EXPECT_THAT(already_delivered_notice(summary), HasSubstr("new branch"));
  summary.status = SessionStatus::kComplete;
  summary.step_id.clear();
  EXPECT_THAT(already_delivered_notice(summary), HasSubstr("the session is complete"));
}

TEST(Answer, RoundTripsThroughJson) {
  const SessionResponse answer{"text\nof it", Value::object({{"kind", "ok"}, {"isComplete", false}})};
  const SessionResponse again = SessionResponse::from(answer.to_value());
  EXPECT_EQ(again.text, answer.text);
  EXPECT_EQ(again.line, answer.line);
}

}  // namespace
}  // namespace sb::engine

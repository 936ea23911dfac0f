#include "decision/flow/flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"
#include "decision/state_blob.hpp"
#include "decision/testing.hpp"
#include "decision/text_block.hpp"

namespace sb::decision {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch should be released?", options: [main, release, hotfix]}
  - {key: env, instruction: "Which environments should get it?", select: many, options: [staging, production, canary]}
  - {key: notes, instruction: "Should release notes be written?", options: ["Yes", "No"], depends_on: [branch]}
)";

// A simulated user: every input goes through the sealed blob, as a caller's would.
struct Session {
  explicit Session(std::string yaml, std::optional<std::string> key = std::nullopt)
      : declaration(declared(std::move(yaml))), context{std::move(key), std::nullopt} {
    take(flow_begin(declaration), "");
  }
  const std::string& type(std::string_view input) {
    auto state = load_flow(declaration, blob, context, false);
    if (!state) {
      output = "REFUSED " + state.error().message;
      return output;
    }
    take(flow_step(declaration, std::move(*state), input), input);
    return output;
  }
  void take(FlowOutcome outcome, std::string_view input) {
    blob = save_flow(declaration, outcome.state, next_nonce(blob, input), context);
    output = outcome.output;
    event = to_string(outcome.event);
    values = to_json(outcome.values);
    payload = outcome.payload;
  }
  Declaration declaration;
  FlowBlobContext context;
  std::string blob, output, event, values;
  std::optional<std::string> payload;
};

const std::string kBranch = "Which branch should be released?\n\n1) main\n2) release\n3) hotfix";
const std::string kEnv = "Which environments should get it?\n\n1) staging\n2) production\n3) canary";
const std::string kNotes = "Should release notes be written?\n\n1) Yes\n2) No";

TEST(ReqInt29, StepsThenConfirmation) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.output, kBranch);
  EXPECT_EQ(s.type("2"), kEnv);
  EXPECT_EQ(s.type("3,1"), kNotes);
  EXPECT_EQ(s.type("1"),
            "Summary:\n- branch: release\n- env: staging, canary\n- notes: Yes\n\n1) Confirm\n2) Restart\n3) Edit "
            "specific step");
  s.type("1");
  EXPECT_EQ(s.event, "EXECUTE");
  EXPECT_EQ(s.output, "");
  EXPECT_EQ(s.values, R"({"branch":"release","env":["staging","canary"],"notes":"yes"})");
}

TEST(ReqInt30, RestartReturnsToTheFirstStepAndKeepsNothing) {
  Session s{std::string(kRelease)};
  for (const char* input : {"2", "1", "1"}) s.type(input);
  EXPECT_EQ(s.type("2"), kBranch);
  EXPECT_EQ(s.type("1"), kEnv);
}

TEST(ReqInt31, OneQuestionPerResponse) {
  Session s{std::string(kRelease)};
  EXPECT_TRUE(parse_block(s.output));
  EXPECT_TRUE(parse_block(s.type("1")));
}

TEST(ReqInt32, NoProgressWithoutValidInput) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("9"), "Invalid input.\n\n" + kBranch);
  EXPECT_EQ(s.type("1"), kEnv);
}

TEST(ReqInt33, StepsAreNotSkipped) {
  // A state at step 2 with step 1 open cannot result from answers, and is not shown as complete.
  const Declaration declaration = declared(std::string(kRelease));
  FlowState state = flow_begin(declaration).state;
  state.phase = FlowPhase::kConfirm;
  EXPECT_FALSE(load_flow(declaration, save_flow(declaration, state, "n", {}), {}, false));
}

TEST(ReqInt34, OnlyTheCallerKeepsTheState) {
  Session a{std::string(kRelease)}, b{std::string(kRelease)};
  a.type("2");
  b.blob = a.blob;  // like another process after the first was killed
  EXPECT_EQ(a.type("1,2"), b.type("1,2"));
  EXPECT_EQ(a.blob, b.blob);
}

TEST(ReqInt35, StepsAreAskedInDefinitionOrder) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("notes=1"), kBranch);
  EXPECT_EQ(s.type("1"), kEnv);
}

TEST(ReqInt36, FreeTextIsNotAValue) {
  Session s{std::string(kRelease)};
  s.type("use port 8080");
  EXPECT_EQ(s.event, "FREE_TEXT");
  EXPECT_EQ(s.payload, "use port 8080");
  EXPECT_EQ(s.output, "");
  EXPECT_EQ(s.type("1"), kEnv);
}

TEST(ReqInt37, TheConfirmationListsEveryField) {
  Session s{std::string(kRelease)};
  for (const char* input : {"1", "2,3", "2"}) s.type(input);
  const auto parsed = parse_confirmation(s.output);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->fields, (SummaryFields{{"branch", "main"}, {"env", "production, canary"}, {"notes", "No"}}));
}

TEST(ReqInt40, CompactNumbersAreExact) {
  for (const char* bad : {"branch=9", "branch=two", "branch=01", "branch=", "branch=1,3", "branch=0"}) {
    Session s{std::string(kRelease)};
    EXPECT_EQ(s.type(bad), "Rejected: branch\n\n" + kBranch) << bad;
  }
}

TEST(ReqInt41, ValidFieldsAreApplied) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("env=2"), kBranch);
  EXPECT_EQ(s.type("2"), kNotes);
}

TEST(ReqInt42, AnInvalidFieldIsRejectedAlone) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("branch=2 env=9"), "Rejected: env\n\n" + kEnv);
}

TEST(ReqInt43, AllStepsGivenGoToTheConfirmation) {
  Session s{std::string(kRelease)};
  EXPECT_THAT(s.type("branch=2 env=1 notes=2"), HasSubstr("Summary:\n- branch: release\n- env: staging\n- notes: No"));
}

TEST(ReqInt52, FirstInvalidShowsTheErrorAndTheSameBlock) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("option 2"), "Invalid input.\n\n" + kBranch);
}
TEST(ReqInt53, SecondShowsTheFormat) {
  Session s{std::string(kRelease)};
  s.type("1");
  s.type("x1");
  s.type("one");
  EXPECT_EQ(s.type("1, 3"), "Invalid input. Format: 1 / 2 / 1,3\n\n" + kEnv);
}
TEST(ReqInt54, ThirdIsTheBareHint) {
  Session s{std::string(kRelease)};
  s.type("0");
  s.type("0");
  EXPECT_EQ(s.type("0"), "1 / 2\n\n" + kBranch);
}
TEST(ReqInt55, FourthAbortsTheStep) {
  Session s{std::string(kRelease)};
  for (int i = 0; i < 3; ++i) s.type("0");
  EXPECT_EQ(s.type("0"), "STEP_ABORT");
  EXPECT_EQ(s.event, "STEP_ABORT");
}
TEST(ReqInt56, RulesDoNotSoften) {
  Session s{std::string(kRelease)};
  s.type("1");
  for (int i = 0; i < 2; ++i) s.type("0");
  EXPECT_EQ(s.type("1, 3"), "1 / 2 / 1,3\n\n" + kEnv);
}
TEST(ReqInt57, AnAbortIsTheCodeAlone) {
  Session s{std::string(kRelease)};
  s.type("2");
  EXPECT_EQ(s.type("cancel"), "FLOW_CANCEL");
  EXPECT_EQ(s.event, "FLOW_CANCEL");
  EXPECT_EQ(s.values, "{}");
}

TEST(ReqInt62, EveryDeclaredOptionIsShown) {
  std::string yaml = "flow: f\nsteps:\n  - key: a\n    instruction: Which one?\n    options: [";
  for (int i = 1; i <= 20; ++i) yaml += "opt" + std::to_string(i) + (i < 20 ? ", " : "]\n");
  Session s{yaml};
  std::string all = s.output;
  while (s.output.find("7) More options") != std::string::npos) all += "\n" + s.type("7");
  for (int i = 1; i <= 20; ++i) EXPECT_THAT(all, HasSubstr(") opt" + std::to_string(i))) << all;
}

TEST(ReqInt63, EightOptionsBecomeSubSteps) {
  Session s{"flow: f\nsteps:\n  - {key: a, instruction: Which one?, options: [a1, b1, c1, d1, e1, f1, g1, h1]}\n"};
  EXPECT_EQ(s.output, "Which one?\n\n1) a1\n2) b1\n3) c1\n4) d1\n5) e1\n6) f1\n7) More options");
  EXPECT_EQ(s.type("7"), "Which one?\n\n1) g1\n2) h1");
  EXPECT_THAT(s.type("2"), HasSubstr("- a: h1"));
  Session compact{
      "flow: f\nsteps:\n  - {key: a, instruction: Which one?, options: [a1, b1, c1, d1, e1, f1, g1, h1]}\n"};
  EXPECT_THAT(compact.type("a=7"), HasSubstr("- a: g1"));
}

TEST(ReqInt63, MultiSelectWithManyOptionsIsAskedPageByPage) {
  const std::string yaml =
      "flow: f\nlocale: ru\nsteps:\n  - {key: a, instruction: Что взять?, select: many, min: 2, max: 3, options: [a1, "
      "b1, c1, d1, e1, f1, g1, h1]}\n";
  Session s{yaml};
  EXPECT_THAT(s.output, HasSubstr("7) Ничего из этого"));
  EXPECT_THAT(s.type("1,7"), HasSubstr("Недопустимый ввод."));
  EXPECT_EQ(s.type("1,2"), "Что взять?\n\n1) g1\n2) h1\n3) Ничего из этого");
  EXPECT_THAT(s.type("1,2"), HasSubstr("Недопустимый ввод."));  // four are too many
  EXPECT_THAT(s.type("2"), HasSubstr("- a: a1, b1, h1"));
  Session none{yaml};
  none.type("7");
  EXPECT_THAT(none.type("3"),
              HasSubstr("Недопустимый ввод.\n\nЧто взять?\n\n1) a1"));  // too few: from the first page again
  none.type("1,2");
  EXPECT_THAT(none.type("3"), HasSubstr("- a: a1, b1"));
}

TEST(ReqInt67, SameInputSameBytes) {
  FakeRandom random(42);
  const std::vector<std::string> inputs = {"1", "2", "3", "1,2", "abc", "", "branch=1 env=2", "one", "cancel?"};
  Session a{std::string(kRelease)}, b{std::string(kRelease)};
  for (int i = 0; i < 500; ++i) {
    const std::string& input = inputs[random.next() % inputs.size()];
    EXPECT_EQ(a.type(input), b.type(input));
    EXPECT_EQ(a.blob, b.blob);
  }
}

TEST(ReqInt68, OrderIsDeclaredOrderWhateverIsRecommended) {
  Session s{
      "flow: f\nsteps:\n  - {key: a, instruction: Which?, options: [{label: Z one}, {label: A two, recommended: "
      "true}]}\n"};
  EXPECT_EQ(s.output, "Which?\n\n1) Z one\n2) A two");
}

TEST(ReqInt69, AChangedDefinitionIsAnErrorNotARephrase) {
  Session s{std::string(kRelease)};
  std::string changed(kRelease);
  changed.replace(changed.find("hotfix"), 6, "Hotfix");
  s.declaration = declared(changed);
  EXPECT_THAT(s.type("1"), HasSubstr("REFUSED the definition has changed"));
}

TEST(Amb2, FreeTextResetsTheInvalidCount) {
  Session s{std::string(kRelease)};
  for (int i = 0; i < 3; ++i) s.type("0");
  s.type("why do you ask?");
  EXPECT_EQ(s.type("0"), "Invalid input.\n\n" + kBranch);
}

TEST(Amb7, StepAbortSuspendsAndCancelEnds) {
  Session s{std::string(kRelease)};
  s.type("2");
  for (int i = 0; i < 4; ++i) s.type("0");
  EXPECT_THAT(s.type("1"), HasSubstr("REFUSED the flow is suspended"));
  auto state = load_flow(s.declaration, s.blob, s.context, true);
  ASSERT_TRUE(state);
  EXPECT_EQ(flow_resume(s.declaration, *state).output, kEnv);  // the earlier answer is kept
  Session cancelled{std::string(kRelease)};
  cancelled.type("2");
  cancelled.type("abort");
  EXPECT_FALSE(load_flow(cancelled.declaration, cancelled.blob, cancelled.context, true));
}

TEST(Amb8, AFifthInvalidInputCannotReachTheStep) {
  Session s{std::string(kRelease)};
  for (int i = 0; i < 4; ++i) s.type("0");
  EXPECT_THAT(s.type("0"), HasSubstr("REFUSED"));
}

TEST(Amb9, AYesOrNoIsItsOwnConfirmation) {
  const std::string yaml =
      "flow: push\nsteps:\n  - {key: go, instruction: Push the branch?, options: [\"Yes\", \"No\"]}\n";
  Session s{yaml};
  s.type("1");
  EXPECT_EQ(s.event, "EXECUTE");
  Session russian{"flow: push\nsteps:\n  - {key: go, instruction: Выполнить push?, options: [Да, Нет]}\n"};
  russian.type("1");
  EXPECT_EQ(russian.event, "EXECUTE");
  Session choice{
      "flow: push\nsteps:\n  - {key: go, instruction: Which environment?, options: [staging, production]}\n"};
  EXPECT_THAT(choice.type("1"), HasSubstr("Summary:"));
  Session always{"confirm: always\n" + yaml};
  EXPECT_THAT(always.type("1"), HasSubstr("Summary:"));
}

TEST(Amb11, AnyOfManyStepsCanBeEdited) {
  std::string yaml = "flow: f\nsteps:\n", answers;
  for (int i = 1; i <= 9; ++i) {
    yaml += "  - {key: s" + std::to_string(i) + ", title: Step " + std::string(1, static_cast<char>('A' + i)) +
            ", instruction: Which?, options: [a1, b1]}\n";
    answers += (i > 1 ? " s" : "s") + std::to_string(i) + "=1";
  }
  Session s{yaml};
  s.type(answers);
  EXPECT_EQ(s.type("3"),
            "Which step should be edited?\n\n1) Step B\n2) Step C\n3) Step D\n4) Step E\n5) Step F\n6) Step G\n7) More "
            "options");
  EXPECT_EQ(s.type("7"), "Which step should be edited?\n\n1) Step H\n2) Step I\n3) Step J");
  EXPECT_EQ(s.type("3"), "Which?\n\n1) a1\n2) b1");
  EXPECT_THAT(s.type("2"), HasSubstr("- s8: a1\n- s9: b1"));
}

TEST(Amb11, TheOnlyStepIsEditedWithoutAskingWhich) {
  Session s{"flow: f\nsteps:\n  - {key: a, instruction: Which?, options: [x1, y1, z1]}\n"};
  s.type("1");
  EXPECT_EQ(s.type("3"), "Which?\n\n1) x1\n2) y1\n3) z1");
  EXPECT_THAT(s.type("2"), HasSubstr("- a: y1"));
}

TEST(Amb11, OnlyDependentAnswersAreAskedAgain) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  s.type("3");
  s.type("1");
  EXPECT_EQ(s.type("2"), kNotes);  // it depends on the branch; the environments do not
  EXPECT_THAT(s.type("2"), HasSubstr("- branch: release\n- env: staging\n- notes: No"));
}

TEST(Amb12, CompactInputCompletesStepsAndDoesNotSkipThem) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  s.type("1");
  EXPECT_EQ(s.values, R"({"branch":"main","env":["staging"],"notes":"yes"})");
}

TEST(Amb13, SeveralValuesInACompactFieldOnlyWhereDeclared) {
  Session plain{std::string(kRelease)};
  EXPECT_EQ(plain.type("branch=1 env=1,3"), "Rejected: env\n\n" + kEnv);
  Session multi{"compact_multi: true" + std::string(kRelease)};
  EXPECT_EQ(multi.type("branch=1 env=1,3"), kNotes);
  EXPECT_EQ(Session{"compact_multi: true" + std::string(kRelease)}.type("branch=1 env=1,1"),
            "Rejected: env\n\n" + kEnv);
}

TEST(Amb14, UnknownDuplicateAndAnsweredKeysAreRejectedIndividually) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("branch=1 nope=1"), "Rejected: nope\n\n" + kEnv);
  EXPECT_EQ(s.type("env=1 env=2 notes=1"), "Rejected: env\n\n" + kEnv);
  Session answered{std::string(kRelease)};
  answered.type("1");
  EXPECT_EQ(answered.type("branch=2 env=1"), "Rejected: branch\n\n" + kNotes);
  Session none{std::string(kRelease)};
  EXPECT_EQ(none.type("branch=9"), "Rejected: branch\n\n" + kBranch);
  EXPECT_EQ(none.type("branch=9"), "Invalid input. Format: 1 / 2\n\n" + kBranch);
  EXPECT_EQ(none.type("branch=9"), "1 / 2\n\n" + kBranch);
  EXPECT_EQ(none.type("branch=9"), "STEP_ABORT");
}

TEST(Amb15, AllFieldsMeansAllSteps) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("branch=1 env=1"), kNotes);
}

TEST(Amb16, CompletionIsReportedByValuesNotByProse) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  s.type("1");
  EXPECT_EQ(s.output, "");
  EXPECT_EQ(s.values, R"({"branch":"main","env":["staging"],"notes":"yes"})");
}

TEST(ReqInt72, DeterminismHasPriorityOverConvenience) {
  Session s{std::string(kRelease)};
  // Each is obvious to a person, and each is asked again.
  for (const char* plain : {"2 ", "second", "release"}) EXPECT_THAT(s.type(plain), HasSubstr(kBranch)) << plain;
}

TEST(Amb19, DefinitionsAreVersionedByTheirHash) {
  EXPECT_EQ(declared(std::string(kRelease)).hash, declared(std::string(kRelease)).hash);
  EXPECT_NE(declared(std::string(kRelease)).hash, declared("confirm: always" + std::string(kRelease)).hash);
}

TEST(Amb20, TheBlobIsAuthenticatedWithAKey) {
  Session s{std::string(kRelease), std::string(32, 'k')};
  EXPECT_EQ(s.type("1"), kEnv);
  const std::string good = s.blob;
  s.context.key = std::string(32, 'x');
  EXPECT_THAT(s.type("1"), HasSubstr("REFUSED"));
  s.context.key = std::nullopt;
  EXPECT_THAT(s.type("1"), HasSubstr("REFUSED the state is authenticated, but no key was given"));
  s.context.key = std::string(32, 'k');
  for (std::size_t i = 0; i < good.size(); ++i) {
    s.blob = good;
    s.blob[i] = s.blob[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(s.type("1"), HasSubstr("REFUSED")) << i;
  }
}

TEST(Amb21, NoStoredPreferenceApplies) {
  EXPECT_FALSE(Profiles::built_in().find("interaction")->may_auto_decide);
}

TEST(Amb23, StateAndOutputAreReproducible) {
  Session a{std::string(kRelease)}, b{std::string(kRelease)};
  EXPECT_EQ(a.blob, b.blob);
  EXPECT_EQ(a.type("1") + a.blob, b.type("1") + b.blob);
}

TEST(Amb24, NoneExistsOnlyWhenDeclared) {
  EXPECT_EQ(Session{std::string(kRelease)}.output.find("None"), std::string::npos);
}

TEST(Amb29, TheSameAnswerToTheSameStateGivesTheSameResult) {
  Session s{std::string(kRelease)};
  s.type("0");
  const std::string before = s.blob;
  const std::string first = s.type("1");
  const std::string after = s.blob;
  s.blob = before;
  EXPECT_EQ(s.type("1"), first);
  EXPECT_EQ(s.blob, after);
}

TEST(Flow, CompactInputIsRejectedOnceEverythingIsAnswered) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  EXPECT_THAT(s.type("env=2"), testing::StartsWith("Invalid input.\n\nSummary:"));
  s.type("3");
  EXPECT_THAT(s.type("env=2"), testing::StartsWith("Invalid input.\n\nWhich step"));
}

TEST(Amb6, ANearCommandShowsHowToStop) {
  Session s{std::string(kRelease)};
  EXPECT_EQ(s.type("Abort"), "Invalid input. To stop: abort / cancel\n\n" + kBranch);
  EXPECT_EQ(s.type("Abort"), "Invalid input. Format: 1 / 2 / abort / cancel\n\n" + kBranch);
  EXPECT_EQ(s.type("Abort"), "1 / 2 / abort / cancel\n\n" + kBranch);
}

TEST(Flow, ConfirmationAcceptsOneOption) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  EXPECT_THAT(s.type("1,2"), testing::StartsWith("Invalid input."));
  EXPECT_THAT(s.type("Confirm"), testing::StartsWith("Invalid input. Format: 1 / 2\n"));
}

TEST(Flow, CancelWorksEverywhere) {
  Session s{std::string(kRelease)};
  s.type("branch=1 env=1 notes=1");
  s.type("3");
  EXPECT_EQ(s.type("abort"), "FLOW_CANCEL");
}

TEST(Flow, ExpiresOnlyAgainstTheGivenTime) {
  const Declaration d = declared("expires: 2026-01-01T00:00:00Z" + std::string(kRelease));
  const std::string blob = save_flow(d, flow_begin(d).state, "n", {});
  EXPECT_TRUE(load_flow(d, blob, {}, false));
  EXPECT_TRUE(load_flow(d, blob, {std::nullopt, *parse_rfc3339("2025-12-31T23:59:59Z")}, false));
  EXPECT_FALSE(load_flow(d, blob, {std::nullopt, *parse_rfc3339("2026-01-01T00:00:00Z")}, false));
}

TEST(Flow, AnyPayloadInAnUnauthenticatedBlobIsSafe) {
  const Declaration d = declared(std::string(kRelease));
  const Value good = *open_state(save_flow(d, flow_begin(d).state, "n", {}), std::nullopt);
  FakeRandom random(7);
  const std::vector<Value> hostile = {Value(),
                                      Value(-1),
                                      Value(1'000'000),
                                      Value("x"),
                                      Value(Value::Array{Value(99)}),
                                      Value(Value::Array{Value(Value::Array{Value(0)})}),
                                      Value::object(),
                                      Value(true)};
  for (const auto& member : good.members()) {
    for (const Value& value : hostile) {
      Value changed = good;
      changed.set(member.name, value);
      const auto state = load_flow(d, seal_state(changed, std::nullopt), {}, true);
      if (state) flow_step(d, *state, "1");  // must not crash
    }
  }
}

TEST(Flow, TenThousandSteps) {
  std::string yaml = "flow: f\nsteps:\n";
  for (int i = 0; i < 10'000; ++i)
    yaml += "  - {key: s" + std::to_string(i) + ", instruction: Which?, options: [a1, b1]}\n";
  Session s{yaml};
  EXPECT_EQ(s.type("2"), "Which?\n\n1) a1\n2) b1");
}

}  // namespace
}  // namespace sb::decision

// A question call compared with the planned prompt.
#include "base/limits.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using PlannedQuestion = HookFixture;
using Amb32 = HookFixture;
using ReqInt68 = HookFixture;

TEST_F(PlannedQuestion, ACallAsRenderedIsNotTouched) {
  const Plan planned = plan(kBranch);
  const RunResult ran = fire(before(planned.input));
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(ran.errors, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(PlannedQuestion, ADroppedOptionIsDeniedAndNamed) {
  Plan planned = plan(kBranch);
  first(planned.input).find("options")->items().pop_back();
  for (const char* tool : {"AskUserQuestion", "mcp__conductor__AskUserQuestion"}) {
    EXPECT_THAT(denied(before(planned.input, tool)), HasSubstr("missing: \"hotfix\"")) << tool;
  }
}

TEST_F(PlannedQuestion, QuestionsEncodedAsAStringAreComparedToo) {
  Plan planned = plan(kBranch);
  first(planned.input).find("options")->items().pop_back();
  const Value input = Value::object({{"questions", to_json(planned.input["questions"])}});
  EXPECT_THAT(denied(before(input)), HasSubstr("missing: \"hotfix\""));
}

TEST_F(PlannedQuestion, EveryDroppedOptionIsNamed) {
  Plan planned = plan(kBranch);
  first(planned.input).set("options", Value::array());
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("missing: \"main\", \"release\", \"hotfix\""));
}

TEST_F(PlannedQuestion, ARenamedOptionIsBothMissingAndNew) {
  Plan planned = plan(kBranch);
  first(planned.input).find("options")->items()[0].set("label", "Main");
  EXPECT_THAT(denied(before(planned.input)),
              AllOf(HasSubstr("missing: \"main\""), HasSubstr("not an option of this question: \"Main\"")));
}

TEST_F(PlannedQuestion, AnInventedOptionIsDenied) {
  Plan planned = plan(kBranch);
  first(planned.input).find("options")->push_back(Value::object({{"label", "develop"}}));
  EXPECT_THAT(denied(before(planned.input)), AllOf(HasSubstr("\"develop\""), Not(HasSubstr("missing"))));
}

TEST_F(PlannedQuestion, AnUndeclaredRecommendationIsARename) {
  Plan planned = plan(kBranch);
  first(planned.input).find("options")->items()[1].set("label", "release (Recommended)");
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("release (recommended)"));
}

TEST_F(PlannedQuestion, AllowingMultiSelectIsDenied) {
  Plan planned = plan(kBranch);
  first(planned.input).set("multiSelect", true);
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("multiSelect must be false"));
}

TEST_F(PlannedQuestion, ADifferentQuestionUnderTheSameMarkerIsDenied) {
  Plan planned = plan(kBranch);
  first(planned.input).set("question", "Which branch should be deleted? <sb:" + planned.nonce + ">");
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("the question must read \"Which branch should be released?"));
}

TEST_F(PlannedQuestion, TwoMarkersInOneQuestionAreDenied) {
  const Plan one = plan(kBranch);
  Plan other = plan("decision: other\ninstruction: Which other?\noptions: [a1, b1]\n");
  first(other.input).set("question", first(other.input)["question"].as_string() + " <sb:" + one.nonce + ">");
  EXPECT_THAT(denied(before(other.input)), HasSubstr("two planned prompts"));
}

TEST_F(PlannedQuestion, AnOptionOfAnotherPageIsReportedAsSuch) {
  Plan planned = plan("decision: which\ninstruction: Which one?\noptions: [alpha, beta, gamma, delta, epsilon]\n");
  first(planned.input).find("options")->items()[3].set("label", "epsilon");
  EXPECT_THAT(denied(before(planned.input)),
              AllOf(HasSubstr("missing: \"More options\""), HasSubstr("belongs to another page: \"epsilon\"")));
}

TEST_F(Amb32, OptionsAreCheckedAndLayoutIsNot) {
  Plan planned = plan(kBranch);
  Value& question = first(planned.input);
  question.set("header", "Branches");
  question.find("options")->items()[0].set("description", "as the host wants it");
  question.set("question", "Which  branch should be released?\n<sb:" + planned.nonce + ">");
  EXPECT_EQ(fire(before(planned.input)).output, "");
}

TEST_F(ReqInt68, ReorderedOptionsAreDenied) {
  Plan planned = plan(kBranch);
  auto& options = first(planned.input).find("options")->items();
  std::swap(options[0], options[2]);
  EXPECT_THAT(denied(before(planned.input)),
              HasSubstr(R"(the options must be in this order: "main", "release", "hotfix")"));
}

TEST_F(PlannedQuestion, AnotherGstackIdIsDenied) {
  prefer(R"({"ship-tone":"never-ask","ship-voice":"always-ask"})");
  const std::string id = "<gstack-qid:ship-voice>";
  for (const char* other : {"<gstack-qid:ship-tone>", "", "<gstack-qid:ship-voice> <gstack-qid:ship-tone>",
                            "<gstack-qid:ship-voice> <gstack-qid:no id>"}) {
    Plan planned = plan(kGstack);
    std::string text = first(planned.input)["question"].as_string();
    ASSERT_NE(text.find(id), std::string::npos);
    first(planned.input).set("question", text.replace(text.find(id), id.size(), other));
    EXPECT_THAT(denied(before(planned.input)), HasSubstr("the question must read")) << other;
    EXPECT_TRUE(state(planned.decision).is_open()) << other;
  }
}

TEST_F(PlannedQuestion, AnUnplannedGstackIdIsDenied) {
  Plan planned = plan(kBranch);
  first(planned.input).set("question", first(planned.input)["question"].as_string() + " <gstack-qid:ship-voice>");
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("the question must read"));
}

TEST_F(PlannedQuestion, ANonBooleanMultiSelectIsDenied) {
  for (const Value& odd : {Value("true"), Value("false"), Value(1), Value()}) {
    Plan planned = plan(kBranch);
    first(planned.input).set("multiSelect", odd);
    EXPECT_THAT(denied(before(planned.input)), HasSubstr("multiSelect must be false")) << to_json(odd);
  }
}

TEST_F(PlannedQuestion, AnswersFilledInByTheModelAreDenied) {
  Plan planned = plan(kBranch);
  Value filled = planned.input;
  filled.set("answers", Value::object({{"Which branch should be released?", "main"}}));
  EXPECT_THAT(denied(before(filled)), HasSubstr("already contains answers"));
  filled = call({question("Colour?", {"Red", "Blue"})});
  filled.set("annotations", Value::object({{"Colour?", Value::object({{"notes", "Red, please"}})}}));
  EXPECT_THAT(denied(before(filled)), HasSubstr("already contains answers"));
  planned.input.set("answers", Value::object());
  EXPECT_EQ(fire(before(planned.input)).output, "");
}

TEST_F(PlannedQuestion, OverlapWithoutAMarkerIsOnlyNoted) {
  const Plan planned = plan(kBranch);
  const Value input = call({question("Release which?", {"main", "release"})});
  EXPECT_THAT(noted(before(input)), AllOf(HasSubstr(planned.nonce), HasSubstr("does not carry its marker")));
}

TEST_F(PlannedQuestion, AQuestionWithoutOverlapIsNotTouched) {
  (void)plan(kBranch);
  EXPECT_EQ(fire(before(call({question("Colour?", {"Red", "Blue"})}))).output, "");
  EXPECT_EQ(fire(before(call({question("One?", {"main", "Blue"})}))).output, "");
}

TEST_F(PlannedQuestion, APromptOfAnotherFolderDoesNotMatch) {
  (void)plan(kBranch);
  Value elsewhere = before(call({question("Release which?", {"main", "release"})}));
  elsewhere.set("cwd", root_);
  EXPECT_EQ(fire(elsewhere).output, "");
}

TEST_F(PlannedQuestion, AnUnknownMarkerIsIgnored) {
  (void)plan(kBranch);
  EXPECT_EQ(fire(before(call({question("Go? <sb:0123456789abcdef>", {"Yes", "No"})}))).output, "");
}

TEST_F(PlannedQuestion, AnAnsweredPromptIsNotAskedAgain) {
  const Plan planned = plan(kBranch);
  EXPECT_EQ(fire(after(planned.input, answered(planned.input, "main"))).output, "");
  EXPECT_THAT(denied(before(planned.input)), HasSubstr("is answered: main"));
}

TEST_F(PlannedQuestion, APassedDeadlineIsReadWithoutWriting) {
  const Plan planned = plan(std::string(kBranch) + "on_timeout: deny\ndeadline: 1h\n");
  clock_.sleep_ms(2 * 60 * 60 * 1000);
  EXPECT_EQ(denied(before(planned.input)), "");
  EXPECT_EQ(errors(), "");
  (void)fire(after(planned.input, answered(planned.input, "main")));
  EXPECT_FALSE(state(planned.decision).is_answered());
}

TEST_F(PlannedQuestion, OpenPromptsAreSearchedUpToTheLimit) {
  const auto number = [](int i) { return std::to_string(i); };
  for (int i = 0; i <= limits::kHookPrompts; ++i) {
    (void)plan("decision: d" + number(i) + "\ninstruction: Which one?\noptions: [left" + number(i) + ", right" +
               number(i) + "]\n");
  }
  EXPECT_NE(noted(before(call({question("Which?", {"left1", "right1"})}))), "");
  EXPECT_EQ(fire(before(call({question("Which?", {"left0", "right0"})}))).output, "");
}

TEST_F(PlannedQuestion, EachQuestionOfACallIsCompared) {
  const Plan one = plan(kBranch);
  Plan other = plan("decision: other\ninstruction: Which other?\noptions: [a1, b1, c1]\n");
  first(other.input).find("options")->items().pop_back();
  Value both = call({one.input["questions"].items().front(), first(other.input)});
  EXPECT_THAT(denied(before(both)), AllOf(HasSubstr("Question 2"), HasSubstr("\"c1\""), Not(HasSubstr("Question 1 "))));
}

}  // namespace
}  // namespace sb::hook

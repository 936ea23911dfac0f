// PostToolUse: records what the person did, one record per question.
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

using Recorded = HookFixture;
using Gap4 = HookFixture;
using Gap5 = HookFixture;
using Gap8 = HookFixture;
using Gap10 = HookFixture;
using Gap13 = HookFixture;
using Amb30 = HookFixture;

TEST_F(Recorded, AnAnswerClosesThePlannedPrompt) {
  const Plan planned = plan(kBranch);
  EXPECT_EQ(fire(after(planned.input, answered(planned.input, "release"))).output, "");
  const auto closed = state(planned.decision);
  ASSERT_TRUE(closed.is_answered());
  EXPECT_THAT(closed.outcome->options, ElementsAre("release"));
  EXPECT_EQ(closed.outcome->channel, inbox::Channel::kHook);
  EXPECT_EQ(closed.outcome->principal, "claude-code");
  EXPECT_EQ(closed.outcome->resolved_by, inbox::ResolvedBy::kHuman);
  EXPECT_THAT(closed.outcome->raw, HasSubstr("\"release\""));
  EXPECT_EQ(log(), "");  // it has no gstack id
}

TEST_F(Recorded, AnAnswerToADifferentQuestionUnderTheMarkerClosesNothing) {
  const auto rewritten = [](Value input) {
    first(input).set("question", "Delete which? " + first(input)["question"].as_string());
    return input;
  };
  const auto dropped = [](Value input) {
    first(input).find("options")->items().pop_back();
    return input;
  };
  const auto replaced = [](Value input) {
    first(input).find("options")->items()[2].set("label", "develop");
    return input;
  };
  const auto several = [](Value input) {
    first(input).set("multiSelect", true);
    return input;
  };
  for (const std::function<Value(Value)>& change :
       {std::function<Value(Value)>(rewritten), {dropped}, {replaced}, {several}}) {
    const Plan planned = plan(kBranch);
    const Value input = change(planned.input);
    EXPECT_THAT(noted(after(input, answered(input, "main"))),
                AllOf(HasSubstr("is still open"), HasSubstr("not the planned prompt")))
        << to_json(input);
    const auto open = state(planned.decision);
    ASSERT_TRUE(open.is_open());
    ASSERT_FALSE(open.free_texts.empty());
    EXPECT_EQ(open.free_texts.back(), "answer to another question under this marker: main");
    EXPECT_TRUE(open_home()->inbox().find_prompt(planned.nonce).value()->is_open);
  }
}

TEST_F(Recorded, ASecondEventChangesNothing) {
  const Plan planned = plan(kBranch);
  (void)fire(after(planned.input, answered(planned.input, "release")));
  EXPECT_EQ(fire(after(planned.input, answered(planned.input, "release"))).output, "");
  EXPECT_THAT(noted(after(planned.input, answered(planned.input, "main"))),
              AllOf(HasSubstr("is answered: release"), HasSubstr("(main) does not count")));
  const auto closed = state(planned.decision);
  EXPECT_THAT(closed.outcome->options, ElementsAre("release"));
  ASSERT_THAT(closed.late, SizeIs(1));
  EXPECT_EQ(closed.late[0].answer, "main");
  EXPECT_EQ(errors(), "");
}

TEST_F(Recorded, ASignedDecisionStaysOpenAndTheModelIsInformed) {
  const Plan planned = plan(R"(
decision: drop-table
instruction: "Drop the table users_old?"
door: one-way
irreversible_note: The rows cannot be restored.
options: [{id: keep, label: Keep it}, {id: drop, label: Drop it}]
)");
  EXPECT_THAT(noted(after(planned.input, answered(planned.input, "Drop it"))),
              AllOf(HasSubstr("does not count"), HasSubstr("signature")));
  const auto open = state(planned.decision);
  EXPECT_TRUE(open.is_open());
  EXPECT_THAT(open.free_texts, ElementsAre("chosen without a signature: drop"));
}

TEST_F(Recorded, MoreOptionsKeepsTheDecisionOpen) {
  const char* five = "decision: which\ninstruction: Which one?\noptions: [alpha, beta, gamma, delta, epsilon]\n";
  const Plan page = plan(five);
  EXPECT_THAT(noted(after(page.input, answered(page.input, "More options"))),
              AllOf(HasSubstr("page 2 of 2"), HasSubstr("--page 2"), HasSubstr("epsilon")));
  EXPECT_TRUE(state(page.decision).is_open());
  const Plan next = plan(five, 2);
  EXPECT_THAT(noted(after(next.input, answered(next.input, "epsilon"), "toolu_2")), HasSubstr("is answered: epsilon"));
  EXPECT_THAT(state(page.decision).outcome->options, ElementsAre("epsilon"));
}

TEST_F(Recorded, FreeTextIsAnEventAndKeepsTheDecisionOpen) {
  const Plan planned = plan(kBranch);
  EXPECT_THAT(noted(after(planned.input, answered(planned.input, "none of those, wait"))), HasSubstr("is still open"));
  const auto open = state(planned.decision);
  EXPECT_TRUE(open.is_open());
  EXPECT_THAT(open.free_texts, ElementsAre("none of those, wait"));
}

TEST_F(Recorded, NotesAreStoredWithTheChoice) {
  const Plan planned = plan(kBranch);
  Value response = answered(planned.input, "main");
  Value annotations = Value::object();
  annotations.set(planned.input["questions"].items()[0]["question"].as_string(), Value::object({{"notes", "soon"}}));
  response.set("annotations", annotations);
  (void)fire(after(planned.input, response));
  const auto closed = state(planned.decision);
  EXPECT_THAT(closed.outcome->options, ElementsAre("main"));
  EXPECT_THAT(closed.free_texts, ElementsAre("soon"));
}

TEST_F(Amb30, NoAnswerChoosesNothing) {
  const Plan planned = plan(kBranch);
  const std::string text = planned.input["questions"].items()[0]["question"].as_string();
  Value idle = answered(planned.input, "main");
  idle.set("afkTimeoutMs", 60000);
  const auto unanswered = [&](const char* kind) {
    Value annotations = Value::object();
    annotations.set(text, Value::object({{"unanswered", kind}}));
    return Value::object({{"answers", Value::object()}, {"annotations", annotations}});
  };
  const std::vector<std::pair<Value, inbox::HostResult>> cases = {
      {idle, inbox::HostResult::kTimedOut},
      {unanswered("dismissed"), inbox::HostResult::kDismissed},
      {unanswered("skipped"), inbox::HostResult::kSkipped},
      {Value::object({{"answers", Value::object()}}), inbox::HostResult::kEmpty},
      {answered(planned.input, ""), inbox::HostResult::kEmpty},
      {Value(), inbox::HostResult::kEmpty},
      {Value("what?"), inbox::HostResult::kEmpty},
  };
  for (const auto& [response, result] : cases) {
    EXPECT_THAT(noted(after(planned.input, response)), HasSubstr("still open")) << to_json(response);
    const auto open = state(planned.decision);
    EXPECT_TRUE(open.is_open());
    EXPECT_EQ(open.last_no_answer, result) << to_json(response);
  }
  (void)fire(after(planned.input, answered(planned.input, "hotfix")));  // a late answer counts
  EXPECT_THAT(state(planned.decision).outcome->options, ElementsAre("hotfix"));
}

TEST_F(Amb30, AChatReplyIsNotASkippedQuestion) {
  const Plan planned = plan(kBranch);
  const auto unanswered = [](const Value& input, const char* kind) {
    Value annotations = Value::object();
    annotations.set(input["questions"].items()[0]["question"].as_string(), Value::object({{"unanswered", kind}}));
    return Value::object({{"answers", Value::object()}, {"annotations", annotations}});
  };
  EXPECT_THAT(noted(after(planned.input, unanswered(planned.input, "replied_in_chat"))),
              AllOf(HasSubstr("still open (dismissed)"), HasSubstr("replied in the chat")));
  EXPECT_EQ(state(planned.decision).last_no_answer, inbox::HostResult::kDismissed);
  EXPECT_THAT(noted(after(planned.input, unanswered(planned.input, "skipped"))),
              AllOf(HasSubstr("still open (skipped)"), Not(HasSubstr("chat"))));
  const Value input = call({question("Which? <gstack-qid:ship-a>", {"x", "y"})});
  (void)fire(after(input, unanswered(input, "replied_in_chat")));
  EXPECT_EQ(records().at(0).string_at("unanswered"), "replied_in_chat");
}

TEST_F(Gap5, MultipleAnswersMapBackToTheirIds) {
  const Plan planned = plan(R"(
decision: envs
instruction: Which environments should get it?
select: many
options: [{id: s, label: "staging, EU"}, {id: p, label: production}, {id: q, label: staging}]
)");
  Value input = planned.input;
  const auto shown = [&](std::size_t i) { return first(input)["options"].items()[i]["label"].as_string(); };
  (void)fire(after(input, answered(input, shown(0) + ", " + shown(1))));
  EXPECT_THAT(state(planned.decision).outcome->options, ElementsAre("s", "p"));
}

TEST_F(Gap5, TheLogHasLabels) {
  const Value input = call({question("Which? <gstack-qid:ship-envs>", {"staging", "production", "dev"}, true)});
  (void)fire(after(input, answered(input, "staging, dev")));
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].string_at("user_choice"), "staging, dev");
  EXPECT_EQ(to_json(records()[0]["user_choices"]), R"(["staging","dev"])");
  EXPECT_EQ(records()[0].string_at("source"), "hook");
}

TEST_F(Gap4, EveryQuestionOfACallIsLogged) {
  const Value input = call({question("One? <gstack-qid:ship-a>", {"x (recommended)", "y"}),
                            question("Two?", {"x", "y"}), question("Three?", {"x", "y"})});
  const Value response = Value::object(
      {{"answers", Value::object({{"One? <gstack-qid:ship-a>", "x (recommended)"}, {"Two?", "y"}, {"Three?", "x"}})}});
  EXPECT_EQ(fire(after(input, response)).output, "");
  const auto logged = records();
  ASSERT_THAT(logged, SizeIs(3));
  EXPECT_EQ(logged[0].string_at("question_id"), "ship-a");
  EXPECT_EQ(logged[0].string_at("user_choice"), "x");
  EXPECT_EQ(logged[0]["followed_recommendation"], Value(true));
  EXPECT_EQ(logged[0].string_at("session_id"), "5b1c");
  EXPECT_EQ(logged[0].string_at("tool_use_id"), "toolu_1");
  EXPECT_TRUE(logged[1].string_at("question_id")->starts_with("hook-"));
  EXPECT_NE(logged[1].string_at("question_id"), logged[2].string_at("question_id"));
  (void)fire(after(input, response));
  EXPECT_THAT(records(), SizeIs(3));
}

TEST_F(Recorded, HashIdsMatchGstack) {
  const Value input = call({question("Which colour?", {"Red", "Blue"})});
  (void)fire(after(input, answered(input, "Red")));
  // printf 'unknown::Which colour?::Blue|Red' | sha1sum
  EXPECT_EQ(records().at(0).string_at("question_id"), "hook-5e37630799");
}

TEST_F(Recorded, UnknownLabelsAreFreeText) {
  const Value input = call({question("Which? <gstack-qid:ship-a>", {"x (recommended)", "y"})});
  (void)fire(after(input, answered(input, "something else")));
  const Value record = records().at(0);
  EXPECT_EQ(record.string_at("source"), "auq-other");
  EXPECT_EQ(record.string_at("free_text"), "something else");
  EXPECT_EQ(record.find("followed_recommendation"), nullptr);
}

TEST_F(Gap13, NewerResultsAreDistinguished) {
  const Value input = call({question("Which? <gstack-qid:ship-a>", {"x (recommended)", "y"})});
  const std::string text = "Which? <gstack-qid:ship-a>";
  const auto annotated = [&](const char* kind) {
    Value annotations = Value::object();
    annotations.set(text, Value::object({{"unanswered", kind}}));
    return Value::object({{"answers", Value::object()}, {"annotations", annotations}});
  };
  Value idle = answered(input, "x (recommended)");
  idle.set("afkTimeoutMs", 60000);
  const std::vector<std::pair<Value, std::string>> cases = {
      {annotated("dismissed"), "__dismissed__"},
      {annotated("skipped"), "__skipped__"},
      {annotated("replied_in_chat"), "__dismissed__"},
      {idle, "__timed_out__"},
      {Value::object({{"answers", Value::object()}, {"response", "later"}}), "later"},
      {Value::object({{"answers", Value::object()}}), "__unknown__"},
      {Value("?"), "__unknown__"}};
  int number = 0;
  for (const auto& [response, choice] : cases) {
    (void)fire(after(input, response, "call-" + std::to_string(++number)));
    const Value record = records().back();
    EXPECT_EQ(record.string_at("user_choice"), choice) << to_json(response);
    EXPECT_EQ(record.find("followed_recommendation"), nullptr) << to_json(response);
  }
  EXPECT_THAT(errors(), HasSubstr("cannot be read"));
}

TEST_F(Gap8, InstructionLikeTextIsKeptAndMarked) {
  const Value input = call({question("Approve this plan? <gstack-qid:ship-a>", {"Yes", "No"})});
  (void)fire(after(input, answered(input, "Yes")));
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].string_at("question_summary"), "Approve this plan?");
  EXPECT_EQ(records()[0].string_at("screened"), "instruction-like");
}

TEST_F(Gap10, AQuestionWithoutOptionsIsLogged) {
  const Value input = call({question("Name? <gstack-qid:ship-a>", {})});
  (void)fire(after(input, answered(input, "Ann")));
  EXPECT_EQ(records().at(0)["options_count"], Value(0));
}

TEST_F(Recorded, AnswerFormatsOfOtherVersionsAreRead) {
  const Value input = call({question("Which? <gstack-qid:ship-a>", {"x (recommended)", "y"})});
  const std::vector<std::string> shapes = {
      R"({"answers":{"which?  <GSTACK-qid:ship-a>":"y"}})", R"({"answers":[{"option_label":"y"}]})",
      R"({"questions":[{"question":"Which? <gstack-qid:ship-a>","user_answer":"y"}]})",
      R"([{"type":"text","text":"{\"answers\":{\"Which? <gstack-qid:ship-a>\":\"y\"}}"}])",
      R"("{\"answers\":{\"Which? <gstack-qid:ship-a>\":\"y\"}}")"};
  int number = 0;
  for (const std::string& shape : shapes) {
    (void)fire(after(input, parse_json(shape).value(), "call-" + std::to_string(++number)));
    EXPECT_EQ(records().back().string_at("user_choice"), "y") << shape;
    EXPECT_EQ(records().back()["followed_recommendation"], Value(false)) << shape;
  }
}

TEST_F(Recorded, ABrokenStoreDoesNotPreventLogging) {
  Plan planned = plan(kBranch);
  first(planned.input).set("question", first(planned.input)["question"].as_string() + " <gstack-qid:ship-a>");
  corrupt_store();
  EXPECT_EQ(fire(after(planned.input, answered(planned.input, "main"))).output, "");
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].string_at("user_choice"), "main");
  EXPECT_NE(errors(), "");
}

}  // namespace
}  // namespace sb::hook

#include "inbox/question/planned_prompt.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inbox/next_prompt.hpp"
#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using decision::HostAnswer;
using decision::HostAnswerKind;
using decision::WalkTurn;

const std::string kMany = R"(
decision: envs
instruction: "Which environments should get it?"
select: many
options: [staging, production, canary, edge, lab]
)";
const std::string kFive = R"(
decision: which
instruction: Which one?
options: [alpha, beta, gamma, delta, epsilon]
)";
const std::string kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch should be released?", options: [main, release, hotfix]}
  - {key: env, instruction: "Which environments should get it?", select: many, options: [staging, production]}
)";

class PromptPlace : public InboxTestBed {
 public:
  // Renders the decision's open question, as `signalbox render` does.
  std::string plan(const std::string& yaml, std::optional<int> page = {}) {
    const auto declaration = decision::declared(yaml);
    const auto state = inbox.load(open(yaml).id);
    id = state->id;
    const auto next = plan_next_prompt(inbox, *state, declaration, decision::hosts::kAskUserQuestion, {.page = page});
    if (!next) {
      ADD_FAILURE() << next.error().to_string();
      return {};
    }
    return next->rendered.shape.nonce;
  }
  Result<Walked> reply(const std::string& yaml, const std::string& nonce, HostAnswer answer) {
    return inbox.walk_prompt(nonce, decision::declared(yaml),
                             {.given = std::move(answer),
                              .from = {Channel::kHook, "claude-code"},
                              .raw = "{}",
                              .reader = "claude-code (hook)"});
  }
  Result<Walked> pick(const std::string& yaml, const std::string& nonce, std::vector<std::string> ids) {
    HostAnswer answer;
    answer.result = HostAnswerKind::kSelected;
    answer.option_ids = std::move(ids);
    return reply(yaml, nonce, std::move(answer));
  }
  Result<Walked> say(const std::string& yaml, const std::string& nonce, HostAnswerKind result, std::string text = "") {
    HostAnswer answer;
    answer.result = result;
    answer.text = std::move(text);
    return reply(yaml, nonce, std::move(answer));
  }
  bool is_open(const std::string& nonce) { return (*inbox.find_prompt(nonce))->is_open; }

  std::string id;  // of the decision planned last
};

TEST(PlannedPrompt, EqualCallsOnEqualStoresGiveEqualBytes) {
  PromptPlace one, other;
  const std::string a = one.plan(kPlainQuestion);
  EXPECT_EQ(a, other.plan(kPlainQuestion));
  EXPECT_EQ(a.size(), 16U);
  // The next one has another nonce, so each prompt closes only itself.
  EXPECT_NE(one.plan(kPlainQuestion), a);
}

// Double submit and stale answers: a nonce closes once.
TEST(Amb29, APromptIsClosedOnce) {
  PromptPlace place;
  const std::string prompt = place.plan(kPlainQuestion);
  EXPECT_TRUE(place.is_open(prompt));
  const auto answered = place.pick(kPlainQuestion, prompt, {"canary"});
  ASSERT_TRUE(answered) << answered.error().to_string();
  const DecisionOutcome& outcome = *answered->state.outcome;
  EXPECT_THAT(outcome.options, ElementsAre("canary"));
  EXPECT_EQ(outcome.render_hash, (*place.inbox.find_prompt(prompt))->render_hash);
  EXPECT_EQ(outcome.channel, Channel::kHook);
  EXPECT_FALSE(place.is_open(prompt));
  const auto again = place.pick(kPlainQuestion, prompt, {"staging"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(place.inbox.load(place.id)->outcome->options, ElementsAre("canary"));
}

// The host has the answer: the next caller with the same question asks again and does not get the old answer.
TEST(PlannedPrompt, AnAnsweredPromptCanBeAskedAgain) {
  PromptPlace place;
  const auto answered = place.pick(kPlainQuestion, place.plan(kPlainQuestion), {"canary"});
  ASSERT_TRUE(answered) << answered.error().to_string();
  EXPECT_TRUE(answered->state.is_consumed);
  EXPECT_EQ(answered->state.consumed_by, "claude-code (hook)");
  EXPECT_FALSE(place.inbox.withdraw(place.id, {Channel::kTerminal, "ann"}));
  EXPECT_FALSE(place.open(kPlainQuestion).has_joined);

  ASSERT_TRUE(place.say(kPlainQuestion, place.plan(kPlainQuestion), HostAnswerKind::kDeclined));
  EXPECT_FALSE(place.open(kPlainQuestion).has_joined);
}

TEST(PlannedPrompt, AnUnplannedReplyClosesNothing) {
  PromptPlace place;
  const std::string prompt = place.plan(kFive);
  EXPECT_EQ(place.pick(kFive, "0123456789abcdef", {"alpha"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(place.pick(kFive, "", {"alpha"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(place.pick(kFive, prompt, {"epsilon"}).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(place.inbox.load(place.id)->is_open());
}

TEST(PlannedPrompt, NonAnswersAndFreeTextKeepItOpen) {
  PromptPlace place;
  const std::string prompt = place.plan(kPlainQuestion);
  EXPECT_EQ(place.say(kPlainQuestion, prompt, HostAnswerKind::kEmpty)->state.last_no_answer, HostResult::kEmpty);
  EXPECT_THAT(place.say(kPlainQuestion, prompt, HostAnswerKind::kFreeText, "neither")->state.free_texts,
              ElementsAre("neither"));
  EXPECT_EQ(place.say(kPlainQuestion, prompt, HostAnswerKind::kTimedOut)->state.last_no_answer, HostResult::kTimedOut);
  EXPECT_TRUE(place.is_open(prompt));
  EXPECT_TRUE(place.inbox.load(place.id)->is_open());
}

TEST(PlannedPrompt, PagesAreAnsweredTogetherInAnyOrder) {
  PromptPlace place;
  const std::string first = place.plan(kMany);
  const std::string second = place.plan(kMany, 2);
  const auto half = place.pick(kMany, second, {"lab"});
  ASSERT_TRUE(half) << half.error().to_string();
  EXPECT_TRUE(half->state.is_open());
  const auto done = place.pick(kMany, first, {"staging"});
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(done->state.outcome->options, ElementsAre("staging", "lab"));
}

TEST(PlannedPrompt, MoreIsNotAnAnswer) {
  PromptPlace place;
  const std::string first = place.plan(kFive);
  const std::string second = place.plan(kFive, 2);
  EXPECT_TRUE(place.say(kFive, first, HostAnswerKind::kMore)->state.is_open());
  EXPECT_THAT(place.pick(kFive, second, {"epsilon"})->state.outcome->options, ElementsAre("epsilon"));
}

// The exact name of an option counts, also of one that another page shows.
TEST(PlannedPrompt, AnExactLabelTypedAsTextIsThatOption) {
  PromptPlace place;
  const std::string first = place.plan(kFive);
  EXPECT_THAT(place.say(kFive, first, HostAnswerKind::kFreeText, "epsilon")->state.outcome->options,
              ElementsAre("epsilon"));
}

TEST(PlannedPrompt, AHostCannotCloseASignedDecision) {
  PromptPlace place;
  place.enrol("ann");
  const std::string prompt = place.plan(kOneWayQuestion);
  const auto refused = place.pick(kOneWayQuestion, prompt, {"drop"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(place.is_open(prompt));
}

TEST(PlannedPrompt, OpenPromptsAreListedNewestFirst) {
  PromptPlace place;
  place.plan(kPlainQuestion);
  const std::string second = place.plan(kPlainQuestion);
  const auto both = place.inbox.open_prompts();
  ASSERT_EQ(both->size(), 2U);
  EXPECT_EQ((*both)[0].nonce, second);
  ASSERT_TRUE(place.inbox.answer(place.id, place.submission({"canary"})));
  EXPECT_TRUE(place.inbox.open_prompts()->empty());
}

TEST(PlannedPrompt, AnsweredDecisionsHideNoPromptOfAnother) {
  PromptPlace place;
  const std::string waiting = place.plan(kFive);
  const std::string asked = place.id;
  for (int i = 0; i < 120; ++i) {
    place.plan(fmt::format("decision: q-{}\ninstruction: Which?\noptions: [yes, no]\n", i));
    ASSERT_TRUE(place.inbox.answer(place.id, place.submission({"yes"})));
  }
  const auto open = place.inbox.open_prompts();
  ASSERT_EQ(open->size(), 1U);
  EXPECT_EQ(open->front().nonce, waiting);
  EXPECT_EQ(place.inbox.open_prompts_of(asked)->front().nonce, waiting);
  EXPECT_TRUE(place.inbox.open_prompts_of(place.id)->empty());
}

TEST(Walking, AFlowIsStoredStepByStep) {
  PromptPlace place;
  const std::string first = place.plan(kRelease);
  const std::string twin = place.plan(kRelease);
  const auto one = place.pick(kRelease, first, {"release"});
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_FALSE(one->turn.is_same);
  EXPECT_FALSE(place.is_open(twin));
  const std::string second = place.plan(kRelease);
  EXPECT_EQ((*place.inbox.find_prompt(second))->part, "env");
  // Answered already, and the same question rendered twice is one question.
  EXPECT_EQ(place.pick(kRelease, twin, {"main"}).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(place.pick(kRelease, second, {"staging", "production"}));
  const std::string confirmation = place.plan(kRelease);
  const auto done = place.pick(kRelease, confirmation, {"confirm"});
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(to_json(done->state.outcome->values), R"({"branch":"release","env":["staging","production"]})");
}

TEST(Walking, AnAnswerThatCameSecondIsKept) {
  PromptPlace place;
  const std::string prompt = place.plan(kPlainQuestion);
  ASSERT_TRUE(place.inbox.answer(place.id, place.submission({"canary"})));
  EXPECT_EQ(place.pick(kPlainQuestion, prompt, {"staging"}).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(place.inbox.decline(place.id, {Channel::kElicitation, "codex"}, "{}"));
  const auto state = place.inbox.load(place.id);
  EXPECT_THAT(state->outcome->options, ElementsAre("canary"));
  ASSERT_EQ(state->late.size(), 2U);
  EXPECT_EQ(state->late[0].answer, "staging");
  EXPECT_EQ(state->late[0].principal, "claude-code");
  EXPECT_EQ(state->late[1].answer, "declined");
}

}  // namespace
}  // namespace sb::inbox

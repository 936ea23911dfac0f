#include "inbox/question/planned_prompt.hpp"

#include <gmock/gmock.h>

#include "decision/prompt.hpp"
#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kMany = R"(
decision: envs
instruction: "Which environments should get it?"
select: many
options: [staging, production, canary]
)";

class PromptPlace : public InboxTestBed {
 public:
  PlannedPrompt plan(const std::string& id, std::vector<std::string> ids, int page = 1, int pages = 1) {
    PlannedPrompt prompt;
    prompt.decision = id;
    prompt.fingerprint = inbox.load(id)->opened.fingerprint;
    prompt.render_hash = sha256_hex("what the host is given");
    prompt.host = "ask_user_question";
    prompt.page = page;
    prompt.pages = pages;
    prompt.question = "Which? <sb:" + std::string(kNoncePlaceholder) + ">";
    for (const std::string& each : ids) prompt.options.push_back({each, "Label of " + each});
    return *inbox.plan_prompt(prompt);
  }
  HostReply pick(std::vector<std::string> ids) {
    HostReply reply;
    reply.options = std::move(ids);
    reply.from = {Channel::kHook, "claude-code"};
    reply.raw = "{}";
    return reply;
  }
};

TEST(PlannedPrompt, EqualCallsOnEqualStoresGiveEqualBytes) {
  PromptPlace one, other;
  const PlannedPrompt a = one.plan(one.open(kPlainQuestion).id, {"staging", "production", "canary"});
  const PlannedPrompt b = other.plan(other.open(kPlainQuestion).id, {"staging", "production", "canary"});
  EXPECT_EQ(a.nonce, b.nonce);
  EXPECT_EQ(a.question, "Which? <sb:" + a.nonce + ">");
  EXPECT_EQ(a.nonce.size(), 16U);
  // The next one has another nonce, so each prompt closes only itself.
  EXPECT_NE(one.plan(one.open(kPlainQuestion).id, {"staging"}).nonce, a.nonce);
}

// Double submit and stale answers: a nonce closes once.
TEST(Amb29, APromptIsClosedOnce) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const PlannedPrompt prompt = place.plan(id, {"staging", "production", "canary"});
  EXPECT_TRUE((*place.inbox.find_prompt(prompt.nonce))->is_open);
  const auto answered = place.inbox.reply(prompt.nonce, place.pick({"canary"}));
  ASSERT_TRUE(answered) << answered.error().to_string();
  EXPECT_THAT(answered->outcome->options, ElementsAre("canary"));
  EXPECT_EQ(answered->outcome->render_hash, prompt.render_hash);
  EXPECT_EQ(answered->outcome->channel, Channel::kHook);
  EXPECT_FALSE((*place.inbox.find_prompt(prompt.nonce))->is_open);
  const auto again = place.inbox.reply(prompt.nonce, place.pick({"staging"}));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(place.inbox.load(id)->outcome->options, ElementsAre("canary"));
}

// The host has the answer: the next caller with the same question asks again and does not get the old answer.
TEST(PlannedPrompt, AnAnsweredPromptCanBeAskedAgain) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const PlannedPrompt prompt = place.plan(id, {"staging", "production", "canary"});
  const auto answered = place.inbox.reply(prompt.nonce, place.pick({"canary"}));
  ASSERT_TRUE(answered) << answered.error().to_string();
  EXPECT_TRUE(answered->is_consumed);
  EXPECT_EQ(answered->consumed_by, "claude-code (hook)");
  EXPECT_FALSE(place.inbox.withdraw(id, {Channel::kTerminal, "ann"}));
  const DecisionHandle again = place.open(kPlainQuestion);
  EXPECT_FALSE(again.has_joined);

  HostReply declined = place.pick({});
  declined.result = HostResult::kDeclined;
  ASSERT_TRUE(place.inbox.reply(place.plan(again.id, {"staging"}).nonce, declined));
  EXPECT_FALSE(place.open(kPlainQuestion).has_joined);
}

TEST(PlannedPrompt, AnUnplannedReplyClosesNothing) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const PlannedPrompt prompt = place.plan(id, {"staging", "production"});
  EXPECT_EQ(place.inbox.reply("0123456789abcdef", place.pick({"staging"})).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(place.inbox.reply("", place.pick({"staging"})).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(place.inbox.reply(prompt.nonce, place.pick({"canary"})).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(place.inbox.load(id)->is_open());
}

TEST(PlannedPrompt, NonAnswersAndFreeTextKeepItOpen) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const PlannedPrompt prompt = place.plan(id, {"staging", "production", "canary"});
  HostReply reply = place.pick({});
  EXPECT_EQ(place.inbox.reply(prompt.nonce, reply)->last_no_answer, HostResult::kEmpty);
  reply.free_text = "neither";
  EXPECT_THAT(place.inbox.reply(prompt.nonce, reply)->free_texts, ElementsAre("neither"));
  reply.result = HostResult::kTimedOut;
  EXPECT_EQ(place.inbox.reply(prompt.nonce, reply)->last_no_answer, HostResult::kTimedOut);
  EXPECT_TRUE((*place.inbox.find_prompt(prompt.nonce))->is_open);
  EXPECT_TRUE(place.inbox.load(id)->is_open());
}

TEST(PlannedPrompt, PagesAreAnsweredTogether) {
  PromptPlace place;
  const std::string id = place.open(kMany).id;
  const std::string none(decision::kNoneId);
  const PlannedPrompt first = place.plan(id, {"staging", "production", none}, 1, 2);
  const PlannedPrompt second = place.plan(id, {"canary", none}, 2, 2);
  EXPECT_TRUE(place.inbox.reply(second.nonce, place.pick({"canary"}))->is_open());
  const auto done = place.inbox.reply(first.nonce, place.pick({"staging"}));
  ASSERT_TRUE(done);
  EXPECT_THAT(done->outcome->options, ElementsAre("staging", "canary"));
}

TEST(PlannedPrompt, MoreIsNotAnAnswer) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const std::string more(decision::kMoreId);
  const PlannedPrompt first = place.plan(id, {"staging", more}, 1, 2);
  const PlannedPrompt second = place.plan(id, {"production", "canary"}, 2, 2);
  EXPECT_TRUE(place.inbox.reply(first.nonce, place.pick({more}))->is_open());
  EXPECT_THAT(place.inbox.reply(second.nonce, place.pick({"canary"}))->outcome->options, ElementsAre("canary"));
}

TEST(PlannedPrompt, AHostCannotCloseASignedDecision) {
  PromptPlace place;
  place.enrol("ann");
  const std::string id = place.open(kOneWayQuestion).id;
  const PlannedPrompt prompt = place.plan(id, {"keep", "drop"});
  const auto refused = place.inbox.reply(prompt.nonce, place.pick({"drop"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE((*place.inbox.find_prompt(prompt.nonce))->is_open);
}

TEST(PlannedPrompt, OpenPromptsAreListedNewestFirst) {
  PromptPlace place;
  const std::string id = place.open(kPlainQuestion).id;
  const PlannedPrompt first = place.plan(id, {"staging"});
  const PlannedPrompt second = place.plan(id, {"production", "canary"});
  const auto both = place.inbox.open_prompts();
  ASSERT_EQ(both->size(), 2U);
  EXPECT_EQ((*both)[0].nonce, second.nonce);
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"canary"})));
  EXPECT_TRUE(place.inbox.open_prompts()->empty());
}

}  // namespace
}  // namespace sb::inbox

// Answers that an agent passes on, and how a question is shown when no one can be asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/sessions_place.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kGated =
    workflow_text("[{id: one, title: One, prompt: P, requireConfirmation: true}, {id: two, title: Two, prompt: P}]");
const std::string kSigned = workflow_text(
    "[{id: one, title: One, prompt: P, requireConfirmation: {kind: human_approval}}, {id: two, title: Two, prompt: "
    "P}]");

std::string decision_of(const SessionResponse& answer) {
  return answer.line["decision"].string_at("id").value_or("");
}

RelayedAnswer relayed(const std::string& decision, std::vector<std::string> options) {
  return {.decision = decision, .given = {.options = std::move(options)}, .by = "an agent", .raw = "{}"};
}

class Relay : public testing::Test {
 protected:
  SessionResult<SessionResponse> relay(const SessionResponse& answer, RelayedAnswer given) {
    return place.sessions->continue_session({.token = SessionTestHome::token_of(answer), .answer = std::move(given)});
  }
  inbox::DecisionState state(const std::string& id) { return *place.inbox.inbox.load(id); }

  SessionTestHome place;
};

TEST_F(Relay, ContinuesWithThePersonsChoiceIfTheUserAllowsIt) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  const SessionResponse asked = place.continue_session(place.start(kGated));
  EXPECT_TRUE(asked.line["decision"]["relay"].as_bool());
  const auto next = relay(asked, relayed(decision_of(asked), {"approve"}));
  ASSERT_TRUE(next) << next.error().error.to_string();
  EXPECT_EQ(SessionTestHome::step(*next), "two");
  const inbox::DecisionState done = state(decision_of(asked));
  EXPECT_EQ(done.outcome->channel, inbox::Channel::kRelay);
  EXPECT_EQ(done.outcome->resolved_by, inbox::ResolvedBy::kRelayed);
  EXPECT_EQ(done.outcome->principal, "an agent");
  EXPECT_EQ(done.outcome->raw, "{}");
  // The same call again repeats the answer without looking at the decision.
  const auto again = relay(asked, relayed("d-other", {"reject"}));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->line, next->line);
}

TEST_F(Relay, ARemarkIsTheReasonOfARejection) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  const SessionResponse asked = place.continue_session(place.start(kGated));
  RelayedAnswer answer = relayed(decision_of(asked), {"reject"});
  answer.remark = "Too short";
  const auto next = relay(asked, answer);
  ASSERT_TRUE(next);
  EXPECT_EQ(SessionTestHome::kind(*next), "blocked");
  EXPECT_THAT(next->text, HasSubstr("Too short"));
}

TEST_F(Relay, IsRefusedUnlessTheUserAllowsIt) {
  const SessionResponse asked = place.continue_session(place.start(kGated));
  EXPECT_FALSE(asked.line["decision"]["relay"].as_bool());
  const auto next = relay(asked, relayed(decision_of(asked), {"approve"}));
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, "PRECONDITION_FAILED");
  // The answer tells the agent who must answer, not how to unlock itself.
  EXPECT_THAT(next.error().error.to_string(),
              HasSubstr("A person must answer it: signalbox inbox answer " + decision_of(asked)));
  EXPECT_THAT(next.error().error.to_string(), Not(HasSubstr("config")));
  EXPECT_TRUE(state(decision_of(asked)).is_open());
  EXPECT_EQ(SessionTestHome::kind(place.poll(asked)), "awaiting_decision");
}

TEST_F(Relay, NeverOpensASignedGate) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  place.inbox.enrol("ann");
  const SessionResponse asked = place.continue_session(place.start(kSigned));
  EXPECT_FALSE(asked.line["decision"]["relay"].as_bool());
  EXPECT_THAT(asked.text, HasSubstr("A person must sign this"));
  const auto next = relay(asked, relayed(decision_of(asked), {"approve"}));
  ASSERT_FALSE(next);
  EXPECT_THAT(next.error().error.message, HasSubstr("requires an operator's signature"));
  EXPECT_TRUE(state(decision_of(asked)).is_open());
}

TEST_F(Relay, AcceptsOnlyTheOpenDecisionOfThisSessionAndItsOptions) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  const SessionResponse other = place.continue_session(place.start(kGated));
  const SessionResponse asked = place.continue_session(place.start(kGated));
  const auto wrong = relay(asked, relayed(decision_of(other), {"approve"}));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().error.to_string(), HasSubstr(decision_of(asked)));
  EXPECT_TRUE(state(decision_of(other)).is_open());

  const auto misspelt = relay(asked, relayed(decision_of(asked), {"aprove"}));
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().code, "VALIDATION_ERROR");
  EXPECT_THAT(misspelt.error().error.remedy, HasSubstr("Did you mean \"approve\"?"));
  for (std::vector<std::string> options : {std::vector<std::string>{}, {"approve", "reject"}, {"approve", "approve"}}) {
    EXPECT_FALSE(relay(asked, relayed(decision_of(asked), std::move(options))));
  }
  EXPECT_TRUE(state(decision_of(asked)).is_open());

  place.decide(asked, "reject");
  const auto late = relay(asked, relayed(decision_of(asked), {"approve"}));
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().error.message, HasSubstr("already answered by ann"));
  EXPECT_EQ(SessionTestHome::kind(place.poll(asked)), "blocked");
}

TEST_F(Relay, RehydratingAcceptsNoAnswer) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  const SessionResponse asked = place.continue_session(place.start(kGated));
  EXPECT_FALSE(place.sessions->continue_session({.token = SessionTestHome::token_of(asked),
                                                 .intent = ContinueRequest::Intent::kRehydrate,
                                                 .answer = relayed(decision_of(asked), {"approve"})}));
  EXPECT_TRUE(state(decision_of(asked)).is_open());
}

TEST_F(Relay, IsRefusedWithoutAQuestion) {
  place.inbox.policy.confirmations = inbox::Confirmations::kRelay;
  const SessionResponse first = place.start(kGated);
  const auto early = relay(first, relayed("d-1", {"approve"}));
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().error.message, HasSubstr("is not waiting for a decision"));
}

TEST_F(Relay, ADecisionThatEndedWithoutAnAnswerIsAskedAgain) {
  const SessionResponse asked = place.start(workflow_text(
      "[{id: which, type: decision, title: Which, decision: {instruction: \"Which way?\", options: [left, right]}, "
      "captureAs: way}, {id: two, title: Two, prompt: P}]"));
  ASSERT_EQ(SessionTestHome::kind(asked), "awaiting_decision") << asked.text;
  ASSERT_TRUE(place.inbox.inbox.decline(decision_of(asked), {inbox::Channel::kTerminal, "ann"}, ""));
  const SessionResponse again = place.poll(asked);
  EXPECT_NE(decision_of(again), decision_of(asked));
  EXPECT_TRUE(state(decision_of(again)).is_open());
  place.decide(again, "left");
  EXPECT_EQ(SessionTestHome::step(place.poll(again)), "two");
}

TEST_F(Relay, ShowsTheContextBeforeTheBlock) {
  const SessionResponse asked = place.continue_session(place.start(kGated), {.notes = "I did\nthis."});
  EXPECT_THAT(asked.text, HasSubstr("  | I did\n  | this."));
  EXPECT_THAT(asked.text, HasSubstr("Accept the result of this step?\n\n1) Approve\n2) Reject\n\nA person"));
  EXPECT_THAT(asked.text, HasSubstr("approve|reject`"));
  EXPECT_THAT(asked.text, Not(HasSubstr("Choose one.")));
}

}  // namespace
}  // namespace sb::engine

#include "inbox/inbox.hpp"

#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kDeadline = R"(
decision: pick
profile: gstack
instruction: "Which one should it be?"
sections: {eli10: Two ways., stakes: Little., net: Either works., recommendation: {choice: a, reason: it is first}}
options:
  - {id: a, label: First, recommended: true, pros: [It is the simple and known way to go], cons: [It is slower than the other way is]}
  - {id: b, label: Second, pros: [It is faster than the first way is now], cons: [It is new and nobody has run it yet]}
deadline: 1h
)";

TEST(Inbox, AnswersOnceAndTheSecondAnswerNamesTheFirst) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  const auto answered = place.inbox.answer(id, place.submission({"canary"}));
  ASSERT_TRUE(answered) << answered.error().to_string();
  EXPECT_EQ(answered->state, DecisionStatus::kClosed);
  EXPECT_THAT(answered->outcome->options, ElementsAre("canary"));
  EXPECT_EQ(answered->outcome->principal, "ann");
  EXPECT_EQ(answered->outcome->raw, "as typed");
  EXPECT_EQ(answered->outcome->render_hash, answered->opened.render_hash);
  const auto second = place.inbox.answer(id, place.submission({"staging"}));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_THAT(second.error().message,
              HasSubstr("already answered by ann (terminal) at 2023-11-14T22:13:20.000Z: canary"));
}

TEST(Inbox, RejectsUndeclaredAnswers) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  for (const std::vector<std::string>& ids :
       std::vector<std::vector<std::string>>{{}, {"prod"}, {"staging", "canary"}, {"staging", "staging"}, {""}}) {
    const auto answered = place.inbox.answer(id, place.submission(ids));
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(place.inbox.load(id)->is_open());
}

TEST(Inbox, TheSameQuestionJoinsUntilItsOutcomeIsRead) {
  InboxTestBed place;
  const DecisionHandle first = place.open(kPlainQuestion);
  EXPECT_FALSE(first.has_joined);
  const DecisionHandle again = place.open(kPlainQuestion);
  EXPECT_TRUE(again.has_joined);
  EXPECT_EQ(again.id, first.id);
  EXPECT_NE(place.open(kPlainQuestion, {.workspace = "/elsewhere", .session = ""}).id, first.id);
  EXPECT_NE(place.open(kPlainQuestion, {.workspace = "/srv", .session = "s1"}).id, first.id);

  // An answer that came before a caller waited counts.
  ASSERT_TRUE(place.inbox.answer(first.id, place.submission({"staging"})));
  EXPECT_EQ(place.open(kPlainQuestion).id, first.id);
  ASSERT_TRUE(place.inbox.consume(first.id, "test"));
  const DecisionHandle fresh = place.open(kPlainQuestion);
  EXPECT_FALSE(fresh.has_joined);
  EXPECT_NE(fresh.id, first.id);
}

TEST(Inbox, AnAskerGetsTheAnswerAgainUnlessItIsSigned) {
  InboxTestBed place;
  const AskContext agent{.workspace = "/srv", .session = "", .asker = "the agent"};
  const std::string id = place.open(kPlainQuestion, agent).id;
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"staging"})));
  ASSERT_TRUE(place.inbox.consume(id, "the agent"));
  EXPECT_EQ(place.open(kPlainQuestion, agent).id, id);
  EXPECT_NE(place.open(kPlainQuestion, {.workspace = "/srv", .session = "", .asker = "another"}).id, id);

  const KeyPair key = place.enrol("ann");
  const std::string drop = place.open(kOneWayQuestion, agent).id;
  ASSERT_TRUE(place.inbox.answer(drop, place.signed_submission(drop, {"drop"}, key.secret)));
  ASSERT_TRUE(place.inbox.consume(drop, "the agent"));
  EXPECT_NE(place.open(kOneWayQuestion, agent).id, drop);
}

TEST(Inbox, AnAnswerCanBeWithdrawnOnlyUntilItIsRead) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  const Responder ann{Channel::kTerminal, "ann"};
  EXPECT_FALSE(place.inbox.withdraw(id, ann));
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"staging"})));
  const auto open_again = place.inbox.withdraw(id, ann);
  ASSERT_TRUE(open_again);
  EXPECT_EQ(open_again->state, DecisionStatus::kOpen);
  EXPECT_FALSE(open_again->outcome);
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"canary"})));
  ASSERT_TRUE(place.inbox.consume(id, "the pipeline"));
  const auto late = place.inbox.withdraw(id, ann);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kConflict);
  EXPECT_THAT(late.error().message, HasSubstr("read by the pipeline"));
  EXPECT_THAT(place.inbox.load(id)->outcome->options, ElementsAre("canary"));
}

TEST(Inbox, FreeTextKeepsItOpen) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  const auto noted = place.inbox.note_free_text(id, std::string("why\0not", 7), {Channel::kTerminal, "ann"});
  ASSERT_TRUE(noted);
  EXPECT_TRUE(noted->is_open());
  EXPECT_THAT(noted->free_texts, ElementsAre(std::string("why\0not", 7)));
}

// A timeout or dismissal in the host is not an input: it never chooses and never closes.
TEST(Amb30, NonAnswersAreDistinguishedAndChooseNothing) {
  InboxTestBed place;
  for (const HostResult result : {HostResult::kCancelled, HostResult::kDismissed, HostResult::kSkipped,
                                  HostResult::kTimedOut, HostResult::kEmpty}) {
    const std::string id = place.open(kPlainQuestion, {.workspace = std::string(to_string(result)), .session = ""}).id;
    const auto noted = place.inbox.note_no_answer(id, result, {Channel::kElicitation, "client"});
    ASSERT_TRUE(noted);
    EXPECT_TRUE(noted->is_open());
    EXPECT_EQ(noted->last_no_answer, result);
  }
  const std::string id = place.open(kPlainQuestion).id;
  const auto declined = place.inbox.note_no_answer(id, HostResult::kDeclined, {Channel::kElicitation, "client"});
  ASSERT_TRUE(declined);
  EXPECT_EQ(declined->outcome->kind, OutcomeKind::kDeclined);
  EXPECT_EQ(declined->outcome->host_result, HostResult::kDeclined);
  EXPECT_THAT(declined->outcome->options, IsEmpty());
}

TEST(Inbox, ADeadlineHasExactlyTheDeclaredEffect) {
  struct Row {
    const char* on_timeout;
    DecisionStatus state;
    std::optional<OutcomeKind> ending;
  };
  for (const Row& row :
       {Row{"park", DecisionStatus::kParked, std::nullopt}, Row{"deny", DecisionStatus::kClosed, OutcomeKind::kExpired},
        Row{"default\ndefault: b", DecisionStatus::kClosed, OutcomeKind::kDefaulted}}) {
    InboxTestBed place;
    const std::string id = place.open(kDeadline + "on_timeout: " + row.on_timeout + "\n").id;
    place.clock.sleep_ms(3'599'999);
    EXPECT_EQ(place.inbox.load(id)->state, DecisionStatus::kOpen);
    place.clock.sleep_ms(1);
    const auto state = place.inbox.load(id);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->state, row.state);
    EXPECT_EQ(state->outcome ? std::optional(state->outcome->kind) : std::nullopt, row.ending);
    if (row.ending == OutcomeKind::kExpired) {
      EXPECT_THAT(state->outcome->options, IsEmpty());
    }
    if (row.ending == OutcomeKind::kDefaulted) {
      EXPECT_THAT(state->outcome->options, ElementsAre("b"));
      EXPECT_EQ(state->outcome->resolved_by, ResolvedBy::kDeadline);
      EXPECT_FALSE(state->is_answered());
    }
  }
}

TEST(Inbox, AParkedDecisionCanStillBeAnswered) {
  InboxTestBed place;
  const std::string id = place.open(kDeadline + "on_timeout: park\n").id;
  place.clock.sleep_ms(4'000'000);
  EXPECT_EQ(place.inbox.load(id)->state, DecisionStatus::kParked);
  EXPECT_TRUE(place.inbox.answer(id, place.submission({"a"})));
}

TEST(Inbox, LogOrderDecidesBetweenAnswerAndDeadline) {
  InboxTestBed place;
  const std::string answered_first = place.open(kDeadline + "on_timeout: deny\n").id;
  place.clock.sleep_ms(3'599'999);
  ASSERT_TRUE(place.inbox.answer(answered_first, place.submission({"a"})));
  place.clock.sleep_ms(1'000'000);
  EXPECT_TRUE(place.inbox.load(answered_first)->is_answered());

  const std::string expired_first = place.open(kDeadline + "on_timeout: deny\n", {.workspace = "/b", .session = ""}).id;
  place.clock.sleep_ms(3'600'000);
  const auto late = place.inbox.answer(expired_first, place.submission({"a"}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kConflict);
  // Setting the clock back does not change the log.
  place.clock.set(1'700'000'000'000);
  EXPECT_EQ(place.inbox.load(expired_first)->outcome->kind, OutcomeKind::kExpired);
  EXPECT_FALSE(place.inbox.answer(expired_first, place.submission({"a"})));
}

TEST(Inbox, AChangedDigestSupersedes) {
  InboxTestBed place;
  const std::string approval = "decision: ship\nkind: approval\ninstruction: \"Should it ship?\"\noptions: [Yes, No]\n";
  const std::string first = place.open(approval + "digest: sha256:aa\n").id;
  EXPECT_EQ(place.open(approval + "digest: sha256:aa\n").id, first);
  const std::string second = place.open(approval + "digest: sha256:bb\n").id;
  EXPECT_NE(second, first);
  EXPECT_EQ(place.inbox.load(first)->outcome->kind, OutcomeKind::kSuperseded);
  EXPECT_FALSE(place.inbox.answer(first, place.submission({"yes"})));
  EXPECT_TRUE(place.inbox.answer(second, place.submission({"yes"})));
}

TEST(Inbox, ASignedDecisionAcceptsOnlyASignature) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const std::string id = place.open(kOneWayQuestion).id;
  for (const Channel channel : {Channel::kTerminal, Channel::kConsole, Channel::kElicitation, Channel::kHook,
                                Channel::kLink, Channel::kRelay, Channel::kToken, Channel::kProgram}) {
    const auto refused = place.inbox.answer(id, place.submission({"drop"}, channel));
    ASSERT_FALSE(refused) << to_string(channel);
    EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  }
  const auto answered = place.inbox.answer(id, place.signed_submission(id, {"drop"}, ann.secret));
  ASSERT_TRUE(answered) << answered.error().to_string();
  EXPECT_EQ(answered->outcome->principal, "ann");
}

constexpr const char* kWithSafeOption = R"(
decision: drop-table
instruction: "Drop the table users_old?"
door: one-way
irreversible_note: The rows cannot be restored.
options:
  - {id: keep, label: Keep it, safe: true}
  - {id: drop, label: Drop it}
)";

TEST(Inbox, ASafeOptionNeedsNoSignature) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const std::string id = place.open(kWithSafeOption).id;
  EXPECT_EQ(place.inbox.answer(id, place.submission({"drop"})).error().code, ErrorCode::kForbidden);
  const auto kept = place.inbox.answer(id, place.submission({"keep"}));
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_THAT(kept->outcome->options, testing::ElementsAre("keep"));
  EXPECT_FALSE(kept->outcome->signature);
  // Read again from the log, where the same rule holds.
  EXPECT_TRUE(place.inbox.load(id)->is_answered());
  // Without any operator too.
  InboxTestBed nobody;
  const std::string open = nobody.open(kWithSafeOption).id;
  EXPECT_FALSE(nobody.inbox.answer(open, nobody.submission({"drop"})));
  EXPECT_TRUE(nobody.inbox.answer(open, nobody.submission({"keep"})));
}

TEST(Inbox, AModelsSafeOptionNeedsItsSignature) {
  InboxTestBed place;
  place.enrol("ann");
  const auto submitted = decision::declare(kWithSafeOption, decision::Author::kModel);
  ASSERT_TRUE(submitted);
  const auto handle = place.inbox.open(*submitted, {.workspace = "/srv", .session = ""});
  ASSERT_TRUE(handle);
  EXPECT_EQ(place.inbox.answer(handle->id, place.submission({"keep"})).error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(place.inbox.decline(handle->id, {Channel::kTerminal, "ann"}, ""));
}

TEST(Inbox, OfASignedFlowOnlyTheStepsThatNeedItCount) {
  InboxTestBed place;
  place.enrol("ann");
  const std::string flow = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch?", options: [main, hotfix]}
  - key: wipe
    instruction: "Wipe the disk?"
    door: one-way
    irreversible_note: Its data is lost.
    options: [{id: keep, label: Keep it, safe: true}, {id: wipe, label: Wipe it}]
)";
  const std::string id = place.open(flow).id;
  AnswerSubmission given = place.submission({});
  given.given.values = Value::object({{"branch", "main"}, {"wipe", "wipe"}});
  EXPECT_EQ(place.inbox.answer(id, given).error().code, ErrorCode::kForbidden);
  given.given.values.set("wipe", "keep");
  EXPECT_TRUE(place.inbox.answer(id, given));
  // Under `strict` the other step needs one too.
  place.policy.strict = true;
  const std::string strict = place.open(flow, {.workspace = "/other", .session = ""}).id;
  EXPECT_EQ(place.inbox.answer(strict, given).error().code, ErrorCode::kForbidden);
}

TEST(Inbox, ADoorThatOverrulesAWordIsRecorded) {
  InboxTestBed place;
  const std::string id =
      place.open("decision: d\ninstruction: Delete the cache?\ndoor: two-way\noptions: [\"Yes\", \"No\"]\n").id;
  const auto state = place.inbox.load(id);
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->opened.needs_signature);
  EXPECT_EQ(state->opened.overruled_word, "Delete");
}

TEST(Inbox, EveryGateIsSignedWhereConfirmationsAreSigned) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  place.policy.confirmations_by_workspace["/srv"] = Confirmations::kSigned;
  const std::string gate =
      "decision: g\ninstruction: Accept it?\nkind: approval\n"
      "options: [{id: approve, label: Approve}, {id: reject, label: Reject, safe: true}]\n";
  const auto open = [&](const std::string& workspace, bool is_gate) {
    return place.open(gate, {.workspace = workspace, .session = "s-1", .asker = {}, .is_gate = is_gate}).id;
  };
  EXPECT_TRUE(place.inbox.answer(open("/srv/a", false), place.submission({"approve"})));
  EXPECT_TRUE(place.inbox.answer(open("/elsewhere", true), place.submission({"approve"})));
  const std::string id = open("/srv/b", true);
  EXPECT_EQ(place.inbox.answer(id, place.submission({"approve"})).error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(place.inbox.answer(id, place.signed_submission(id, {"approve"}, ann.secret)));
  const std::string other = open("/srv/c", true);
  EXPECT_TRUE(place.inbox.answer(other, place.submission({"reject"})));
}

TEST(Inbox, StrictRequiresASignatureForEveryDecision) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  place.policy.strict = true;
  const std::string id = place.open(kPlainQuestion).id;
  place.policy.strict = false;  // turning it off later has no effect on open decisions
  EXPECT_FALSE(place.inbox.answer(id, place.submission({"canary"})));
  EXPECT_TRUE(place.inbox.answer(id, place.signed_submission(id, {"canary"}, ann.secret)));
}

TEST(Inbox, WithoutAnOperatorASignedQuestionCannotBeAnswered) {
  InboxTestBed place;
  const std::string id = place.open(kOneWayQuestion).id;
  const KeyPair late = place.enrol("late");
  const auto refused = place.inbox.answer(id, place.signed_submission(id, {"drop"}, late.secret));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  const DecisionHandle again = place.open(kOneWayQuestion);
  EXPECT_NE(again.id, id);
  EXPECT_TRUE(place.inbox.answer(again.id, place.signed_submission(again.id, {"drop"}, late.secret)));
}

TEST(Inbox, AnOldSignedAnswerIsNotGivenToANewAsker) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const std::string id = place.open(kOneWayQuestion).id;
  ASSERT_TRUE(place.inbox.answer(id, place.signed_submission(id, {"drop"}, ann.secret)));
  place.clock.sleep_ms(limits::kAnswerMaxAgeMs);
  EXPECT_EQ(place.open(kOneWayQuestion).id, id);
  place.clock.sleep_ms(1);
  EXPECT_NE(place.open(kOneWayQuestion).id, id);
}

TEST(Inbox, AnOldUnsignedAnswerIsNotGivenToANewAsker) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"canary"})));
  place.clock.sleep_ms(limits::kAnswerMaxAgeMs);
  EXPECT_EQ(place.open(kPlainQuestion).id, id);
  place.clock.sleep_ms(1);
  EXPECT_NE(place.open(kPlainQuestion).id, id);
}

TEST(Inbox, AnUnreadApprovalOfAnotherDigestIsSuperseded) {
  InboxTestBed place;
  const std::string approval = "decision: ship\nkind: approval\ninstruction: \"Should it ship?\"\noptions: [Yes, No]\n";
  const std::string unread = place.open(approval + "digest: sha256:aa\n").id;
  ASSERT_TRUE(place.inbox.answer(unread, place.submission({"yes"})));
  const std::string second = place.open(approval + "digest: sha256:bb\n").id;
  EXPECT_EQ(place.inbox.load(unread)->outcome->kind, OutcomeKind::kSuperseded);
  EXPECT_TRUE(place.inbox.load(second)->is_open());

  // A consumed approval stays as it was.
  ASSERT_TRUE(place.inbox.answer(second, place.submission({"yes"})));
  ASSERT_TRUE(place.inbox.consume(second, "test"));
  place.open(approval + "digest: sha256:cc\n");
  EXPECT_TRUE(place.inbox.load(second)->is_answered());
}

TEST(Inbox, AnAnswerWithdrawnBeforeItIsConsumedKeepsTheWaiterWaiting) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"canary"})));
  ASSERT_FALSE(place.inbox.load(id)->is_open());
  ASSERT_TRUE(place.inbox.withdraw(id, {Channel::kTerminal, "ann"}));
  const auto taken = place.inbox.consume(id, "waiter");
  ASSERT_TRUE(taken) << taken.error().to_string();
  EXPECT_TRUE(taken->is_open());
  EXPECT_FALSE(taken->is_consumed);
  ASSERT_TRUE(place.inbox.answer(id, place.submission({"staging"})));
  EXPECT_THAT(place.inbox.consume(id, "waiter")->outcome->options, ElementsAre("staging"));
}

TEST(Inbox, CuttingARevocationOffTheRegistryInvalidatesAllSignatures) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  ASSERT_TRUE(place.inbox.record_operators());
  const std::string before = place.registry;
  const std::string answered = place.open(kOneWayQuestion).id;
  ASSERT_TRUE(place.inbox.answer(answered, place.signed_submission(answered, {"drop"}, ann.secret)));
  const std::string open_one = place.open(kOneWayQuestion, {.workspace = "/b", .session = ""}).id;
  place.extend(*place.operators.token_revocation("t-lost", place.clock.now_ms(), ann.secret));
  ASSERT_TRUE(place.inbox.record_operators());
  EXPECT_TRUE(place.inbox.load(answered)->is_answered());

  place.registry = before;
  place.extend("");
  EXPECT_FALSE(place.inbox.load(answered)->is_answered());
  const auto refused = place.inbox.answer(open_one, place.signed_submission(open_one, {"drop"}, ann.secret));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_FALSE(place.inbox.record_operators());
}

TEST(Inbox, FindsDecisionsByDeclaredIdAndByPrefix) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  EXPECT_EQ(*place.inbox.resolve("env"), id);
  EXPECT_EQ(*place.inbox.resolve(id.substr(0, 8)), id);
  EXPECT_FALSE(place.inbox.resolve(id.substr(0, 7)));
  EXPECT_FALSE(place.inbox.resolve(""));
  EXPECT_FALSE(place.inbox.resolve(std::string(1'000, 'x')));
  EXPECT_FALSE(place.inbox.resolve("\xff\xfe"));
  place.open(kPlainQuestion, {.workspace = "/b", .session = ""});
  const auto both = place.inbox.resolve("env");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kInvalid);
}

TEST(Inbox, ListsOpenDecisionsOfTheSameUrgencyOldestFirst) {
  InboxTestBed place;
  const std::string first = place.open(kPlainQuestion).id;
  place.clock.sleep_ms(10);
  const std::string second = place.open(kPlainQuestion, {.workspace = "/b", .session = ""}).id;
  place.clock.sleep_ms(10);
  const std::string third = place.open(kPlainQuestion, {.workspace = "/c", .session = ""}).id;
  ASSERT_TRUE(place.inbox.answer(second, place.submission({"canary"})));
  std::vector<std::string> open_ids, all_ids;
  const auto open_ones = place.inbox.list(false);
  const auto all_ones = place.inbox.list(true);
  for (const auto& state : *open_ones) open_ids.push_back(state.id);
  for (const auto& state : *all_ones) all_ids.push_back(state.id);
  EXPECT_THAT(open_ids, ElementsAre(first, third));
  EXPECT_THAT(all_ids, ElementsAre(first, third, second));
}

TEST(Inbox, ASecretIsNotWrittenToTheLog) {
  InboxTestBed place;
  const auto asked = place.inbox.open(
      decision::declared("decision: key\ninstruction: \"What is the key?\"\nselect: text\nsecret: true\n"), {});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace sb::inbox

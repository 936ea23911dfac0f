#include "engine/session/sessions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/limits.hpp"
#include "engine/testing/sessions_place.hpp"

namespace sb::engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kThree = R"(
id: three-steps
name: Three
description: Three plain steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: Do the first thing.}
  - {id: two, title: Two, prompt: "Do the second thing with {{colour}}."}
  - {id: three, title: Three, prompt: Do the third thing.}
)";

std::string gated(const std::string& confirmation) {
  return R"(
id: gated-flow
name: Gated
description: A gate.
version: 1.0.0
steps:
  - {id: plan, title: Plan, prompt: Write the plan., requireConfirmation: )" +
         confirmation + R"(}
  - {id: build, title: Build, prompt: Build it.}
)";
}

TEST(Sessions, LeadThroughAWorkflowToItsEnd) {
  SessionPlace place;
  Answer answer = place.start(kThree);
  EXPECT_EQ(SessionPlace::kind(answer), "ok");
  EXPECT_EQ(SessionPlace::step(answer), "one");
  EXPECT_THAT(answer.text, HasSubstr("Do the first thing."));
  EXPECT_EQ(SessionPlace::token_of(answer).size(), limits::kTokenChars);
  answer = place.go_on(answer, {.notes = "First.", .context = Value::object({{"colour", "red"}})});
  EXPECT_THAT(answer.text, HasSubstr("Do the second thing with red."));
  answer = place.go_on(answer);
  answer = place.go_on(answer);
  EXPECT_EQ(SessionPlace::kind(answer), "complete");
  EXPECT_TRUE(answer.line["isComplete"].as_bool());
  EXPECT_EQ(place.sessions->summary(SessionPlace::session(answer))->status, SessionStatus::kComplete);
}

TEST(Sessions, AUsedTokenGivesTheSameAnswerByteForByteWhateverIsSentWithIt) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const Answer second = place.go_on(first, {.notes = "First."});
  const Answer again = place.go_on(first, {.notes = "Something else entirely."});
  EXPECT_EQ(to_json(again.to_value()), to_json(second.to_value()));
  place.go_on(second);
  ASSERT_TRUE(place.sessions->rotate_keys(false));
  const Answer later = place.go_on(first, {.notes = "x"});
  EXPECT_EQ(to_json(later.to_value()), to_json(second.to_value()));
  EXPECT_EQ(place.sessions->nodes(SessionPlace::session(first))->size(), 3u);
}

TEST(Pain14, ATokenOfOneProcessIsGoodInAnother) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  place.next_sessions();
  EXPECT_EQ(SessionPlace::step(place.go_on(first)), "two");
}

TEST(Pain6, StartsAtOnceAllSucceed) {
  SessionPlace place;
  Starting starting;
  starting.bundle = workflow::compiled(kThree, place.around);
  starting.goal = "x";
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) failed += place.sessions->start(starting) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(place.sessions->list(100)->size(), 30u);
}

TEST(Pain7, TheFirstContinueRightAfterAStartGoesThrough) {
  SessionPlace place;
  for (int i = 0; i < 12; ++i) EXPECT_EQ(SessionPlace::step(place.go_on(place.start(kThree))), "two");
}

TEST(Sessions, ATitleIsOneLineWhateverIsFilledIn) {
  SessionPlace place;
  const Answer first = place.start(
      "{id: lines, name: L, description: L., version: 1.0.0, steps: [{id: one, title: 'Do {{what}}', prompt: Go.}]}",
      Value::object({{"what", "this\n\nand that"}}));
  EXPECT_THAT(first.text, HasSubstr("# Do this and that\n"));
}

TEST(Pain8, NothingStandsBeforeTheWorkflowsOwnFirstStep) {
  SessionPlace place;
  EXPECT_EQ(SessionPlace::step(place.start(kThree)), "one");
}

// A server that runs on must not go on with a key somebody retired beside it.
TEST(Pain23, AKeyRetiredByAnotherProcessCountsNoMore) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const Answer second = place.go_on(first);
  const auto running = std::move(place.sessions);
  place.next_sessions();
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  place.inbox.clock.sleep_ms(1'000);
  const auto refused = running->go_on({.token = SessionPlace::token_of(second), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "TOKEN_BAD_SIGNATURE");
}

TEST(Pain23, KeysRotateOldTokensVerifyUntilTheyAreRetired) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  ASSERT_TRUE(place.sessions->rotate_keys(false));
  const Answer second = place.go_on(first);
  EXPECT_EQ(SessionPlace::step(second), "two");
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  const auto refused = place.sessions->go_on({.token = SessionPlace::token_of(second), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "TOKEN_BAD_SIGNATURE");
  const auto summary = place.sessions->summary(SessionPlace::session(first));
  EXPECT_EQ(SessionPlace::step(SessionPlace::expect(place.sessions->rehydrate(*place.sessions->token_for(*summary)))),
            "two");
}

TEST(Pain25, NotesAreKeptToTheLastByteOrRefused) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const std::string notes(limits::kNotesBytes, 'n');
  place.go_on(first, {.notes = notes});
  const std::string id = SessionPlace::session(first);
  EXPECT_EQ(place.sessions->output(id, **place.sessions->attempt(id, 1, 1))->notes, notes);
}

TEST(Sessions, RehydratingShowsTheStepAndChangesNothing) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const Answer second = place.go_on(first, {.notes = "Measured everything."});
  const auto events = place.event_types(first).size();
  const Answer shown = place.rehydrate(second);
  EXPECT_EQ(SessionPlace::token_of(shown), SessionPlace::token_of(second));
  EXPECT_THAT(shown.text, HasSubstr("Measured everything."));
  const Answer old = place.rehydrate(first);
  EXPECT_EQ(SessionPlace::step(old), "one");
  EXPECT_THAT(old.text, HasSubstr("Two")) << "it says where the tip is";
  EXPECT_NE(SessionPlace::token_of(old), SessionPlace::token_of(first));
  EXPECT_EQ(place.event_types(first).size(), events);
}

TEST(Pain11, AForkSeesWhatItsAncestorsSetAndNothingElse) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  Answer left = place.go_on(first, {.notes = "a", .context = Value::object({{"colour", "red"}})});
  left = place.go_on(left, {.notes = "b", .context = Value::object({{"shape", "round"}})});
  const Answer back = place.rehydrate(first);
  const Answer right = place.go_on(back, {.notes = "c", .context = Value::object({{"size", 3}})});
  EXPECT_THAT(right.text, HasSubstr("[unset: colour]"));
  EXPECT_EQ(place.context_at_tip(right).find("colour"), nullptr);
  EXPECT_EQ(place.context_at_tip(right).find("shape"), nullptr);
  EXPECT_EQ(SessionPlace::step(place.go_on(left)), "") << "the other branch goes on as it was";
  EXPECT_EQ(to_json(place.go_on(back).to_value()), to_json(right.to_value())) << "a fork's token is used once too";
}

TEST(Pain18, ABlockedAnswerSaysWhatIsMissingAndCarriesTheTokenToRetryWith) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const Answer refused = place.go_on(first, {.notes = "  \n", .context = Value::object({{"x", 1}})});
  EXPECT_EQ(SessionPlace::kind(refused), "blocked");
  EXPECT_THAT(SessionPlace::blockers(refused), ElementsAre("MISSING_REQUIRED_NOTES"));
  const std::string retry = *refused.line.string_at("retryContinueToken");
  EXPECT_NE(retry, SessionPlace::token_of(first));
  EXPECT_EQ(to_json(place.go_on(first).to_value()), to_json(refused.to_value())) << "the used token replays the block";
  EXPECT_EQ(SessionPlace::step(place.go_on(retry)), "two");
}

TEST(Sessions, TenRefusalsInARowAskAPerson) {
  SessionPlace place;
  Answer answer = place.start(kThree);
  for (int i = 0; i < limits::kBlockedInRow - 1; ++i) {
    answer = place.go_on(answer, {.notes = " ", .context = Value::object({{"x", i}})});
    ASSERT_EQ(SessionPlace::kind(answer), "blocked") << i;
  }
  answer = place.go_on(answer, {.notes = " ", .context = Value::object({{"x", 1}})});
  ASSERT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  EXPECT_EQ(SessionPlace::kind(place.go_on(answer)), "awaiting_decision") << "nothing passes meanwhile";
  place.decide(answer, "again");
  EXPECT_EQ(SessionPlace::step(place.go_on(answer)), "two");
}

TEST(Sessions, APersonMayStopWhatDoesNotGetThrough) {
  SessionPlace place;
  Answer answer = place.start(kThree, {}, true);
  for (int i = 0; i < limits::kBlockedInRowAutonomous; ++i) {
    answer = place.go_on(answer, {.notes = " ", .context = Value::object({{"x", i}})});
  }
  ASSERT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  place.decide(answer, "stop");
  place.poll(answer);
  EXPECT_EQ(place.sessions->summary(SessionPlace::session(answer))->status, SessionStatus::kStopped);
  const auto refused = place.sessions->go_on({.token = SessionPlace::token_of(answer), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "PRECONDITION_FAILED");
}

TEST(Gate, StoresTheOutputAndOpensOnApproval) {
  SessionPlace place;
  const Answer first = place.start(gated("true"));
  const Answer waits = place.go_on(first, {.notes = "The plan.", .context = Value::object({{"slices", 2}})});
  ASSERT_EQ(SessionPlace::kind(waits), "awaiting_decision");
  EXPECT_THAT(waits.line["decision"].string_at("text").value_or(""), HasSubstr("The plan."));
  EXPECT_EQ(SessionPlace::kind(place.poll(waits)), "awaiting_decision");
  EXPECT_EQ(SessionPlace::kind(place.go_on(first, {.notes = "Let me through."})), "awaiting_decision");
  place.decide(waits, "approve");
  place.next_sessions();
  const Answer next = place.poll(waits);
  EXPECT_EQ(SessionPlace::step(next), "build");
  EXPECT_EQ(to_json(place.context_at_tip(next)["slices"]), "2");
  EXPECT_THAT(place.rehydrate(next).text, HasSubstr("The plan."));
}

TEST(Gate, RejectionGoesBackWithTheReasonAndThriceAsksAPerson) {
  SessionPlace place;
  Answer answer = place.start(gated("{kind: coordinator_eval}"));
  for (int i = 1; i <= limits::kGateRejections; ++i) {
    answer = place.go_on(answer, {.notes = "Plan " + std::to_string(i)});
    ASSERT_EQ(SessionPlace::kind(answer), "awaiting_decision");
    const std::string id = *answer.line["decision"].string_at("id");
    ASSERT_TRUE(place.inbox.inbox.note_free_text(id, "Too vague.", {inbox::Channel::kTerminal, "ann"}));
    place.decide(answer, "reject");
    answer = place.poll(answer);
    if (i == limits::kGateRejections) break;
    ASSERT_EQ(SessionPlace::kind(answer), "blocked");
    EXPECT_THAT(answer.text, HasSubstr("Too vague."));
  }
  EXPECT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  place.decide(answer, "again");
  answer = place.go_on(answer, {.notes = "A better plan."});
  EXPECT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  place.decide(answer, "approve");
  EXPECT_EQ(SessionPlace::step(place.poll(answer)), "build");
}

TEST(Gate, HumanApprovalNeedsASignature) {
  SessionPlace place;
  const KeyPair key = place.inbox.enrol("ann");
  const Answer waits = place.go_on(place.start(gated("{kind: human_approval}")));
  ASSERT_EQ(SessionPlace::kind(waits), "awaiting_decision");
  const std::string id = *waits.line["decision"].string_at("id");
  EXPECT_FALSE(place.inbox.inbox.answer(id, place.inbox.submission({"approve"})));
  EXPECT_EQ(SessionPlace::kind(place.poll(waits)), "awaiting_decision");
  ASSERT_TRUE(place.inbox.inbox.answer(id, place.inbox.signed_submission(id, {"approve"}, key.secret)));
  EXPECT_EQ(SessionPlace::step(place.poll(waits)), "build");
}

TEST(Gate, AnEvaluatorJudgesWhenNobodyWatches) {
  SessionPlace place;
  place.around.add_workflow(R"(
id: wr.gate-eval-generic
name: Judge
description: Judges.
version: 1.0.0
steps:
  - {id: judge, title: Judge, prompt: "Judge {{gatedStepTitle}}: {{gatedNotes}}", outputContract: {contractRef: wr.contracts.gate_verdict}}
)");
  const auto judge = [&](const Answer& waits, const std::string& verdict) {
    const std::string token = *waits.line["children"].items().at(0).string_at("continueToken");
    const Answer judged =
        place.go_on(token, {.artifacts = {Value::object({{"kind", "wr.gate_verdict"},
                                                         {"version", 1},
                                                         {"verdict", verdict},
                                                         {"confidence", "high"},
                                                         {"rationale", "Because it leaves the hard part out."}})}});
    EXPECT_EQ(SessionPlace::kind(judged), "complete") << judged.text;
  };
  Answer answer = place.go_on(place.start(gated("true"), {}, true), {.notes = "The plan."});
  ASSERT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  judge(answer, "rejected");
  answer = place.poll(answer);
  ASSERT_EQ(SessionPlace::kind(answer), "blocked");
  EXPECT_THAT(answer.text, HasSubstr("leaves the hard part out"));
  answer = place.go_on(answer, {.notes = "Another plan."});
  judge(answer, "uncertain");
  answer = place.poll(answer);
  ASSERT_EQ(SessionPlace::kind(answer), "awaiting_decision");
  EXPECT_THAT(answer.line["decision"].string_at("text").value_or(""), HasSubstr("not sure"));
  place.decide(answer, "approve");
  EXPECT_EQ(SessionPlace::step(place.poll(answer)), "build");
}

TEST(DecisionStep, WaitsInTheInboxAndItsAnswerBecomesContext) {
  SessionPlace place;
  const Answer first = place.start(R"(
id: choosing
name: Choosing
description: A decision.
version: 1.0.0
steps:
  - {id: shapes, title: Shapes, prompt: Find shapes., captures: {candidateShapes: {type: array}}}
  - id: pick-shape
    type: decision
    title: Pick
    decision: {instruction: "Which shape should we build?", optionsFrom: candidateShapes, select: one}
    captureAs: selectedShape
  - {id: plan, title: Plan, prompt: "Plan {{selectedShape}}.", needs: [selectedShape]}
)");
  const auto shapes = [](const char* json) {
    return Submission{.notes = "Two.", .context = Value::object({{"candidateShapes", *parse_json(json)}})};
  };
  const Answer refused = place.go_on(first, shapes(R"([{"id": "only", "label": "The only one"}])"));
  EXPECT_THAT(SessionPlace::blockers(refused), ElementsAre("INVALID_CONTEXT_KEY")) << refused.text;
  const Answer waits = place.go_on(refused, shapes(R"([{"id": "list", "label": "A list with a good many words in it"},
                                                       {"id": "grid", "label": "A grid"}])"));
  ASSERT_EQ(SessionPlace::kind(waits), "awaiting_decision") << waits.text;
  EXPECT_EQ(waits.line["decision"]["options"].size(), 2u);
  place.decide(waits, "grid");
  const Answer next = place.poll(waits);
  EXPECT_THAT(next.text, HasSubstr("Plan grid."));
  EXPECT_THAT(next.text, HasSubstr("Note: it was decided: selectedShape is \"grid\".\n"));
  const Answer again = place.rehydrate(waits);
  EXPECT_EQ(SessionPlace::kind(place.poll(again)), "awaiting_decision") << "going back to a decision asks again";
}

TEST(Verification, IsRunByUsAndItsFailureIsShown) {
  SessionPlace place;
  const Answer first = place.start(R"(
id: verified
name: Verified
description: Verified.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
  - {id: rest, title: Rest, prompt: Rest.}
)");
  const Answer check = place.go_on(first);
  EXPECT_EQ(SessionPlace::step(check), "build__verification");
  EXPECT_THAT(check.text, HasSubstr("./check"));
  EXPECT_TRUE(place.commands.ran.empty());
  place.commands.next = {.exit = 1, .output = "3 tests failed", .sandbox = "bubblewrap"};
  const Answer failed = place.go_on(check);
  EXPECT_THAT(SessionPlace::blockers(failed), ElementsAre("VERIFICATION_FAILED"));
  EXPECT_THAT(failed.text, HasSubstr("3 tests failed"));
  place.commands.next = {.exit = 0, .output = "ok", .sandbox = "bubblewrap"};
  EXPECT_EQ(SessionPlace::step(place.go_on(failed)), "rest");
  EXPECT_THAT(place.commands.ran, ElementsAre("./check", "./check"));
  place.go_on(failed);
  EXPECT_EQ(place.commands.ran.size(), 2u) << "a used token runs nothing";
}

TEST(Verification, SaysWhatItWouldRunUntilTheFolderIsTrusted) {
  SessionPlace place;
  const Answer check = place.go_on(place.start(R"(
id: verified
name: Verified
description: Verified.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
)"));
  place.commands.next = {.not_run = "./check is a command of a project that is not trusted: signalbox trust /srv"};
  const Answer asked = place.go_on(check);
  EXPECT_THAT(SessionPlace::blockers(asked), ElementsAre("NOT_TRUSTED"));
  EXPECT_THAT(asked.text, HasSubstr("signalbox trust /srv"));
}

TEST(Checkpoint, IsMadeOnceAndItsTokenResumes) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const auto made = place.sessions->checkpoint(*first.line.string_at("checkpointToken"));
  const auto again = place.sessions->checkpoint(*first.line.string_at("checkpointToken"));
  ASSERT_TRUE(made && again);
  EXPECT_EQ(made->resume_token, again->resume_token);
  EXPECT_EQ(place.event_types(first).back(), "checkpointed");
  const Answer resumed = SessionPlace::expect(place.sessions->rehydrate(made->resume_token));
  EXPECT_EQ(SessionPlace::step(resumed), "one");
}

TEST(Rewind, IsExplicitRecordedAndForksOnlyWhenGoneOn) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  place.go_on(place.go_on(first));
  const std::string id = SessionPlace::session(first);
  const Answer back = SessionPlace::expect(place.sessions->rewind(id, 1, "it was wrong"));
  EXPECT_EQ(SessionPlace::step(back), "one");
  EXPECT_EQ(place.sessions->summary(id)->tip, 1);
  EXPECT_THAT(place.event_types(first), Contains("rewound"));
  EXPECT_EQ(place.sessions->nodes(id)->size(), 3u);
  place.go_on(back);
  EXPECT_EQ(place.sessions->nodes(id)->size(), 4u);
}

TEST(Sessions, StoppingOneEndsTheQuestionItWaitsFor) {
  SessionPlace place;
  const Answer waits = place.go_on(place.start(gated("true")));
  const std::string id = *waits.line["decision"].string_at("id");
  ASSERT_TRUE(place.sessions->stop(SessionPlace::session(waits), "no longer wanted", "ann"));
  EXPECT_FALSE(place.inbox.inbox.load(id)->is_open());
  EXPECT_EQ(place.sessions->summary(SessionPlace::session(waits))->status, SessionStatus::kStopped);
}

TEST(Sessions, TellWhatIsWrongWithATokenOrASubmission) {
  SessionPlace place;
  const Answer first = place.start(kThree);
  const auto code = [&](const std::string& token, Submission submission = {.notes = "x"}) {
    const auto answer = place.sessions->go_on({.token = token, .submission = std::move(submission)});
    return answer ? "none" : answer.error().code;
  };
  const std::string token = SessionPlace::token_of(first);
  EXPECT_EQ(code("nonsense"), "TOKEN_INVALID_FORMAT");
  EXPECT_EQ(code(token.substr(0, 50)), "TOKEN_INVALID_FORMAT");
  EXPECT_EQ(code(*first.line.string_at("checkpointToken")), "TOKEN_SCOPE_MISMATCH");
  SessionPlace elsewhere;
  elsewhere.inbox.random.bytes(7);
  EXPECT_EQ(code(SessionPlace::token_of(elsewhere.start(kThree))), "TOKEN_BAD_SIGNATURE");
  EXPECT_EQ(code(token, {.notes = std::string(limits::kNotesBytes + 1, 'x')}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "\xff"}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "x", .context = Value::object({{"eat_token", 1}})}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "x", .artifacts = {Value("text")}}), "VALIDATION_ERROR");
  EXPECT_EQ(place.sessions->nodes(SessionPlace::session(first))->size(), 1u) << "none of these was an attempt";
  EXPECT_EQ(code(token), "none");
}

TEST(Sessions, StartSaysWhichKeyTheFirstStepLacks) {
  SessionPlace place;
  Starting starting;
  starting.bundle = workflow::compiled(R"(
id: needy
name: Needy
description: Needs a key.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: Go., needs: [target]}
)",
                                       place.around);
  starting.goal = "x";
  const auto refused = place.sessions->start(starting);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "PRECONDITION_FAILED");
  EXPECT_THAT(refused.error().error.message, HasSubstr("target"));
  EXPECT_TRUE(place.sessions->list(10)->empty());
  starting.context = Value::object({{"target", "it"}});
  EXPECT_TRUE(place.sessions->start(starting));
}

TEST(Pain1, StandingGuidanceReachesTheAgentAtStartAndResume) {
  SessionPlace place;
  const Answer first = place.start(R"(
id: guided
name: Guided
description: Guided.
version: 1.0.0
metaGuidance: [Never guess.]
preconditions: [The build is green.]
clarificationPrompts: [Which release?]
steps:
  - {id: one, title: One, prompt: Go., agentRole: You are a careful reader., guidance: [Read twice.]}
  - {id: two, title: Two, prompt: Go on.}
)");
  for (const char* said :
       {"Never guess.", "The build is green.", "Which release?", "You are a careful reader.", "Read twice."}) {
    EXPECT_THAT(first.text, HasSubstr(said));
  }
  const Answer second = place.go_on(first);
  EXPECT_THAT(second.text, Not(HasSubstr("Never guess.")));
  EXPECT_THAT(place.rehydrate(second).text, HasSubstr("Never guess."));
}

}  // namespace
}  // namespace sb::engine

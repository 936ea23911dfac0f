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

TEST(Sessions, RunAWorkflowToItsEnd) {
  SessionTestHome place;
  SessionResponse answer = place.start(kThree);
  EXPECT_EQ(SessionTestHome::kind(answer), "ok");
  EXPECT_EQ(SessionTestHome::step(answer), "one");
  EXPECT_THAT(answer.text, HasSubstr("Do the first thing."));
  EXPECT_EQ(SessionTestHome::token_of(answer).size(), limits::kTokenChars);
  answer = place.continue_session(answer, {.notes = "First.", .context = Value::object({{"colour", "red"}})});
  EXPECT_THAT(answer.text, HasSubstr("Do the second thing with red."));
  answer = place.continue_session(answer);
  answer = place.continue_session(answer);
  EXPECT_EQ(SessionTestHome::kind(answer), "complete");
  EXPECT_TRUE(answer.line["isComplete"].as_bool());
  EXPECT_EQ(place.sessions->summary(SessionTestHome::session(answer))->status, SessionStatus::kComplete);
}

TEST(Sessions, AUsedTokenReturnsTheSameAnswerWhateverIsSentWithIt) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const SessionResponse second = place.continue_session(first, {.notes = "First."});
  const SessionResponse again = place.continue_session(first, {.notes = "Something else entirely."});
  EXPECT_EQ(to_json(again.to_value()), to_json(second.to_value()));
  place.continue_session(second);
  ASSERT_TRUE(place.sessions->rotate_keys(false));
  const SessionResponse later = place.continue_session(first, {.notes = "x"});
  EXPECT_EQ(to_json(later.to_value()), to_json(second.to_value()));
  EXPECT_EQ(place.sessions->nodes(SessionTestHome::session(first))->size(), 3u);
}

TEST(Pain14, ATokenOfOneProcessIsValidInAnother) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  place.next_sessions();
  EXPECT_EQ(SessionTestHome::step(place.continue_session(first)), "two");
}

TEST(Pain6, ConcurrentStartsAllSucceed) {
  SessionTestHome place;
  StartRequest start_request;
  start_request.bundle = workflow::compiled(kThree, place.around);
  start_request.goal = "x";
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) failed += place.sessions->start(start_request) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(place.sessions->list(100)->size(), 30u);
}

TEST(Pain7, TheFirstContinueRightAfterAStartSucceeds) {
  SessionTestHome place;
  for (int i = 0; i < 12; ++i) EXPECT_EQ(SessionTestHome::step(place.continue_session(place.start(kThree))), "two");
}

TEST(Sessions, ATitleIsOneLineWhateverIsFilledIn) {
  SessionTestHome place;
  const SessionResponse first = place.start(
      "{id: lines, name: L, description: L., version: 1.0.0, steps: [{id: one, title: 'Do {{what}}', prompt: Go.}]}",
      Value::object({{"what", "this\n\nand that"}}));
  EXPECT_THAT(first.text, HasSubstr("# Do this and that\n"));
}

TEST(Pain8, NothingComesBeforeTheWorkflowsOwnFirstStep) {
  SessionTestHome place;
  EXPECT_EQ(SessionTestHome::step(place.start(kThree)), "one");
}

// A running server must not continue with a key that another process has retired.
TEST(Pain23, AKeyRetiredByAnotherProcessIsNoLongerAccepted) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const SessionResponse second = place.continue_session(first);
  const auto running = std::move(place.sessions);
  place.next_sessions();
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  place.inbox.clock.sleep_ms(1'000);
  const auto refused =
      running->continue_session({.token = SessionTestHome::token_of(second), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "TOKEN_BAD_SIGNATURE");
}

TEST(Pain23, KeysRotateOldTokensVerifyUntilTheyAreRetired) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  ASSERT_TRUE(place.sessions->rotate_keys(false));
  const SessionResponse second = place.continue_session(first);
  EXPECT_EQ(SessionTestHome::step(second), "two");
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  const auto refused =
      place.sessions->continue_session({.token = SessionTestHome::token_of(second), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "TOKEN_BAD_SIGNATURE");
  const auto summary = place.sessions->summary(SessionTestHome::session(first));
  EXPECT_EQ(
      SessionTestHome::step(SessionTestHome::expect(place.sessions->rehydrate(*place.sessions->token_for(*summary)))),
      "two");
}

TEST(Pain25, NotesAreStoredCompletelyOrRefused) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const std::string notes(limits::kNotesBytes, 'n');
  place.continue_session(first, {.notes = notes});
  const std::string id = SessionTestHome::session(first);
  EXPECT_EQ(place.sessions->output(id, **place.sessions->attempt(id, 1, 1))->notes, notes);
}

TEST(Sessions, RehydratingShowsTheStepAndChangesNothing) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const SessionResponse second = place.continue_session(first, {.notes = "Measured everything."});
  const auto events = place.event_types(first).size();
  const SessionResponse shown = place.rehydrate(second);
  EXPECT_EQ(SessionTestHome::token_of(shown), SessionTestHome::token_of(second));
  EXPECT_THAT(shown.text, HasSubstr("Measured everything."));
  const SessionResponse old = place.rehydrate(first);
  EXPECT_EQ(SessionTestHome::step(old), "one");
  EXPECT_THAT(old.text, HasSubstr("Two")) << "it names the tip";
  EXPECT_NE(SessionTestHome::token_of(old), SessionTestHome::token_of(first));
  EXPECT_EQ(place.event_types(first).size(), events);
}

TEST(Pain11, AForkSeesWhatItsAncestorsSetAndNothingElse) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  SessionResponse left = place.continue_session(first, {.notes = "a", .context = Value::object({{"colour", "red"}})});
  left = place.continue_session(left, {.notes = "b", .context = Value::object({{"shape", "round"}})});
  const SessionResponse back = place.rehydrate(first);
  const SessionResponse right = place.continue_session(back, {.notes = "c", .context = Value::object({{"size", 3}})});
  EXPECT_THAT(right.text, HasSubstr("[unset: colour]"));
  EXPECT_EQ(place.context_at_tip(right).find("colour"), nullptr);
  EXPECT_EQ(place.context_at_tip(right).find("shape"), nullptr);
  EXPECT_EQ(SessionTestHome::step(place.continue_session(left)), "") << "the other branch continues unchanged";
  EXPECT_EQ(to_json(place.continue_session(back).to_value()), to_json(right.to_value()))
      << "a fork's token is used once too";
}

TEST(Pain18, ABlockedAnswerListsWhatIsMissingAndHasATokenToRetry) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const SessionResponse refused =
      place.continue_session(first, {.notes = "  \n", .context = Value::object({{"x", 1}})});
  EXPECT_EQ(SessionTestHome::kind(refused), "blocked");
  EXPECT_THAT(SessionTestHome::blockers(refused), ElementsAre("MISSING_REQUIRED_NOTES"));
  const std::string retry = *refused.line.string_at("retryContinueToken");
  EXPECT_NE(retry, SessionTestHome::token_of(first));
  EXPECT_EQ(to_json(place.continue_session(first).to_value()), to_json(refused.to_value()))
      << "the used token replays the block";
  EXPECT_EQ(SessionTestHome::step(place.continue_session(retry)), "two");
}

TEST(Sessions, TenRefusalsInARowAskAPerson) {
  SessionTestHome place;
  SessionResponse answer = place.start(kThree);
  for (int i = 0; i < limits::kConsecutiveBlocks - 1; ++i) {
    answer = place.continue_session(answer, {.notes = " ", .context = Value::object({{"x", i}})});
    ASSERT_EQ(SessionTestHome::kind(answer), "blocked") << i;
  }
  answer = place.continue_session(answer, {.notes = " ", .context = Value::object({{"x", 1}})});
  ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  EXPECT_EQ(SessionTestHome::kind(place.continue_session(answer)), "awaiting_decision") << "nothing passes meanwhile";
  place.decide(answer, "again");
  EXPECT_EQ(SessionTestHome::step(place.continue_session(answer)), "two");
}

TEST(Sessions, APersonMayStopAStepThatKeepsFailing) {
  SessionTestHome place;
  SessionResponse answer = place.start(kThree, {}, true);
  for (int i = 0; i < limits::kConsecutiveBlocksAutonomous; ++i) {
    answer = place.continue_session(answer, {.notes = " ", .context = Value::object({{"x", i}})});
  }
  ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  place.decide(answer, "stop");
  place.poll(answer);
  EXPECT_EQ(place.sessions->summary(SessionTestHome::session(answer))->status, SessionStatus::kStopped);
  const auto refused =
      place.sessions->continue_session({.token = SessionTestHome::token_of(answer), .submission = {.notes = "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "PRECONDITION_FAILED");
}

TEST(Gate, StoresTheOutputAndOpensOnApproval) {
  SessionTestHome place;
  const SessionResponse first = place.start(gated("true"));
  const SessionResponse waits =
      place.continue_session(first, {.notes = "The plan.", .context = Value::object({{"slices", 2}})});
  ASSERT_EQ(SessionTestHome::kind(waits), "awaiting_decision");
  EXPECT_THAT(waits.line["decision"].string_at("text").value_or(""), HasSubstr("The plan."));
  EXPECT_EQ(SessionTestHome::kind(place.poll(waits)), "awaiting_decision");
  EXPECT_EQ(SessionTestHome::kind(place.continue_session(first, {.notes = "Let me through."})), "awaiting_decision");
  place.decide(waits, "approve");
  place.next_sessions();
  const SessionResponse next = place.poll(waits);
  EXPECT_EQ(SessionTestHome::step(next), "build");
  EXPECT_EQ(to_json(place.context_at_tip(next)["slices"]), "2");
  EXPECT_THAT(place.rehydrate(next).text, HasSubstr("The plan."));
}

TEST(Gate, RejectionReturnsTheReasonAndTheThirdAsksAPerson) {
  SessionTestHome place;
  SessionResponse answer = place.start(gated("{kind: coordinator_eval}"));
  for (int i = 1; i <= limits::kGateRejections; ++i) {
    answer = place.continue_session(answer, {.notes = "Plan " + std::to_string(i)});
    ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
    const std::string id = *answer.line["decision"].string_at("id");
    ASSERT_TRUE(place.inbox.inbox.note_free_text(id, "Too vague.", {inbox::Channel::kTerminal, "ann"}));
    place.decide(answer, "reject");
    answer = place.poll(answer);
    if (i == limits::kGateRejections) break;
    ASSERT_EQ(SessionTestHome::kind(answer), "blocked");
    EXPECT_THAT(answer.text, HasSubstr("Too vague."));
  }
  EXPECT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  place.decide(answer, "again");
  answer = place.continue_session(answer, {.notes = "A better plan."});
  EXPECT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  place.decide(answer, "approve");
  EXPECT_EQ(SessionTestHome::step(place.poll(answer)), "build");
}

TEST(Gate, HumanApprovalNeedsASignature) {
  SessionTestHome place;
  const KeyPair key = place.inbox.enrol("ann");
  const SessionResponse waits = place.continue_session(place.start(gated("{kind: human_approval}")));
  ASSERT_EQ(SessionTestHome::kind(waits), "awaiting_decision");
  const std::string id = *waits.line["decision"].string_at("id");
  EXPECT_FALSE(place.inbox.inbox.answer(id, place.inbox.submission({"approve"})));
  EXPECT_EQ(SessionTestHome::kind(place.poll(waits)), "awaiting_decision");
  ASSERT_TRUE(place.inbox.inbox.answer(id, place.inbox.signed_submission(id, {"approve"}, key.secret)));
  EXPECT_EQ(SessionTestHome::step(place.poll(waits)), "build");
}

TEST(Gate, AnEvaluatorJudgesAutonomousSessions) {
  SessionTestHome place;
  place.around.add_workflow(R"(
id: wr.gate-eval-generic
name: Judge
description: Judges.
version: 1.0.0
steps:
  - {id: judge, title: Judge, prompt: "Judge {{gatedStepTitle}}: {{gatedNotes}}", outputContract: {contractRef: wr.contracts.gate_verdict}}
)");
  const auto judge = [&](const SessionResponse& waits, const std::string& verdict) {
    const std::string token = *waits.line["children"].items().at(0).string_at("continueToken");
    const SessionResponse judged = place.continue_session(
        token, {.artifacts = {Value::object({{"kind", "wr.gate_verdict"},
                                             {"version", 1},
                                             {"verdict", verdict},
                                             {"confidence", "high"},
                                             {"rationale", "Because it leaves the hard part out."}})}});
    EXPECT_EQ(SessionTestHome::kind(judged), "complete") << judged.text;
  };
  SessionResponse answer = place.continue_session(place.start(gated("true"), {}, true), {.notes = "The plan."});
  ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  judge(answer, "rejected");
  answer = place.poll(answer);
  ASSERT_EQ(SessionTestHome::kind(answer), "blocked");
  EXPECT_THAT(answer.text, HasSubstr("leaves the hard part out"));
  answer = place.continue_session(answer, {.notes = "Another plan."});
  judge(answer, "uncertain");
  answer = place.poll(answer);
  ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision");
  EXPECT_THAT(answer.line["decision"].string_at("text").value_or(""), HasSubstr("not sure"));
  place.decide(answer, "approve");
  EXPECT_EQ(SessionTestHome::step(place.poll(answer)), "build");
}

TEST(DecisionStep, WaitsInTheInboxAndItsAnswerBecomesContext) {
  SessionTestHome place;
  const SessionResponse first = place.start(R"(
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
  const SessionResponse refused = place.continue_session(first, shapes(R"([{"id": "only", "label": "The only one"}])"));
  EXPECT_THAT(SessionTestHome::blockers(refused), ElementsAre("INVALID_CONTEXT_KEY")) << refused.text;
  const SessionResponse waits =
      place.continue_session(refused, shapes(R"([{"id": "list", "label": "A list with a good many words in it"},
                                                       {"id": "grid", "label": "A grid"}])"));
  ASSERT_EQ(SessionTestHome::kind(waits), "awaiting_decision") << waits.text;
  EXPECT_EQ(waits.line["decision"]["options"].size(), 2u);
  place.decide(waits, "grid");
  const SessionResponse next = place.poll(waits);
  EXPECT_THAT(next.text, HasSubstr("Plan grid."));
  EXPECT_THAT(next.text, HasSubstr("Note: it was decided: selectedShape is \"grid\".\n"));
  const SessionResponse again = place.rehydrate(waits);
  EXPECT_EQ(SessionTestHome::kind(place.poll(again)), "awaiting_decision") << "going back to a decision asks again";
}

TEST(Verification, IsRunBySignalboxAndItsFailureIsShown) {
  SessionTestHome place;
  const SessionResponse first = place.start(R"(
id: verified
name: Verified
description: Verified.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
  - {id: rest, title: Rest, prompt: Rest.}
)");
  const SessionResponse check = place.continue_session(first);
  EXPECT_EQ(SessionTestHome::step(check), "build__verification");
  EXPECT_THAT(check.text, HasSubstr("./check"));
  EXPECT_TRUE(place.commands.ran.empty());
  place.commands.next = {.exit = 1, .output = "3 tests failed", .sandbox = "bubblewrap"};
  const SessionResponse failed = place.continue_session(check);
  EXPECT_THAT(SessionTestHome::blockers(failed), ElementsAre("VERIFICATION_FAILED"));
  EXPECT_THAT(failed.text, HasSubstr("3 tests failed"));
  place.commands.next = {.exit = 0, .output = "ok", .sandbox = "bubblewrap"};
  EXPECT_EQ(SessionTestHome::step(place.continue_session(failed)), "rest");
  EXPECT_THAT(place.commands.ran, ElementsAre("./check", "./check"));
  place.continue_session(failed);
  EXPECT_EQ(place.commands.ran.size(), 2u) << "a used token runs nothing";
}

TEST(Verification, ShowsTheCommandUntilTheFolderIsTrusted) {
  SessionTestHome place;
  const SessionResponse check = place.continue_session(place.start(R"(
id: verified
name: Verified
description: Verified.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
)"));
  place.commands.next = {.not_run_reason =
                             "./check is a command of a project that is not trusted: signalbox trust /srv"};
  const SessionResponse asked = place.continue_session(check);
  EXPECT_THAT(SessionTestHome::blockers(asked), ElementsAre("NOT_TRUSTED"));
  EXPECT_THAT(asked.text, HasSubstr("signalbox trust /srv"));
}

TEST(Checkpoint, IsCreatedOnceAndItsTokenResumes) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const auto made = place.sessions->checkpoint(*first.line.string_at("checkpointToken"));
  const auto again = place.sessions->checkpoint(*first.line.string_at("checkpointToken"));
  ASSERT_TRUE(made && again);
  EXPECT_EQ(made->resume_token, again->resume_token);
  EXPECT_EQ(place.event_types(first).back(), "checkpointed");
  const SessionResponse resumed = SessionTestHome::expect(place.sessions->rehydrate(made->resume_token));
  EXPECT_EQ(SessionTestHome::step(resumed), "one");
}

TEST(Rewind, IsExplicitAndRecordedAndForksOnlyWhenContinued) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  place.continue_session(place.continue_session(first));
  const std::string id = SessionTestHome::session(first);
  const SessionResponse back = SessionTestHome::expect(place.sessions->rewind(id, 1, "it was wrong"));
  EXPECT_EQ(SessionTestHome::step(back), "one");
  EXPECT_EQ(place.sessions->summary(id)->tip, 1);
  EXPECT_THAT(place.event_types(first), Contains("rewound"));
  EXPECT_EQ(place.sessions->nodes(id)->size(), 3u);
  place.continue_session(back);
  EXPECT_EQ(place.sessions->nodes(id)->size(), 4u);
}

TEST(Sessions, StoppingOneEndsTheQuestionItWaitsFor) {
  SessionTestHome place;
  const SessionResponse waits = place.continue_session(place.start(gated("true")));
  const std::string id = *waits.line["decision"].string_at("id");
  ASSERT_TRUE(place.sessions->stop(SessionTestHome::session(waits), "no longer wanted", "ann"));
  EXPECT_FALSE(place.inbox.inbox.load(id)->is_open());
  EXPECT_EQ(place.sessions->summary(SessionTestHome::session(waits))->status, SessionStatus::kStopped);
}

TEST(Sessions, ExplainInvalidTokensAndSubmissions) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const auto code = [&](const std::string& token, Submission submission = {.notes = "x"}) {
    const auto answer = place.sessions->continue_session({.token = token, .submission = std::move(submission)});
    return answer ? "none" : answer.error().code;
  };
  const std::string token = SessionTestHome::token_of(first);
  EXPECT_EQ(code("nonsense"), "TOKEN_INVALID_FORMAT");
  EXPECT_EQ(code(token.substr(0, 50)), "TOKEN_INVALID_FORMAT");
  EXPECT_EQ(code(*first.line.string_at("checkpointToken")), "TOKEN_SCOPE_MISMATCH");
  SessionTestHome elsewhere;
  elsewhere.inbox.random.bytes(7);
  EXPECT_EQ(code(SessionTestHome::token_of(elsewhere.start(kThree))), "TOKEN_BAD_SIGNATURE");
  EXPECT_EQ(code(token, {.notes = std::string(limits::kNotesBytes + 1, 'x')}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "\xff"}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "x", .context = Value::object({{"eat_token", 1}})}), "VALIDATION_ERROR");
  EXPECT_EQ(code(token, {.notes = "x", .artifacts = {Value("text")}}), "VALIDATION_ERROR");
  EXPECT_EQ(place.sessions->nodes(SessionTestHome::session(first))->size(), 1u) << "none of these was an attempt";
  EXPECT_EQ(code(token), "none");
}

TEST(Sessions, StartNamesTheKeyTheFirstStepNeeds) {
  SessionTestHome place;
  StartRequest start_request;
  start_request.bundle = workflow::compiled(R"(
id: needy
name: Needy
description: Needs a key.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: Go., needs: [target]}
)",
                                            place.around);
  start_request.goal = "x";
  const auto refused = place.sessions->start(start_request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "PRECONDITION_FAILED");
  EXPECT_THAT(refused.error().error.message, HasSubstr("target"));
  EXPECT_TRUE(place.sessions->list(10)->empty());
  start_request.context = Value::object({{"target", "it"}});
  EXPECT_TRUE(place.sessions->start(start_request));
}

TEST(Sessions, AnEventOfANewerVersionIsRefused) {
  SessionTestHome place;
  const SessionResponse first = place.start(kThree);
  const std::string id = SessionTestHome::session(first);
  ASSERT_TRUE(place.inbox.append(session_stream(id), "something_new"));
  const auto types = place.event_types(first);
  const auto summary = place.sessions->summary(id);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::kUnsupported);
  const std::string why = R"(has the unknown type "something_new" and was written by a newer version of Signalbox)";
  EXPECT_THAT(summary.error().message, HasSubstr(why));
  const std::string token = SessionTestHome::token_of(first);
  for (const auto& answer : {place.sessions->rehydrate(token), place.sessions->continue_session({.token = token})}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "SESSION_NOT_HEALTHY");
    EXPECT_EQ(answer.error().error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(answer.error().error.message, HasSubstr(why));
  }
  EXPECT_EQ(place.event_types(first), types);
}

TEST(Pain1, StandingGuidanceReachesTheAgentAtStartAndResume) {
  SessionTestHome place;
  const SessionResponse first = place.start(R"(
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
  const SessionResponse second = place.continue_session(first);
  EXPECT_THAT(second.text, Not(HasSubstr("Never guess.")));
  EXPECT_THAT(place.rehydrate(second).text, HasSubstr("Never guess."));
}

}  // namespace
}  // namespace sb::engine

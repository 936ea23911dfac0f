// What a person is shown at the gate of a step, and what an approval covers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "engine/advance/questions.hpp"
#include "engine/testing/sessions_place.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string deploy(const std::string& confirmation) {
  return R"(
id: deploying
name: Deploying
description: A gate before a deployment.
version: 1.0.0
steps:
  - id: plan
    title: Plan
    prompt: Say what runs where.
    captures: {target: {type: string}, command: {type: string}}
    requireConfirmation: )" +
         confirmation + R"(
  - {id: run, title: Run, prompt: "Run {{command}} on {{target}}."}
)";
}

Submission delivery(const std::string& target, const std::string& command, const std::string& notes = "As agreed.") {
  return {.notes = notes, .context = Value::object({{"target", target}, {"command", command}})};
}

std::string question(const SessionResponse& answer) {
  return answer.line["decision"].string_at("text").value_or("");
}

std::string approves(const SessionResponse& answer) {
  constexpr std::string_view kLead = "Approves exactly: ";
  const std::string text = question(answer);
  const std::size_t at = text.find(kLead);
  return at == std::string::npos ? "" : text.substr(at + kLead.size(), 71);
}

TEST(GateQuestion, ShowsAndCoversTheContextThatIsApproved) {
  for (const char* kind : {"true", "{kind: human_approval}"}) {
    SessionTestHome place;
    place.inbox.enrol("ann");
    const SessionResponse staging = place.continue_session(place.start(deploy(kind)), delivery("staging", "restart"));
    const SessionResponse production =
        place.continue_session(place.start(deploy(kind)), delivery("production", "drop all"));
    EXPECT_THAT(question(staging), HasSubstr(R"("target": "staging")"));
    EXPECT_THAT(question(production), HasSubstr(R"("target": "production")"));
    EXPECT_THAT(question(production), HasSubstr(R"("command": "drop all")"));
    EXPECT_THAT(production.text, HasSubstr(R"("command": "drop all")"));
    EXPECT_NE(approves(staging), approves(production)) << kind;
    EXPECT_EQ(approves(staging),
              approves(place.continue_session(place.start(deploy(kind)), delivery("staging", "restart"))));
  }
}

TEST(GateQuestion, NotesThatEndLikeAnArtifactAreNotTakenForOne) {
  const Value artifact = Value::object({{"kind", "x"}});
  const AttemptOutput with{"Done.", {artifact}, Value::object()};
  const AttemptOutput written{"Done.\n" + to_canonical_json(artifact), {}, Value::object()};
  const AttemptOutput set{"Done.", {}, artifact};
  EXPECT_NE(delivery_digest(with), delivery_digest(written));
  EXPECT_NE(delivery_digest(with), delivery_digest(set));
}

TEST(GateQuestion, ShortensLargeValuesWithTheirSizeAndFitsTheLimit) {
  SessionTestHome place;
  Submission large = delivery("staging", std::string(20'000, 'x'), std::string(30'000, 'n'));
  for (int i = 0; i < 100; ++i) large.context.set("key " + std::to_string(i) + "\nTarget: home", std::string(400, 'y'));
  for (int i = 0; i < 5; ++i) {
    large.artifacts.push_back(Value::object({{"kind", "k" + std::to_string(i)}, {"text", std::string(9'000, 'z')}}));
  }
  const SessionResponse waits = place.continue_session(place.start(deploy("true")), large);
  ASSERT_EQ(SessionTestHome::kind(waits), "awaiting_decision") << waits.text;
  EXPECT_THAT(question(waits), HasSubstr("500 of 20002 bytes shown"));
  EXPECT_THAT(question(waits), HasSubstr("of 102 keys shown"));
  EXPECT_THAT(question(waits), Not(HasSubstr("\nTarget: home")));
}

TEST(GateQuestion, AskedAgainItCoversTheSameDelivery) {
  SessionTestHome place;
  const SessionResponse first =
      place.continue_session(place.start(deploy("{kind: human_approval}")), delivery("staging", "restart"));
  place.inbox.enrol("ann");
  const SessionResponse again = place.poll(first);
  ASSERT_EQ(SessionTestHome::kind(again), "awaiting_decision");
  EXPECT_NE(first.line["decision"].string_at("id"), again.line["decision"].string_at("id"));
  EXPECT_EQ(approves(first), approves(again));
  EXPECT_THAT(question(again), HasSubstr(R"("target": "staging")"));
}

TEST(GateQuestion, RemovedKeysAreShown) {
  SessionTestHome place;
  Submission sent = delivery("staging", "restart");
  sent.context.set("dryRun", Value());
  const SessionResponse waits =
      place.continue_session(place.start(deploy("true"), Value::object({{"dryRun", true}})), sent);
  EXPECT_THAT(question(waits), HasSubstr(R"("dryRun": (removed))"));
}

TEST(GateQuestion, AnEvaluatorGetsTheContext) {
  SessionTestHome place;
  place.around.add_workflow(R"(
id: wr.gate-eval-generic
name: Judge
description: Judges.
version: 1.0.0
steps:
  - {id: judge, title: Judge, prompt: "Judge {{gatedContext}}.", outputContract: {contractRef: wr.contracts.gate_verdict}}
)");
  const SessionResponse waits =
      place.continue_session(place.start(deploy("true"), {}, true), delivery("production", "drop all"));
  const std::string token = waits.line["children"].items().at(0).string_at("continueToken").value_or("");
  EXPECT_THAT(place.continue_session(token, {}).text, HasSubstr("drop all"));
}

TEST(GateQuestion, OutputSentWhileItIsOpenIsReportedAsIgnored) {
  SessionTestHome place;
  const SessionResponse waits = place.continue_session(place.start(deploy("true")), delivery("staging", "restart"));
  EXPECT_THAT(waits.text, Not(HasSubstr("Input ignored")));
  EXPECT_THAT(place.poll(waits).text, Not(HasSubstr("Input ignored")));
  const SessionResponse again = place.continue_session(waits, delivery("production", "drop all"));
  EXPECT_THAT(again.text, HasSubstr("Input ignored: the earlier delivery of this step is waiting"));
  EXPECT_THAT(again.text, HasSubstr("A person must accept"));
  place.decide(waits, "approve");
  const SessionResponse next = place.continue_session(waits, delivery("production", "drop all"));
  EXPECT_THAT(next.text, HasSubstr("your new input was ignored"));
  EXPECT_THAT(next.text, HasSubstr("Run restart on staging."));
}

TEST(Breaker, OutputSentWhileItIsOpenIsReportedAsIgnored) {
  SessionTestHome place;
  SessionResponse answer = place.start(deploy("true"));
  for (int i = 0; i < limits::kConsecutiveBlocks; ++i) answer = place.continue_session(answer);
  ASSERT_EQ(SessionTestHome::kind(answer), "awaiting_decision") << answer.text;
  EXPECT_THAT(answer.text, Not(HasSubstr("Input ignored")));
  EXPECT_THAT(place.continue_session(answer).text, HasSubstr("Input ignored"));
  place.decide(answer, "again");
  const SessionResponse taken = place.continue_session(answer, delivery("staging", "restart"));
  EXPECT_THAT(taken.text, Not(HasSubstr("Input ignored")));
  EXPECT_THAT(question(taken), HasSubstr("staging"));
}

TEST(DecisionStep, OutputSentWhileItIsOpenIsReportedAsIgnored) {
  SessionTestHome place;
  const SessionResponse waits = place.start(R"(
id: choosing
name: Choosing
description: A decision.
version: 1.0.0
steps:
  - {id: pick, type: decision, title: Pick, decision: {instruction: "Which?", options: [Grid, List]}, captureAs: shape}
  - {id: plan, title: Plan, prompt: "Plan {{shape}}."}
)");
  EXPECT_THAT(place.continue_session(waits).text, HasSubstr("Input ignored: the session is waiting for a dec"));
  EXPECT_THAT(place.poll(waits).text, Not(HasSubstr("Input ignored")));
}

TEST(GateQuestion, WithoutAnOperatorNamesNoIdThatCannotBeSigned) {
  SessionTestHome place;
  const SessionResponse waits =
      place.continue_session(place.start(deploy("{kind: human_approval}")), delivery("staging", "restart"));
  EXPECT_THAT(waits.text, HasSubstr("`signalbox operator init`"));
  EXPECT_THAT(waits.text, Not(HasSubstr("inbox answer")));
  place.inbox.enrol("ann");
  EXPECT_THAT(place.poll(waits).text, HasSubstr("inbox answer"));
}

TEST(GateQuestion, ResumingAtItShowsGoalAndNotes) {
  SessionTestHome place;
  const SessionResponse waits =
      place.continue_session(place.start(deploy("true")), delivery("staging", "restart", "The old one hangs."));
  const SessionResponse again = place.rehydrate(waits);
  EXPECT_THAT(again.text, HasSubstr("Goal: Make it faster"));
  EXPECT_THAT(again.text, HasSubstr("A person must accept"));
  EXPECT_THAT(place.poll(waits).text, Not(HasSubstr("\nGoal: Make it faster\n\nA person")));
}

TEST(Sessions, ListRequirementsInAFixedOrder) {
  SessionTestHome place;
  const SessionResponse first = place.start(deploy("true"));
  place.next_sessions();
  EXPECT_EQ(to_json(first.line["pending"]), to_json(place.rehydrate(first).line["pending"]));
}

TEST(GateQuestion, RejectingNeedsNoSignature) {
  SessionTestHome place;
  place.inbox.enrol("ann");
  const SessionResponse waits =
      place.continue_session(place.start(deploy("{kind: human_approval}")), delivery("staging", "restart"));
  const std::string id = waits.line["decision"].string_at("id").value_or("");
  const auto approved = place.inbox.inbox.answer(id, place.inbox.submission({"approve"}));
  ASSERT_FALSE(approved);
  EXPECT_EQ(approved.error().code, ErrorCode::kForbidden);
  place.decide(waits, "reject");
  EXPECT_THAT(place.poll(waits).text, HasSubstr("rejected"));
}

TEST(GateQuestion, ConfirmationsSignedMakesEveryGateNeedASignature) {
  SessionTestHome place;
  place.inbox.enrol("ann");
  place.inbox.policy.confirmations = inbox::Confirmations::kSigned;
  place.around.add_workflow(R"(
id: wr.gate-eval-generic
name: Judge
description: Judges.
version: 1.0.0
steps:
  - {id: judge, title: Judge, prompt: "Judge it.", outputContract: {contractRef: wr.contracts.gate_verdict}}
)");
  // Not even an evaluator's verdict opens it.
  const SessionResponse waits =
      place.continue_session(place.start(deploy("true"), {}, true), delivery("staging", "restart"));
  const std::string id = waits.line["decision"].string_at("id").value_or("");
  ASSERT_FALSE(id.empty()) << waits.text;
  EXPECT_EQ(place.inbox.inbox.answer(id, place.inbox.submission({"approve"})).error().code, ErrorCode::kForbidden);
  place.decide(waits, "reject");
}

constexpr const char* kDangerousChoice = R"(
id: choosing
name: Choosing
description: A decision.
version: 1.0.0
steps:
  - id: pick
    type: decision
    title: Pick
    decision:
      instruction: "Delete the old index?"
      options: [{id: keep, label: Keep it, safe: true}, {id: drop, label: Delete it}]
  - {id: plan, title: Plan, prompt: "Plan {{pick}}."}
)";

TEST(DecisionStep, ASafeOptionCountsIfTheFilesAuthorIsTrusted) {
  for (const bool trusts : {true, false}) {
    SessionTestHome place;
    place.inbox.enrol("ann");
    place.commands.trusts = trusts;
    const SessionResponse waits = place.start(kDangerousChoice);
    const std::string id = waits.line["decision"].string_at("id").value_or("");
    EXPECT_FALSE(place.inbox.inbox.answer(id, place.inbox.submission({"drop"})));
    EXPECT_EQ(place.inbox.inbox.answer(id, place.inbox.submission({"keep"})).has_value(), trusts);
  }
}

TEST(DecisionStep, ATwoWayDoorDoesNotCoverWhatAnAgentFillsIn) {
  const auto question = [](const std::string& instruction) {
    return "id: choosing\nname: Choosing\ndescription: A decision.\nversion: 1.0.0\nsteps:\n"
           "  - {id: pick, type: decision, title: Pick, decision: {instruction: \"" +
           instruction +
           "\", door: two-way, options: [\"Yes\", \"No\"]}}\n"
           "  - {id: plan, title: Plan, prompt: Plan.}\n";
  };
  const auto needs_signature = [&](const std::string& instruction) {
    SessionTestHome place;
    const SessionResponse waits = place.start(question(instruction), Value::object({{"what", "Delete the database"}}));
    return place.inbox.inbox.load(waits.line["decision"].string_at("id").value_or(""))->opened.needs_signature;
  };
  EXPECT_FALSE(needs_signature("Delete the cache?"));
  EXPECT_TRUE(needs_signature("{{what}}?"));
}

}  // namespace
}  // namespace sb::engine

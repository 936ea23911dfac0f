// Limits of submissions, gates, what is recorded, and the announced requirements of a step.
#include "engine/advance/advance.hpp"

#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kOne = "{id: one, title: T, prompt: P}";
const std::string kTwo = "{id: two, title: T, prompt: P}";

Submission sending(std::string notes, std::vector<Value> artifacts = {}, Value context = {}) {
  Submission submission;
  submission.notes = std::move(notes);
  submission.artifacts = std::move(artifacts);
  submission.context = std::move(context);
  return submission;
}

// The error of a submission that does not count as an attempt; nothing if it does.
std::optional<ErrorCode> refused(const Submission& submission) {
  const SessionSimulator journey(program_of("[" + kOne + "]"));
  const auto outcome = advance(journey.program(), journey.tip(), Value::object(), submission);
  return outcome ? std::nullopt : std::optional(outcome.error().code);
}

TEST(Submissions, StayWithinTheirLimits) {
  EXPECT_EQ(refused(sending(std::string(limits::kNotesBytes, 'a'))), std::nullopt);
  EXPECT_EQ(refused(sending(std::string(limits::kNotesBytes + 1, 'a'))), ErrorCode::kLimit);
  EXPECT_EQ(refused(sending("\xff")), ErrorCode::kInvalid);
  const Value artifact = Value::object({{"kind", "x"}});
  EXPECT_EQ(refused(sending("n", std::vector<Value>(limits::kArtifacts, artifact))), std::nullopt);
  EXPECT_EQ(refused(sending("n", std::vector<Value>(limits::kArtifacts + 1, artifact))), ErrorCode::kLimit);
  const std::size_t around = to_json(Value::object({{"kind", "x"}, {"text", ""}})).size();
  const auto sized = [&](std::size_t bytes) {
    return Value::object({{"kind", "x"}, {"text", std::string(bytes - around, 'a')}});
  };
  EXPECT_EQ(refused(sending("n", {sized(limits::kArtifactBytes)})), std::nullopt);
  EXPECT_EQ(refused(sending("n", {sized(limits::kArtifactBytes + 1)})), ErrorCode::kLimit);
  EXPECT_EQ(refused(sending("n", {sized(50u << 20)})), ErrorCode::kLimit);
  const auto kind_of = [](std::size_t bytes) { return Value::object({{"kind", std::string(bytes, 'k')}}); };
  EXPECT_EQ(refused(sending("n", {kind_of(limits::kArtifactKindBytes)})), std::nullopt);
  EXPECT_EQ(refused(sending("n", {kind_of(limits::kArtifactKindBytes + 1)})), ErrorCode::kLimit);
}

TEST(Submissions, MustConsistOfObjectsWithAKind) {
  for (const char* artifact : {"3", "null", R"("text")", "[]", "{}", R"({"kind": 3})", R"({"kind": ""})"})
    EXPECT_EQ(refused(sending("n", {json(artifact)})), ErrorCode::kInvalid) << artifact;
  EXPECT_EQ(refused(sending("n", {}, json("[]"))), ErrorCode::kInvalid);
  EXPECT_EQ(refused(sending("n", {Value::object({{"kind", "x"}, {"a", "\xff"}})})), ErrorCode::kInvalid);
}

TEST(Submissions, MayNotContradictThemselves) {
  const auto verdict = [](const char* word) {
    return Value::object({{"kind", "wr.review_verdict"}, {"verdict", word}});
  };
  const auto about = [](const char* kind, const char* member, const char* id, int value) {
    Value artifact = Value::object({{"kind", kind}, {"value", value}});
    if (*id != '\0') artifact.set(member, id);
    return artifact;
  };
  EXPECT_EQ(refused(sending("n", {verdict("blocking"), verdict("clean")})), ErrorCode::kInvalid);
  EXPECT_EQ(refused(sending("n", {verdict("clean"), verdict("clean")})), std::nullopt);
  EXPECT_EQ(refused(sending("n", {verdict("blocking"), json(R"({"kind": "x"})"), verdict("clean")})),
            ErrorCode::kInvalid);
  EXPECT_EQ(refused(sending("n", {loop_control("stop"), loop_control("continue")})), ErrorCode::kInvalid);
  for (const auto& [kind, member] : {std::pair("wr.assessment", "assessmentId"), std::pair("wr.loop_control", "loopId"),
                                     std::pair("wr.child_outcome", "child")}) {
    const auto of = [&](const char* id, int value) { return about(kind, member, id, value); };
    EXPECT_EQ(refused(sending("n", {of("a", 1), of("b", 2)})), std::nullopt) << kind;
    EXPECT_EQ(refused(sending("n", {of("a", 1), of("A ", 2)})), ErrorCode::kInvalid) << kind;
    EXPECT_EQ(refused(sending("n", {of("a", 1), of("", 2)})), ErrorCode::kInvalid) << kind;
  }
}

TEST(Output, IsRecordedWithWhatItSetsAndRemoves) {
  SessionSimulator journey(program_of("[" + kOne + "," + kTwo + "]"), json(R"({"old": 1})"));
  const Value artifact = json(R"({"b": 1, "kind": "note"})");
  const AdvanceResult outcome = journey.deliver(sending("done", {artifact}, json(R"({"old": null, "new": [1]})")));
  const Value recorded = journey.payloads("output_recorded").at(0);
  EXPECT_EQ(recorded["notes"], Value("done"));
  EXPECT_EQ(recorded["context_set"], json(R"({"new": [1]})"));
  EXPECT_EQ(recorded["removed"], json(R"(["old"])"));
  const std::string hash = sha256_hex(R"({"b":1,"kind":"note"})");
  EXPECT_EQ(recorded["artifacts"].items().at(0), Value(hash));
  EXPECT_EQ(recorded["unsolicited"].items().at(0), Value(hash));
  EXPECT_THAT(outcome.artifacts, IsEmpty());
  EXPECT_EQ(journey.context(journey.tip()), json(R"({"new": [1]})"));
  EXPECT_EQ(journey.context(journey.node(1)), json(R"({"old": 1})"));
}

TEST(Output, KeepsTheNewestOfEachRequestedKind) {
  SessionSimulator journey(
      program_of("[{id: each, type: loop, title: L, loop: {type: while, condition: {var: go}, maxIterations: 3}, body: "
                 "[{id: look, "
                 "title: T, prompt: P, outputContract: {contractRef: wr.contracts.loop_control}}]}]"));
  journey.deliver(sending("", {loop_control("continue")}));
  const auto first = journey.tip().artifacts;
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first.at("wr.loop_control"), sha256_hex(to_canonical_json(loop_control("continue"))));
  journey.deliver(sending("", {loop_control("stop"), json(R"({"kind": "other"})")}));
  EXPECT_EQ(journey.tip().artifacts.size(), 1u);
  EXPECT_NE(journey.tip().artifacts, first);
}

TEST(Output, OfABlockedAttemptIsRecordedToo) {
  SessionSimulator journey(program_of("[" + kOne + "]"));
  journey.deliver(sending(" ", {json(R"({"kind": "x"})")}));
  const Value blocked = journey.payloads("attempt_blocked").at(0);
  EXPECT_EQ(blocked["attempt"], Value(1));
  EXPECT_EQ(blocked["notes"], Value(" "));
  EXPECT_EQ(blocked["artifacts"].size(), 1u);
  EXPECT_EQ(blocked["blockers"].items().at(0)["code"], Value("MISSING_REQUIRED_NOTES"));
  EXPECT_EQ(journey.tip().attempt, 2);
  EXPECT_EQ(journey.tip().consecutive_blocks, 1);
  journey.deliver(sending("done"));
  EXPECT_TRUE(journey.is_over());
}

TEST(Pain11, ARewoundStepDoesNotSeeWhatTheOtherBranchSet) {
  SessionSimulator journey(program_of("[" + kOne + "," + kTwo + ",{id: three, title: T, prompt: P}]"));
  journey.deliver(sending("n", {}, json(R"({"one": 1})")));
  journey.deliver(sending("n", {}, json(R"({"future": 1})")));
  journey.deliver_at(2, sending("again", {}, json(R"({"other": 1})")));
  EXPECT_EQ(journey.tip().parent, 2);
  EXPECT_EQ(journey.context(journey.tip()), json(R"({"one": 1, "other": 1})"));
  EXPECT_EQ(journey.context(journey.node(3)), json(R"({"one": 1, "future": 1})"));
}

std::optional<workflow::Confirmation::Kind> gate_of(const std::string& confirmation, const std::string& context) {
  const SessionSimulator journey(
      program_of("[{id: one, title: T, prompt: P, requireConfirmation: " + confirmation + "}]"));
  const auto outcome = advance(journey.program(), journey.tip(), Value::object(), sending("n", {}, json(context)));
  if (!outcome || outcome->kind != AdvanceResult::Kind::kGate) return std::nullopt;
  return outcome->gate;
}

TEST(Gate, OpensByKindAndCondition) {
  using Kind = workflow::Confirmation::Kind;
  EXPECT_EQ(gate_of("true", "{}"), Kind::kEvaluator);
  EXPECT_EQ(gate_of("false", "{}"), std::nullopt);
  EXPECT_EQ(gate_of("{kind: coordinator_eval}", "{}"), Kind::kEvaluator);
  EXPECT_EQ(gate_of("{kind: human_approval}", "{}"), Kind::kPerson);
  EXPECT_EQ(gate_of("{var: risky}", R"({"risky": true})"), Kind::kEvaluator);
  EXPECT_EQ(gate_of("{var: risky}", R"({"risky": false})"), std::nullopt);
  EXPECT_EQ(gate_of("{kind: human_approval, condition: {var: risky}}", R"({"risky": 1})"), Kind::kPerson);
}

TEST(Gate, StoresTheOutputAndMovesOnAfterTheVerdict) {
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P, requireConfirmation: true}," + kTwo + "]"));
  const Submission submission = sending("done", {json(R"({"kind": "x"})")}, json(R"({"a": 1})"));
  const auto gate = advance(journey.program(), journey.tip(), Value::object(), submission);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->delivered.size(), 1u);
  const auto passed = advance(journey.program(), journey.tip(), Value::object(), submission, true);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->kind, AdvanceResult::Kind::kAdvanced);
  EXPECT_THAT(passed->delivered, IsEmpty());
  EXPECT_EQ(passed->move.to.step, "two");
  EXPECT_EQ(passed->context, json(R"({"a": 1})"));
}

TEST(Gate, RejectionReturnsToTheStep) {
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P, requireConfirmation: true}," + kTwo + "]"));
  journey.deliver_at(1, sending("done"), false);
  EXPECT_EQ(journey.tip().number, 1);
  EXPECT_EQ(journey.tip().attempt, 2);
  EXPECT_EQ(journey.tip().rejections, 1);
  journey.deliver_at(1, sending("better"));
  EXPECT_EQ(journey.tip().position.step, "two");
  EXPECT_EQ(journey.node(1).rejections, 0);
}

TEST(Gate, IsNotOpenedForABlockedAttempt) {
  SessionSimulator journey(
      program_of("[{id: one, title: T, prompt: P, requireConfirmation: true},{id: two, title: T, prompt: P, "
                 "needs: [key]}]"));
  EXPECT_EQ(journey.deliver(sending("")).blockers.size(), 2u);
  EXPECT_EQ(journey.deliver(sending("done")).kind, AdvanceResult::Kind::kBlocked);
}

std::vector<std::string> captures(const std::string& steps, const std::string& context = "{}") {
  const SessionSimulator journey(program_of(steps), json(context));
  std::vector<std::string> keys;
  const Value required = requirements(journey.program(), journey.tip().position, journey.context(journey.tip()));
  for (const Value& capture : required["captures"].items())
    keys.push_back(capture["key"].as_string() + ":" + capture["type"].as_string());
  return keys;
}

const std::string kLoop =
    "{id: each, type: loop, title: L, loop: {type: forEach, items: xs, maxIterations: 3}, body: [{id: body, title: T, "
    "prompt: P}]}";

TEST(Requirements, ListWhatTheStepIsCheckedFor) {
  const SessionSimulator journey(program_of(
      "[{id: one, title: T, prompt: P, outputContract: {contractRef: wr.contracts.loop_control}, "
      "assessmentRefs: [plan], validationCriteria: [{type: contains, value: risk, message: Name it.}]}," +
          kTwo + "]",
      "assessments: [{id: plan, purpose: How, dimensions: [{id: depth, purpose: D, levels: [low, high]}]}],"));
  const Value required = requirements(journey.program(), journey.tip().position, Value::object());
  EXPECT_EQ(required["notes"], Value(false));
  EXPECT_EQ(required["contracts"], json(R"(["wr.contracts.loop_control"])"));
  EXPECT_EQ(required["assessments"].items().at(0)["id"], Value("plan"));
  EXPECT_EQ(required["criteria"].items().at(0)["value"], Value("risk"));
  const Value plain = requirements(journey.program(), {"two", {}}, Value::object());
  EXPECT_EQ(plain, json(R"({"notes": true, "contracts": [], "assessments": [], "captures": [], "criteria": []})"));
  EXPECT_EQ(requirements(journey.program(), {}, Value::object())["notes"], Value(false));
}

TEST(Requirements, AlwaysListTheStepsOwnCaptures) {
  EXPECT_THAT(captures("[{id: one, title: T, prompt: P, captures: {xs: {type: array}, any: {}, two: {type: [string, "
                       "\"null\"]}}}]",
                       R"({"xs": []})"),
              ElementsAre("xs:array", "any:any", "two:string|null"));
}

TEST(Requirements, ListWhatTheNextLoopNeeds) {
  EXPECT_THAT(captures("[" + kOne + "," + kLoop + "]"), ElementsAre("xs:array"));
  EXPECT_THAT(captures("[" + kOne + "," + kLoop + "]", R"({"xs": [1]})"), IsEmpty());
  EXPECT_THAT(captures("[" + kOne + "," + kLoop + "]", R"({"xs": "wrong"})"), ElementsAre("xs:array"));
  EXPECT_THAT(captures("[" + kOne + "," + kTwo + "," + kLoop + "]"), IsEmpty())
      << "the last step before it gets the requirement";
  EXPECT_THAT(captures("[" + kOne + ",{id: maybe, title: T, prompt: P, runCondition: {var: big}, needs: [size]}," +
                       kLoop + "]"),
              ElementsAre("size:any", "xs:array"));
}

TEST(Requirements, LookIntoALoopAndPastItsEnd) {
  EXPECT_THAT(captures("[" + kOne +
                       ",{id: each, type: loop, title: L, loop: {type: for, count: n, maxIterations: 3}, body: [{id: "
                       "body, title: T, prompt: P, needs: [size, currentIteration]}]}]"),
              ElementsAre("n:integer", "size:any"));
  const std::string once =
      "[{id: each, type: loop, title: L, loop: {type: for, count: 1, maxIterations: 3}, body: [{id: "
      "body, title: T, prompt: P}]},{id: end, title: T, prompt: P, needs: [size]}]";
  EXPECT_THAT(captures(once), ElementsAre("size:any"));
}

TEST(Requirements, ListTheOptionsOfTheNextDecision) {
  EXPECT_THAT(captures("[" + kOne +
                       ",{id: pick, type: decision, title: P, decision: {instruction: Which?, optionsFrom: shapes}, "
                       "captureAs: shape},{id: two, title: T, prompt: P, needs: [shape]}]"),
              ElementsAre("shapes:array"));
}

TEST(Advance, IsAFunctionOfItsInput) {
  const auto program = program_of("[" + kOne + "," + kLoop + "]");
  const Submission submission = sending("done", {json(R"({"kind": "x"})")}, json(R"({"xs": [1, 2]})"));
  const SessionSimulator journey(program);
  const auto first = advance(*program, journey.tip(), Value::object(), submission);
  const auto second = advance(*program, journey.tip(), Value::object(), submission);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->delivered.at(0).payload, second->delivered.at(0).payload);
  EXPECT_EQ(first->move.to, second->move.to);
  ASSERT_EQ(first->move.trace.size(), second->move.trace.size());
}

}  // namespace
}  // namespace sb::engine

#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> codes(const std::vector<Blocker>& blockers) {
  std::vector<std::string> names;
  for (const Blocker& blocker : blockers) names.emplace_back(to_string(blocker.code));
  return names;
}

Submission sending(std::string notes, std::vector<Value> artifacts = {}, Value context = {}) {
  Submission submission;
  submission.notes = std::move(notes);
  submission.artifacts = std::move(artifacts);
  submission.context = std::move(context);
  return submission;
}

// The blockers of this submission to a single step with these members.
std::vector<Blocker> blockers_of(const std::string& members, const Submission& submission,
                                 const std::string& more = "") {
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P" + members + "}]", more));
  return journey.deliver(submission).blockers;
}

Value verdict() {
  return json(
      R"({"kind": "wr.review_verdict", "verdict": "clean", "confidence": "high", "findings": [], "summary": "ok"})");
}

TEST(Checks, NotesAreRequired) {
  EXPECT_THAT(codes(blockers_of("", sending("done"))), IsEmpty());
  for (const char* blank : {"", "  \n\t ", "\u200b \u00a0"})
    EXPECT_THAT(codes(blockers_of("", sending(blank))), ElementsAre("MISSING_REQUIRED_NOTES"));
  EXPECT_THAT(blockers_of(", notesOptional: true", sending("")), IsEmpty());
  EXPECT_THAT(blockers_of(", outputContract: {contractRef: wr.contracts.review_verdict}", sending("", {verdict()})),
              IsEmpty());
}

// Dotted ids come from templates; WorkRail answers with an internal error.
TEST(Pain5, MissingNotesOnAnExpandedStepAreOnlyMissingNotes) {
  workflow::FakeResolver around;
  around.add_routine(
      "wr.templates.routine.look",
      "{id: routine-look, name: R, description: D, version: 1.0.0, steps: [{id: see, title: S, prompt: P}]}");
  SessionSimulator journey(
      program_of("[{id: one, title: T, templateCall: {templateId: wr.templates.routine.look}}]", "", around));
  ASSERT_EQ(journey.tip().position.step, "one.see");
  EXPECT_THAT(codes(journey.deliver({}).blockers), ElementsAre("MISSING_REQUIRED_NOTES"));
  journey.deliver(sending("done"));
  EXPECT_TRUE(journey.is_over());
}

const std::string kVerdict = ", outputContract: {contractRef: wr.contracts.review_verdict}";

TEST(Contract, MissingShowsTheExample) {
  const auto blockers = blockers_of(kVerdict, sending("notes"));
  ASSERT_THAT(codes(blockers), ElementsAre("MISSING_REQUIRED_OUTPUT"));
  EXPECT_EQ(blockers[0].subject, "wr.contracts.review_verdict");
  EXPECT_EQ(blockers[0].example["kind"], Value("wr.review_verdict"));
  EXPECT_THAT(blockers[0].message, HasSubstr("wr.review_verdict"));
}

TEST(Contract, InvalidOutputIsExplained) {
  Value wrong = verdict();
  wrong.set("verdict", "splendid");
  const auto blockers = blockers_of(kVerdict, sending("", {wrong}));
  ASSERT_THAT(codes(blockers), ElementsAre("INVALID_REQUIRED_OUTPUT"));
  EXPECT_THAT(blockers[0].message, HasSubstr("verdict"));
}

TEST(Contract, OptionalOutputMayBeAbsentButNotInvalid) {
  const std::string optional = ", outputContract: {contractRef: wr.contracts.review_verdict, required: false}";
  EXPECT_THAT(blockers_of(optional, sending("")), IsEmpty());
  Value wrong = verdict();
  wrong.erase("summary");
  EXPECT_THAT(codes(blockers_of(optional, sending("", {wrong}))), ElementsAre("INVALID_REQUIRED_OUTPUT"));
}

const std::string kAssessments =
    "assessments: [{id: Plan, purpose: How good, dimensions: [{id: depth, purpose: How deep, levels: [low, high]}]}],";
const std::string kAssessed =
    ", assessmentRefs: [Plan], assessmentConsequences: [{when: {anyEqualsLevel: low}, effect: {kind: require_followup, "
    "guidance: Dig deeper.}}]";

Value rated(const std::string& level) {
  return Value::object({{"kind", "wr.assessment"}, {"dimensions", Value::object({{"depth", level}})}});
}

TEST(Assessment, IsRequiredAndItsConsequencesBlock) {
  EXPECT_THAT(codes(blockers_of(kAssessed, sending("n"), kAssessments)), ElementsAre("MISSING_REQUIRED_OUTPUT"));
  EXPECT_THAT(codes(blockers_of(kAssessed, sending("n", {rated("deep")}), kAssessments)),
              ElementsAre("INVALID_REQUIRED_OUTPUT"));
  const auto fired = blockers_of(kAssessed, sending("n", {rated("low")}), kAssessments);
  ASSERT_THAT(codes(fired), ElementsAre("ASSESSMENT_FOLLOWUP_REQUIRED"));
  EXPECT_EQ(fired[0].fix, "Dig deeper.");
  EXPECT_EQ(fired[0].subject, "Plan");
  EXPECT_THAT(blockers_of(kAssessed, sending("n", {rated("high")}), kAssessments), IsEmpty());
}

TEST(Assessment, IsRecordedAndNormalizationIsReported) {
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P" + kAssessed + "}]", kAssessments));
  const AdvanceResult outcome = journey.deliver(sending("n", {rated(" HIGH ")}));
  ASSERT_EQ(outcome.kind, AdvanceResult::Kind::kAdvanced);
  EXPECT_EQ(outcome.notes_to_agent.size(), 1u);
  const Value recorded = journey.payloads("output_recorded").at(0)["assessments"];
  EXPECT_EQ(recorded.items().at(0)["ratings"].items().at(0)["level"], Value("high"));
}

// WorkRail accepts a step with a contract without its assessment.
TEST(RunnersUp, AssessmentsAreEnforcedAlongWithAContract) {
  const auto blockers = blockers_of(kVerdict + kAssessed, sending("n", {verdict()}), kAssessments);
  EXPECT_THAT(codes(blockers), ElementsAre("MISSING_REQUIRED_OUTPUT"));
  EXPECT_EQ(blockers[0].subject, workflow::kAssessment);
  EXPECT_THAT(blockers_of(kVerdict + kAssessed, sending("n", {verdict(), rated("high")}), kAssessments), IsEmpty());
}

// In WorkRail an id with a capital turns a triggered consequence into an internal error.
TEST(RunnersUp, AssessmentIdsMayHaveCapitals) {
  EXPECT_EQ(blockers_of(kAssessed, sending("n", {rated("low")}), kAssessments).at(0).subject, "Plan");
}

TEST(Checks, AllBlockersAreReportedTogether) {
  const auto blockers = blockers_of(kVerdict + kAssessed +
                                        ", validationCriteria: [{type: contains, value: risk, message: Name the risk.}]"
                                        ", captures: {slices: {type: array}, size: {type: integer}}",
                                    sending("", {}, json(R"({"size": "big"})")), kAssessments);
  EXPECT_THAT(codes(blockers), ElementsAre("MISSING_REQUIRED_OUTPUT", "MISSING_REQUIRED_OUTPUT", "CRITERIA_NOT_MET",
                                           "MISSING_CONTEXT_KEY", "INVALID_CONTEXT_KEY"));
  EXPECT_EQ(blockers[2].message, "Name the risk. (contain \"risk\")");
}

// In WorkRail captures are only prose, and an empty context passes.
TEST(Pain19, CapturesAreEnforced) {
  const std::string captures = ", captures: {slices: {type: array, items: {type: object, required: [title]}}}";
  EXPECT_THAT(codes(blockers_of(captures, sending("n"))), ElementsAre("MISSING_CONTEXT_KEY"));
  const auto wrong = blockers_of(captures, sending("n", {}, json(R"({"slices": [{"name": "a"}]})")));
  ASSERT_THAT(codes(wrong), ElementsAre("INVALID_CONTEXT_KEY"));
  EXPECT_THAT(wrong[0].message, HasSubstr("/0"));
  EXPECT_THAT(wrong[0].message, HasSubstr("title"));
  EXPECT_THAT(blockers_of(captures, sending("n", {}, json(R"({"slices": [{"title": "a"}]})"))), IsEmpty());
}

// The check stops at 20 faults, so there may be any number more.
TEST(Pain19, FaultsThatWereNotCountedAreNotCounted) {
  Value slices = Value::array();
  for (int i = 0; i < 100; ++i) slices.push_back(i);
  const auto blockers = blockers_of(", captures: {slices: {type: array, items: {type: string}}}",
                                    sending("done", {}, Value::object({{"slices", std::move(slices)}})));
  ASSERT_EQ(blockers.size(), 1u);
  EXPECT_THAT(blockers[0].message, HasSubstr("; and at least 15 more."));
}

TEST(Pain19, ACaptureSetByAnEarlierStepCounts) {
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P, captures: {size: {type: integer}}}]"),
                           json(R"({"size": 3})"));
  EXPECT_EQ(journey.deliver(sending("n")).kind, AdvanceResult::Kind::kAdvanced);
}

// WorkRail says to use the same token again, and gives internal causes or none at all.
TEST(Pain18, BlockersSayWhatIsMissingAndWhatToSend) {
  for (const Blocker& blocker :
       blockers_of(kVerdict + kAssessed + ", captures: {slices: {type: array}}", sending(""), kAssessments)) {
    EXPECT_FALSE(blocker.message.empty());
    EXPECT_FALSE(blocker.fix.empty());
    EXPECT_LE(blocker.message.size(), 512u) << blocker.message;
    EXPECT_LE(blocker.fix.size(), 1'024u) << blocker.fix;
    EXPECT_THAT(blocker.message, testing::Not(HasSubstr("oken")));
  }
}

TEST(Checks, ReportAtMostTheLimitAndCountTheRest) {
  std::string captures = ", captures: {";
  Value wrong = Value::object();
  for (int i = 0; i < 15; ++i) {
    captures += (i ? ", k" : "k") + std::to_string(i) + ": {type: string}";
    wrong.set("k" + std::to_string(i), i);
  }
  const auto blockers = blockers_of(captures + "}", sending("n", {}, wrong));
  ASSERT_EQ(blockers.size(), limits::kBlockers);
  EXPECT_THAT(blockers.back().message, HasSubstr("5 more"));
}

TEST(Checks, AllUnsetKeysAreReportedTogether) {
  std::string captures = ", captures: {";
  for (int i = 0; i < 40; ++i) captures += (i ? ", k" : "k") + std::to_string(i) + ": {type: integer}";
  const auto blockers = blockers_of(captures + ", size: {enum: [S, L]}}", sending(""));
  ASSERT_THAT(codes(blockers), ElementsAre("MISSING_REQUIRED_NOTES", "MISSING_CONTEXT_KEY"));
  EXPECT_THAT(blockers[1].message, HasSubstr("41 context keys are not set: \"k0\" (integer), \"k1\" (integer)"));
  EXPECT_THAT(blockers[1].message, HasSubstr("\"size\" (one of \"S\", \"L\")."));
  EXPECT_EQ(blockers[1].example.size(), 41u);
  EXPECT_THAT(blockers_of(captures + ", size: {enum: [S, L]}}", sending("n", {}, blockers[1].example)), IsEmpty());
}

TEST(Checks, TooManyKeysOmitTypesBeforeNames) {
  std::string captures = ", captures: {";
  for (int i = 0; i < 110; ++i)
    captures += (i ? ", a_key_of_some_length_" : "a_key_of_some_length_") + std::to_string(i) + ": {type: integer}";
  const auto blockers = blockers_of(captures + "}", sending("n"));
  ASSERT_EQ(blockers.size(), 1u);
  EXPECT_THAT(blockers[0].message, HasSubstr("\"a_key_of_some_length_109\"."));
}

TEST(Checks, ARefusalOfTheNotesRepeatsTheLimit) {
  const auto blockers =
      blockers_of(", validationCriteria: [{type: length, min: 40, message: Too short.}]", sending("n"));
  ASSERT_THAT(codes(blockers), ElementsAre("CRITERIA_NOT_MET"));
  EXPECT_EQ(blockers[0].message, "Too short. (at least 40 characters)");
}

TEST(Checks, AKeyNeededTwiceIsReportedOnce) {
  SessionSimulator journey(program_of(
      "[{id: one, title: T, prompt: P, captures: {xs: {type: array}}}, {id: each, type: loop, title: L, loop: {type: "
      "forEach, items: xs, maxIterations: 3}, body: [{id: two, title: T, prompt: P}]}]"));
  EXPECT_THAT(codes(journey.deliver(sending("n")).blockers), ElementsAre("MISSING_CONTEXT_KEY"));
}

Submission ran(int exit, std::string output = "", bool timed_out = false, std::string not_run_reason = "") {
  Submission submission = sending("n");
  submission.command =
      CommandRun{"make test", exit, std::move(output), timed_out, false, "none", 3, std::move(not_run_reason)};
  return submission;
}

class CommandCheck : public testing::Test {
 protected:
  AdvanceResult deliver(const Submission& submission) {
    SessionSimulator journey(program_of("[{id: one, title: T, prompt: P, verification: {command: make test}}]"));
    journey.deliver(sending("n"));
    EXPECT_EQ(journey.tip().position.step, "one__verification");
    return journey.deliver(submission);
  }
};

TEST_F(CommandCheck, PassesByTheCommandsExitCode) {
  EXPECT_EQ(deliver(ran(0)).kind, AdvanceResult::Kind::kAdvanced);
  EXPECT_EQ(deliver(ran(0)).delivered.at(0).payload["command"]["exit"], Value(0));
}

TEST_F(CommandCheck, FailsWithTheEndOfTheOutput) {
  const auto blockers = deliver(ran(2, std::string(5'000, 'x') + "\nlast line")).blockers;
  ASSERT_THAT(codes(blockers), ElementsAre("VERIFICATION_FAILED"));
  EXPECT_THAT(blockers[0].message, HasSubstr("exited with 2"));
  EXPECT_THAT(blockers[0].message, HasSubstr("last line"));
  EXPECT_LT(blockers[0].message.size(), 2'000u);
}

TEST_F(CommandCheck, CutsTheOutputAtACharacterBoundary) {
  std::string output = "a";
  for (int i = 0; i < 2'000; ++i) output += "é";
  EXPECT_TRUE(is_utf8(deliver(ran(1, output)).blockers.at(0).message));
}

TEST_F(CommandCheck, FailsOnATimeout) {
  EXPECT_THAT(deliver(ran(0, "", true)).blockers.at(0).message, HasSubstr("timed out"));
}

TEST_F(CommandCheck, WithoutTrustShowsTheCommand) {
  const auto blockers = deliver(ran(0, "", false, "the project is not trusted")).blockers;
  ASSERT_THAT(codes(blockers), ElementsAre("NOT_TRUSTED"));
  EXPECT_THAT(blockers[0].message, HasSubstr("make test"));
  EXPECT_THAT(blockers[0].message, HasSubstr("the project is not trusted"));
  EXPECT_THAT(codes(deliver(sending("n")).blockers), ElementsAre("NOT_TRUSTED"));
}

TEST(BlockerCodes, HaveTheNamesOfTheFormat) {
  for (const auto& [code, name] : std::initializer_list<std::pair<BlockerCode, const char*>>{
           {BlockerCode::kMissingNotes, "MISSING_REQUIRED_NOTES"},
           {BlockerCode::kMissingOutput, "MISSING_REQUIRED_OUTPUT"},
           {BlockerCode::kInvalidOutput, "INVALID_REQUIRED_OUTPUT"},
           {BlockerCode::kAssessmentFollowup, "ASSESSMENT_FOLLOWUP_REQUIRED"},
           {BlockerCode::kMissingContext, "MISSING_CONTEXT_KEY"},
           {BlockerCode::kInvalidContext, "INVALID_CONTEXT_KEY"},
           {BlockerCode::kCriteria, "CRITERIA_NOT_MET"},
           {BlockerCode::kVerificationFailed, "VERIFICATION_FAILED"},
           {BlockerCode::kNotTrusted, "NOT_TRUSTED"},
           {BlockerCode::kChildrenOpen, "CHILDREN_OPEN"},
           {BlockerCode::kRejected, "REJECTED"}}) {
    EXPECT_EQ(to_string(code), name);
  }
}

}  // namespace
}  // namespace sb::engine

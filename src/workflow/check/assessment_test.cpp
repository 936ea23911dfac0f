#include "workflow/check/assessment.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::workflow {
namespace {

class Assessment : public testing::Test {
 protected:
  Assessment() {
    definition_.assessments = {
        {"Plan-Ready",
         "Is the plan ready?",
         {{"confidence", "How sure", {"low", "Medium", "high"}, true}, {"extra", "More", {"yes", "no"}, false}}},
        {"scope", "Is it in scope?", {{"fit", "How well", {"poor", "good"}, true}}}};
    step_.id = "plan";
    step_.assessment_refs = {"Plan-Ready"};
  }

  AssessmentResult read(const std::vector<std::string>& artifacts) {
    std::vector<Value> values;
    for (const auto& text : artifacts) values.push_back(*parse_json(text));
    return read_assessments(definition_, step_, values);
  }
  std::string issues(const std::vector<std::string>& artifacts) {
    const AssessmentResult reading = read(artifacts);
    EXPECT_EQ(reading.recorded.empty(), !reading.issues.empty());
    std::string text;
    for (const auto& issue : reading.issues) text += (text.empty() ? "" : "|") + issue;
    return text;
  }

  Definition definition_;
  Step step_;
};

TEST_F(Assessment, IsRecordedInTheOrderOfTheDefinition) {
  const auto reading = read({R"({"kind":"other"})",
                             R"({"kind":"wr.assessment","summary":"fine","dimensions":{"extra":"no",
                                 "confidence":{"level":"high","rationale":"tested"}}})"});
  ASSERT_TRUE(reading.issues.empty()) << reading.issues[0];
  ASSERT_EQ(reading.recorded.size(), 1u);
  const RecordedAssessment& recorded = reading.recorded[0];
  EXPECT_EQ(recorded.id, "Plan-Ready");
  EXPECT_EQ(recorded.summary, "fine");
  ASSERT_EQ(recorded.ratings.size(), 2u);
  EXPECT_EQ(recorded.ratings[0].dimension, "confidence");
  EXPECT_EQ(recorded.ratings[0].level, "high");
  EXPECT_EQ(recorded.ratings[0].rationale, "tested");
  EXPECT_EQ(recorded.ratings[1].level, "no");
  EXPECT_TRUE(recorded.notes.empty());
}

TEST_F(Assessment, LevelsAreNormalizedWithANote) {
  const auto reading = read({R"({"kind":"wr.assessment","dimensions":{"confidence":" MEDIUM "}})"});
  ASSERT_EQ(reading.recorded.size(), 1u);
  EXPECT_EQ(reading.recorded[0].ratings[0].level, "Medium");
  ASSERT_EQ(reading.recorded[0].notes.size(), 1u);
  EXPECT_EQ(reading.recorded[0].notes[0], R"(dimension "confidence": " MEDIUM " was read as "Medium")");
}

TEST_F(Assessment, IssuesSayWhatToSend) {
  const std::string at = "assessment \"Plan-Ready\": ";
  EXPECT_EQ(issues({}), at + "no wr.assessment artifact was sent");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment","dimensions":{"extra":"yes"}})"}),
            at + R"(dimension "confidence" is missing; rate it "low", "Medium", "high")");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment","dimensions":{"confidence":"sure"}})"}),
            at + R"(dimension "confidence" has no level "sure"; rate it "low", "Medium", "high")");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment","dimensions":{"confidence":"low","extr":"yes"}})"}),
            at + R"(dimension "extr" is not requested; did you mean "extra"?)");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment","dimensions":{"confidence":{"rationale":"x"}}})"}),
            at + "/dimensions/confidence/level is missing; it is a string");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment","assessmentId":"scope","dimensions":{"confidence":"low"}})"}),
            at + R"(assessmentId "scope" belongs to another assessment; this step asks for "Plan-Ready")");
  EXPECT_EQ(issues({R"({"kind":"wr.assessment"})"}), at + "/dimensions is missing; it is an object");
}

TEST_F(Assessment, OneReferenceTakesTheFirstArtifact) {
  const auto reading = read({R"({"kind":"wr.assessment","dimensions":{"confidence":"low"}})",
                             R"({"kind":"wr.assessment","dimensions":{"confidence":"high"}})"});
  ASSERT_EQ(reading.recorded.size(), 1u);
  EXPECT_EQ(reading.recorded[0].ratings[0].level, "low");
}

TEST_F(Assessment, SeveralAreMatchedByIdAndAllOrNoneAreRecorded) {
  step_.assessment_refs = {"Plan-Ready", "scope"};
  const std::string plan = R"({"kind":"wr.assessment","assessmentId":"plan-ready","dimensions":{"confidence":"low"}})";
  const std::string scope = R"({"kind":"wr.assessment","assessmentId":"scope","dimensions":{"fit":"good"}})";
  const auto reading = read({scope, plan});
  ASSERT_EQ(reading.recorded.size(), 2u);
  EXPECT_EQ(reading.recorded[0].id, "Plan-Ready");
  EXPECT_EQ(reading.recorded[1].id, "scope");
  EXPECT_EQ(issues({plan}), "assessment \"scope\": no wr.assessment artifact with assessmentId \"scope\" was sent");
  EXPECT_EQ(issues({plan, scope, R"({"kind":"wr.assessment","dimensions":{"fit":"poor"}})"}),
            "a wr.assessment artifact has no assessmentId; use one of \"Plan-Ready\", \"scope\"");
  EXPECT_EQ(issues({plan, scope, R"({"kind":"wr.assessment","assessmentId":"q","dimensions":{"fit":"poor"}})"}),
            "assessmentId \"q\" is not requested by this step; the ids are \"Plan-Ready\", \"scope\"");
}

// §1.9: in WorkRail an id with a capital turns a triggered consequence into an internal error.
TEST_F(Assessment, RuntimeTrapConsequencesFireForIdsWithCapitals) {
  step_.consequences = {{"low", "Plan-Ready", "Ask again."}, {"LOW", "", "Say why."}, {"high", "", "Go."}};
  const auto reading = read({R"({"kind":"wr.assessment","dimensions":{"confidence":"Low","extra":"no"}})"});
  ASSERT_EQ(reading.fired.size(), 2u);
  EXPECT_EQ(reading.fired[0].assessment, "Plan-Ready");
  EXPECT_EQ(reading.fired[0].dimension, "confidence");
  EXPECT_EQ(reading.fired[0].level, "low");
  EXPECT_EQ(reading.fired[0].guidance, "Ask again.");
  EXPECT_EQ(reading.fired[1].guidance, "Say why.");
}

TEST_F(Assessment, NothingFiresFromAnUnrecordedRating) {
  step_.consequences = {{"low", "", "Ask again."}};
  EXPECT_TRUE(read({R"({"kind":"wr.assessment","dimensions":{"confidence":"low","zzz":"no"}})"}).fired.empty());
}

TEST_F(Assessment, ConsequencesOfOtherAssessmentsDoNotFire) {
  step_.assessment_refs = {"Plan-Ready", "scope"};
  definition_.assessments[1].dimensions[0].levels = {"low", "high"};
  step_.consequences = {{"low", "scope", "Cut."}};
  const auto reading =
      read({R"({"kind":"wr.assessment","assessmentId":"scope","dimensions":{"fit":"high"}})",
            R"({"kind":"wr.assessment","assessmentId":"Plan-Ready","dimensions":{"confidence":"low"}})"});
  ASSERT_EQ(reading.recorded.size(), 2u);
  EXPECT_TRUE(reading.fired.empty());
}

TEST_F(Assessment, ShowsAnExampleAndTheRequirements) {
  Step of_two;
  of_two.assessment_refs = {"Plan-Ready", "scope"};
  of_two.consequences = {{"LOW", "", "More."}, {"yes", "scope", "Cut."}};
  EXPECT_EQ(to_json(example_assessment(definition_.assessments[0], of_two)),
            R"({"kind":"wr.assessment","assessmentId":"Plan-Ready",)"
            R"("dimensions":{"confidence":"Medium","extra":"yes"}})");
  of_two.assessment_refs = {"Plan-Ready"};
  EXPECT_EQ(example_assessment(definition_.assessments[0], of_two).find("assessmentId"), nullptr);
  EXPECT_EQ(levels_text(definition_.assessments[0]), "`confidence` low|Medium|high; `extra` yes|no");
  EXPECT_EQ(to_json(to_requirements(definition_, step_)),
            R"([{"id":"Plan-Ready","dimensions":{"confidence":["low","Medium","high"],"extra":["yes","no"]}}])");
}

}  // namespace
}  // namespace sb::workflow

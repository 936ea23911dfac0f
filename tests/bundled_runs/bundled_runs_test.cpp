// Runs through the bundled workflows, on their shortest and longest paths: every gate, child, decision and round is
// worked on by agents of the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bundled_runs/bundled_script.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BundledRuns : public testing::Test {
 protected:
  BundledRuns() : place(SB_PROGRAM), script(place) {
    place.configure("phases: {discovery: wr.discovery}");  // the other defaults are the bundled ones
    const auto keys = [](std::initializer_list<Value::Member> members) { return Value::object(members); };
    script.of("wr.discovery").answers =
        keys({{"ambiguityLevel", "clear"}, {"codebaseBeliefs", Value::array()}, {"directionIsObvious", true}});
    script.of("wr.shaping").answers = keys({{"isTrivial", true}, {"pitchPath", ".signalbox/current-pitch.md"}});
    script.of("wr.shaping").calls["write-pitch"] = {writes(".signalbox/current-pitch.md", "# The pitch\n")};
    script.of("wr.ui-ux-design").answers = keys({{"designPath", ".signalbox/design.md"}});
    script.of("wr.ui-ux-design").calls["work-out"] = {writes(".signalbox/design.md", "# The design\n")};
    script.of("wr.coding-task").answers = keys({{"taskComplexity", "Small"},
                                                {"riskLevel", "Low"},
                                                {"openQuestions", Value::array()},
                                                {"isFixOrRetry", false},
                                                {"verificationFindings", Value::array()},
                                                {"planFindings", Value::array()},
                                                {"followUpChoices", Value::array()}});
    script.of("wr.coding-task").calls["build-slice"] = {writes("answer.txt", "right\n")};
    script.of("wr.coding-task").artifacts["hand-off"] = keys({{"filesChanged", Value::array({"answer.txt"})}});
    script.of("wr.mr-review").answers = keys({{"reviewTargetFound", true},
                                              {"reviewMode", "QUICK"},
                                              {"maxParallelism", 0},
                                              {"needsReviewerBundle", false},
                                              {"needsSimulation", false},
                                              {"needsContextFollowup", false},
                                              {"needsBoundaryFollowup", false},
                                              {"acceptanceCriteriaSource", "ticket"},
                                              {"boundaryConfidence", "High"},
                                              {"validationChecklist", Value::array({"The answer is right"})}});
    script.of("wr.mr-review").artifacts["give-verdict"] =
        keys({{"verdict", "clean"}, {"confidence", "high"}, {"findings", Value::array()}});
    script.of("wr.fix").answers =
        keys({{"findingPlans", Value(Value::Array{keys({{"finding", "There is no word of why"},
                                                        {"decision", "fix"},
                                                        {"why", "the reason would get lost"},
                                                        {"shownBy", "reading it"}})})}});
    script.of("wr.fix").calls["fix"] = {call("Bash", keys({{"command", "echo because >> answer.txt"}}))};
    script.of("wr.fix").artifacts["hand-off"] = keys({{"filesChanged", Value::array({"answer.txt"})}});
  }

  static Value writes(const char* path, const char* text) {
    return call("Write", Value::object({{"file_path", path}, {"content", text}}));
  }

  // The first review finds this; later ones find nothing.
  std::string first_verdict(const char* word, const char* category) const {
    return Line("wr.mr-review")
        .step("give-verdict")
        .complete("One finding that must be fixed before this is merged.",
                  {verdict(word, {finding(word == std::string("minor") ? "minor" : "major", "There is no word of why",
                                          category)})});
  }

  std::vector<std::string> workflows() const {
    std::vector<std::string> names;
    for (const Value& event : place.events("phase_started")) {
      names.push_back(event["payload"].string_at("workflow").value_or("?"));
    }
    return names;
  }

  RunFixture place;
  BundledScript script;
};

TEST_F(BundledRuns, ASmallTicketTakesTheShortPath) {
  place.script(script.lines());
  const ProgramResult ended = place.run_goal("Put the right answer in place");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(workflows(), ElementsAre("wr.discovery", "wr.shaping", "wr.coding-task", "wr.mr-review"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 1);
}

// Gates judged by evaluators, ideas and context from two agents, a challenge, five reviewers, a simulation.
TEST_F(BundledRuns, ALargeTicketTakesTheLongPathAndAsksOnce) {
  Value& discovery = script.of("wr.discovery").answers;
  discovery.set("ambiguityLevel", "uncertain");
  discovery.set("codebaseBeliefs", Value::array({"the check reads one file"}));
  discovery.set("readingFell", false);
  discovery.set("explorationDepth", "deep");
  discovery.set("selectionTier", "strong_recommendation");
  discovery.set("designDocPath", ".signalbox/discovery.md");
  script.of("wr.discovery").calls["write-document"] = {writes(".signalbox/discovery.md", "# Found out\n")};
  Value& shaping = script.of("wr.shaping").answers;
  shaping.set("isTrivial", false);
  shaping.set("shapesAreClose", true);
  const auto shape = [](const char* id, const char* label) {
    return Value::object(
        {{"id", id}, {"label", label}, {"elements", Value::array({"a", "b"})}, {"notDoing", "c"}, {"isObvious", true}});
  };
  shaping.set("candidateShapes", Value(Value::Array{shape("one-file", "One file"), shape("two-files", "Two files")}));
  Value& coding = script.of("wr.coding-task").answers;
  coding.set("taskComplexity", "Large");
  coding.set("riskLevel", "High");
  coding.set("approachMustChange", false);
  coding.set("planConfidenceBand", "High");
  coding.set("unresolvedUnknownCount", 0);
  Value& review = script.of("wr.mr-review").answers;
  review.set("reviewMode", "THOROUGH");
  review.set("maxParallelism", 5);
  for (const char* need : {"needsReviewerBundle", "needsSimulation", "needsContextFollowup", "needsBoundaryFollowup"}) {
    review.set(need, true);
  }
  place.script(script.lines());
  EXPECT_EQ(place.run_goal("Put the right answer in place").code, 1);
  const auto open = place.open_decisions();
  ASSERT_EQ(open.size(), 1u);
  const ProgramResult ended = place.answer_and_resume("two-files");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 1);
  EXPECT_TRUE(place.open_decisions().empty());
}

TEST_F(BundledRuns, AMinorFindingIsFixedByWrFixAndReviewedAgain) {
  place.script(first_verdict("minor", "style") + script.lines());
  const ProgramResult ended = place.run_goal("Put the right answer in place");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(workflows(),
              ElementsAre("wr.discovery", "wr.shaping", "wr.coding-task", "wr.mr-review", "wr.fix", "wr.mr-review"));
  EXPECT_EQ(place.delivered("answer.txt"), "right\nbecause");
  EXPECT_EQ(place.delivered_commits(), 2);
}

// A change that was audited is never merged without a person.
TEST_F(BundledRuns, ABlockingFindingIsAuditedByItsCategoryFixedAndLeftToAPerson) {
  const std::pair<const char*, const char*> rows[] = {{"correctness", "wr.production-readiness-audit"},
                                                      {"architecture", "wr.architecture-scalability-audit"}};
  for (const auto& [category, audit] : rows) {
    RunFixture fresh(SB_PROGRAM);
    fresh.configure("phases: {discovery: wr.discovery}");
    fresh.script(first_verdict("blocking", category) + script.lines());
    EXPECT_EQ(fresh.run_goal("Put the right answer in place").code, 1);
    std::vector<std::string> names;
    for (const Value& event : fresh.events("phase_started")) {
      names.push_back(event["payload"].string_at("workflow").value_or("?"));
    }
    EXPECT_THAT(names, ElementsAre("wr.discovery", "wr.shaping", "wr.coding-task", "wr.mr-review", audit, "wr.fix",
                                   "wr.mr-review"));
    EXPECT_EQ(fresh.delivered("answer.txt"), "");
    EXPECT_EQ(fresh.answer_and_resume("merge").code, 0);
    EXPECT_EQ(fresh.delivered("answer.txt"), "right\nbecause");
  }
}

TEST_F(BundledRuns, AUserInterfaceIsDesignedAndAPersonApproves) {
  place.script(script.lines());
  EXPECT_EQ(place.run_goal("Show the right answer on the screen").code, 1);
  EXPECT_THAT(workflows(), ElementsAre("wr.discovery", "wr.shaping", "wr.ui-ux-design"));
  const ProgramResult ended = place.answer_and_resume("approve");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

}  // namespace
}  // namespace sb::pipeline_tests

// The promise that WorkRail's files run, tested in a plain clone: tests/data/workflows has files of the same structure,
// written by us. Each is run by the real program, and the steps it opens are compared with the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "compat/drive.hpp"

namespace sb::compat {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFolder = SB_SOURCE_DIR "/tests/data/workflows";

Value json(const std::string& text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

Delivery context(const std::string& text) {
  return {.context = json(text)};
}

Delivery artifact(const std::string& text) {
  return {.artifacts = {json(text)}};
}

Delivery control(const std::string& decision, const std::string& loop) {
  return artifact(R"({"kind":"wr.loop_control","decision":")" + decision + R"(","loopId":")" + loop + R"("})");
}

Delivery rating(const std::string& assessment, const std::string& dimensions) {
  return artifact(R"({"kind":"wr.assessment","assessmentId":")" + assessment + R"(","dimensions":)" + dimensions + "}");
}

class Compat : public ::testing::Test {
 protected:
  Driven run(const std::string& workflow, std::map<std::string, std::vector<Delivery>> deliveries = {}) {
    Driven driven = drive.run(workflow, std::move(deliveries));
    EXPECT_EQ(driven.stuck, "");
    return driven;
  }

  Drive drive{SB_PROGRAM, kFolder};
};

TEST_F(Compat, AForEachLoopOpensItsBodyForEachItem) {
  const Driven driven =
      run("rename-photos", {{"collect", {context(R"({"items":["a.jpg","b.jpg"],"renamed":0})")}},
                            {"rename-one", {context(R"({"renamed":1})"), context(R"({"renamed":2})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("collect", "rename-one", "rename-one", "report"));
  EXPECT_THAT(driven.texts.at("rename-one"),
              AllOf(HasSubstr("of 2: a.jpg"), HasSubstr("of 2: b.jpg"), HasSubstr("(1 so far,")));
  EXPECT_THAT(driven.texts.at("rename-one"), HasSubstr("{{photoIndex + 1}}")) << "expressions stay as they are";
  EXPECT_THAT(driven.texts.at("report"), HasSubstr("new names (2)"));
  EXPECT_THAT(driven.texts.at("collect"),
              AllOf(HasSubstr("You rename files and never overwrite one."), HasSubstr("Keep the order of the folder")));
}

TEST_F(Compat, AForEachLoopOverNothingOpensNothing) {
  const Driven driven = run("rename-photos", {{"collect", {context(R"({"items":[],"renamed":0})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("collect", "report"));
}

TEST_F(Compat, AWhileLoopRepeatsWhileItsConditionHolds) {
  const Driven driven =
      run("wait-for-build",
          {{"start", {context(R"({"state":"running","checks":0})")}},
           {"look", {context(R"({"state":"running","checks":1})"), context(R"({"state":"Ended","checks":2})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("start", "look", "look", "report"));
}

TEST_F(Compat, AWhileLoopEndsAtItsLimitAndTheNextStepIsSkipped) {
  const Driven driven = run("wait-for-build", {{"start", {context(R"({"state":"running","checks":0})")}}});
  EXPECT_EQ(driven.opened.size(), 9u);
  EXPECT_EQ(driven.opened.back(), "look");
}

TEST_F(Compat, AForLoopCountsToAValueOfTheContext) {
  const Driven driven = run("upload-with-retries", {{"prepare", {context(R"({"maxTries":2})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("prepare", "upload", "upload", "close"));
  EXPECT_THAT(driven.texts.at("upload"), AllOf(HasSubstr("Try 1 of 2"), HasSubstr("Try 2 of 2")));
}

TEST_F(Compat, AnUntilLoopRepeatsUntilItsConditionHolds) {
  const Driven driven =
      run("find-the-owner", {{"prepare", {context(R"({"known":false,"source":0})")}},
                             {"ask", {context(R"({"source":1})"), context(R"({"known":true,"source":2})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("prepare", "ask", "ask", "answer"));
}

TEST_F(Compat, ALoopControlArtifactEndsItsLoopAndALowRatingReopensTheStep) {
  const Driven driven = run(
      "polish-release-notes",
      {{"read", {control("continue", "polish-round")}},
       {"decide", {control("continue", "polish-round"), control("stop", "polish-round")}},
       {"finish", {rating("clarity_gate", R"({"clarity":"low"})"), rating("clarity_gate", R"({"clarity":"high"})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("read", "rewrite", "decide", "rewrite", "decide", "finish"));
  EXPECT_EQ(driven.gates, 2);
  EXPECT_THAT(driven.refusals, ElementsAre("finish: ASSESSMENT_FOLLOWUP_REQUIRED"));
}

TEST_F(Compat, AStepWithoutItsArtifactIsRejected) {
  const Driven driven = run("polish-release-notes", {{"read", {context("{}"), control("stop", "polish-round")}},
                                                     {"decide", {control("stop", "polish-round")}},
                                                     {"finish", {rating("clarity_gate", R"({"clarity":"high"})")}}});
  EXPECT_THAT(driven.refusals, ElementsAre("read: MISSING_REQUIRED_OUTPUT"));
}

TEST_F(Compat, ConditionsSelectStepsFragmentsAndGates) {
  const Driven small = run("acme.write-a-guide", {{"size", {context(R"({"size":"Short"})")}}});
  EXPECT_THAT(small.opened, ElementsAre("size", "write", "publish", "short-check"));
  EXPECT_EQ(small.gates, 1);
  const Driven large = run("acme.write-a-guide", {{"size", {context(R"({"size":"long"})")}}});
  EXPECT_THAT(large.opened, ElementsAre("size", "readers", "outline", "write", "review", "publish"));
  EXPECT_EQ(large.gates, 2);
  EXPECT_THAT(large.texts.at("outline"), HasSubstr("Group the chapters into parts"));
  EXPECT_THAT(large.texts.at("review"),
              AllOf(HasSubstr("Let a second reader follow it"), Not(HasSubstr("Time yourself"))));
}

TEST_F(Compat, GatesWithConditionsAskOnlyWhereTheyHold) {
  const std::string rated = R"({"confidence":"high","breadth":"wide"})";
  const std::map<std::string, std::vector<Delivery>> last = {{"phase-3b-decide", {control("stop", "evidence_loop")}}};
  auto calm = last;
  calm["phase-0-scope"] = {context(R"({"careLevel":"Low","logsMissing":false,"gaps":0})")};
  calm["phase-4-cause"] = {
      {.context = json(R"({"causeBand":"High","conflicts":0})"), .artifacts = rating("cause_gate", rated).artifacts}};
  const Driven few = run("acme.outage-review", calm);
  EXPECT_THAT(few.opened, Not(::testing::Contains("phase-1b-more-logs")));
  EXPECT_EQ(few.gates, 3) << "scope, evidence and report";
  auto careful = last;
  careful["phase-0-scope"] = {context(R"({"careLevel":"High","logsMissing":true,"gaps":2})")};
  careful["phase-4-cause"] = {
      {.context = json(R"({"causeBand":"Low","conflicts":1})"), .artifacts = rating("cause_gate", rated).artifacts}};
  const Driven many = run("acme.outage-review", careful);
  EXPECT_THAT(many.opened, ::testing::Contains("phase-1b-more-logs"));
  EXPECT_EQ(many.gates, 6) << "and inputs, logs and cause";
}

TEST_F(Compat, BlocksBecomeTextAndLoopsFollowEachOther) {
  const Driven driven =
      run("acme.choose-a-venue",
          {{"limits", {context(R"({"groups":[["Hall"],["Barn","Loft"]]})")}},
           {"count-doubts", {context(R"({"doubts":0})")}},
           {"closest", {context(R"({"closest":[{"name":"Barn","price":9},{"name":"Loft","price":8}]})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("limits", "screen-group", "screen-group", "count-doubts", "doubts", "closest",
                                         "visit", "visit", "rank"));
  EXPECT_EQ(driven.gates, 3) << "none about doubts";
  EXPECT_THAT(driven.texts.at("limits"),
              AllOf(HasSubstr("Write down what a venue must have."), HasSubstr("Keep limits and preferences apart."),
                    HasSubstr("Ask for cost and town."), HasSubstr("Every limit can be checked with yes or no.")));
  EXPECT_THAT(driven.texts.at("doubts"), AllOf(HasSubstr("There are none"), Not(HasSubstr("what is unknown"))));
  EXPECT_THAT(driven.texts.at("visit"), AllOf(HasSubstr("Describe Barn"), HasSubstr("Describe Loft")));
  EXPECT_THAT(driven.texts.at("rank"), AllOf(HasSubstr("When sources disagree"), HasSubstr("One line per venue")));
}

TEST_F(Compat, TheHeadOfAFileIsShownAtTheStart) {
  const Driven driven = run("acme.explain-a-codebase");
  EXPECT_THAT(driven.opened, ElementsAre("audience", "path", "exercise"));
  EXPECT_THAT(driven.texts.at("audience"),
              AllOf(HasSubstr("The code builds"), HasSubstr("What do they know?"), HasSubstr("Show code, not slides"),
                    HasSubstr("You teach programmers."), HasSubstr("Who they are and what they know")));
  EXPECT_EQ(driven.gates, 1);
}

TEST_F(Compat, RoutinesReplaceTheStepsThatCallThem) {
  const Driven driven =
      run("acme.design-a-board-game", {{"idea", {context(R"({"kind":"cards","players":3})")}},
                                       {"theme", {rating("theme_gate", R"({"theme":"grown","actions":"exact"})")}},
                                       {"rules", {rating("rules_gate", R"({"rules":"complete"})")}}});
  EXPECT_THAT(driven.opened,
              ElementsAre("idea", "parts", "mechanics.pulls", "mechanics.ideas", "mechanics.weigh", "turn", "theme",
                          "play.look-weak", "play.look-failures", "play.look-write", "rules", "done"));
  EXPECT_THAT(driven.texts.at("mechanics.weigh"), HasSubstr("`mechanics.md`"));
  EXPECT_THAT(driven.texts.at("play.look-write"), HasSubstr("`test-games.md`"));
  EXPECT_THAT(driven.texts.at("play.look-weak"), HasSubstr("You look for what is missing."));
  EXPECT_THAT(driven.texts.at("turn"), HasSubstr("draw, act, pass on"));
  EXPECT_THAT(driven.texts.at("parts"),
              AllOf(HasSubstr("Count the cards by colour."), Not(HasSubstr("Say why dice."))));
  EXPECT_THAT(driven.texts.at("parts"), HasSubstr("Every finding names the file")) << "a feature adds to its blocks";
}

TEST_F(Compat, AFileOfANamedFolderReplacesTheBundledOne) {
  const Driven driven =
      run("wr.shaping",
          {{"problem", {context(R"({"isSmall":true})")}},
           {"hand-off", {artifact(R"({"kind":"wr.shaping_handoff","version":1,"pitchPath":"p.md","selectedShape":"s",
                                        "appetite":"a day","keyConstraints":[],"rabbitHoles":[],"outOfScope":["all else"],
                                        "validationChecklist":["it works"]})")}}});
  EXPECT_THAT(driven.opened, ElementsAre("problem", "hand-off"));
}

TEST_F(Compat, DelegationsCriteriaVerificationAndBindingsWork) {
  const Driven driven = run("acme.audit-dependencies", {{"list", {context(R"({"libraries":["zlib"],"oldLeft":1})")}},
                                                        {"old-one", {context(R"({"oldLeft":0})")}},
                                                        {"sign", {rating("risk", R"({"age":"fresh"})")}}});
  EXPECT_THAT(driven.opened,
              ElementsAre("list", "licences", "licences__verification", "licences__audit", "check", "look-weak",
                          "look-failures", "look-write", "sides__synthesis", "old-one", "sign"));
  EXPECT_THAT(driven.texts.at("list"), HasSubstr("docs/licences.md")) << "references are shown";
  EXPECT_THAT(driven.texts.at("licences"), HasSubstr("routine-license-check")) << "the default of the slot";
  EXPECT_THAT(driven.texts.at("check"), HasSubstr("zlib")) << "context is mapped into the child";
  EXPECT_EQ(driven.gates, 0) << "without openssl no one needs to approve";
}

TEST_F(Compat, AHumanApprovalWaitsForASignature) {
  Driven driven = drive.run("acme.audit-dependencies", {{"list", {context(R"({"libraries":["openssl"],"oldLeft":1})")}},
                                                        {"sign", {rating("risk", R"({"age":"fresh"})")}}});
  EXPECT_THAT(driven.stuck, HasSubstr("sign: "));
  EXPECT_EQ(driven.gates, 1);
}

TEST_F(Compat, AnOldRatingRequiresItsConsequence) {
  const Driven driven = run("acme.audit-dependencies",
                            {{"list", {context(R"({"libraries":[],"oldLeft":0})")}},
                             {"sign", {rating("risk", R"({"age":"old"})"), rating("risk", R"({"age":"fresh"})")}}});
  EXPECT_THAT(driven.refusals, ElementsAre("sign: ASSESSMENT_FOLLOWUP_REQUIRED"));
}

// Names of members, and values that select a kind, anywhere in a file.
void collect(const Value& value, std::set<std::string>& into) {
  if (value.is_array()) {
    for (const Value& item : value.items()) collect(item, into);
  }
  if (!value.is_object()) return;
  for (const Value::Member& member : value.members()) {
    into.insert(member.name);
    if (member.name == "type" || member.name == "kind") into.insert(member.name + "=" + member.value.as_string());
    collect(member.value, into);
  }
}

TEST(CompatFiles, UseEveryFieldOfTheFormat) {
  std::set<std::string> used;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    collect(load_document(SystemFiles(), entry.path())->root, used);
  }
  EXPECT_GE(files, 15);
  for (const char* name : {"about",
                           "acceptedKinds",
                           "agentRole",
                           "allowedTools",
                           "and",
                           "anyEqualsLevel",
                           "args",
                           "askForFiles",
                           "assessmentConsequences",
                           "assessmentRefs",
                           "assessments",
                           "audit",
                           "authoritative",
                           "body",
                           "clarificationPrompts",
                           "condition",
                           "conditionSource",
                           "constraints",
                           "contains",
                           "contextMapping",
                           "contractRef",
                           "count",
                           "default",
                           "definition",
                           "dimensions",
                           "equals",
                           "examples",
                           "extensionPoints",
                           "features",
                           "flags",
                           "forAssessment",
                           "functionCalls",
                           "functionDefinitions",
                           "functionReferences",
                           "goal",
                           "gt",
                           "gte",
                           "guidance",
                           "hasValidation",
                           "in",
                           "indexVar",
                           "itemVar",
                           "items",
                           "iterationVar",
                           "levels",
                           "loopId",
                           "lt",
                           "lte",
                           "max",
                           "maxIterations",
                           "message",
                           "metaGuidance",
                           "metricsProfile",
                           "min",
                           "modelTier",
                           "not",
                           "not_equals",
                           "notesOptional",
                           "or",
                           "outputContract",
                           "outputRequired",
                           "parallelDelegations",
                           "parameters",
                           "pattern",
                           "preconditions",
                           "procedure",
                           "promptBlocks",
                           "promptFragments",
                           "recommendedAutonomy",
                           "recommendedRiskPolicy",
                           "refId",
                           "references",
                           "required",
                           "requireConfirmation",
                           "resolveFrom",
                           "rubric",
                           "runCondition",
                           "scope",
                           "slotId",
                           "synthesis",
                           "templateCall",
                           "validatedAgainstSpecVersion",
                           "validationCriteria",
                           "verification",
                           "verify",
                           "when",
                           "workflowId",
                           "kind=artifact_contract",
                           "kind=context_variable",
                           "kind=human_approval",
                           "kind=ref",
                           "kind=require_followup",
                           "kind=text",
                           "type=contains",
                           "type=for",
                           "type=forEach",
                           "type=length",
                           "type=loop",
                           "type=parallel",
                           "type=regex",
                           "type=until",
                           "type=while"}) {
    EXPECT_TRUE(used.contains(name)) << name;
  }
}

}  // namespace
}  // namespace sb::compat

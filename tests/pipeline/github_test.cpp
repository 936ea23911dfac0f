// Runs that deliver to GitHub's stand-in: real pushes, requests over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "pipeline/forge_process.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kIssue =
    R"({"pulls":[],"issues":[{"number":7,"title":"The answer is wrong","body":"issue-body-marker","labels":["bug"],)"
    R"("state":"open"}],"comments":[{"issue":"7","user":"ann","body":"comment-marker"}],"checks":{}})";

ProgramResult run_goal(const RunFixture& place, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run", "Make the check pass", "--workspace", place.repository(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return place.run(ForgeProcess::with_token(std::move(words)));
}

ProgramResult resume(const RunFixture& place) {
  return place.run(ForgeProcess::with_token({"runs", "resume", "last", "--json"}));
}

ProgramResult answer_and_resume(const RunFixture& place, const std::string& choice) {
  const auto open = place.open_decisions();
  if (open.size() != 1) return {.code = -1, .output = {}, .errors = "not one question is open"};
  const ProgramResult answered = place.answer(open[0].string_at("decision").value_or(""), choice);
  return answered.code == 0 ? resume(place) : answered;
}

TEST(GitHub, AnIssueBecomesAMergedRequestAfterAQuestionAndIsClosed) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(lines({Line("discovery")
                          .step("interpret")
                          .expect("issue-body-marker")
                          .expect("comment-marker")
                          .expect("bug")
                          .complete(long_notes(), {interpretation()}),
                      Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}), shaped(),
                      coded(), reviewed()}));
  const ProgramResult ended = run_goal(place, {"--ticket", "acme/shop#7"});
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;  // hosted: a person merges
  EXPECT_EQ(place.delivered("answer.txt"), "");
  const ProgramResult merged = answer_and_resume(place, "merge");
  ASSERT_EQ(merged.code, 0) << merged.output << merged.errors;
  const Value state = forge.state();
  ASSERT_THAT(state["pulls"].items(), SizeIs(1));
  EXPECT_EQ(state["pulls"].items()[0]["merged"], Value(true));
  EXPECT_EQ(state["issues"].items()[0]["state"], Value("closed"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  // The commit on the base, not the pushed one.
  const std::string on_base = place.git(place.remote(), {"rev-parse", "main"}).value_or("");
  EXPECT_EQ(merged.last()["commit"], Value(on_base));
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("\ncommit " + on_base));
  const std::string all = ended.output + ended.errors + merged.output + merged.errors +
                          place.run({"runs", "export", "last"}).output + place.read("home/signalbox.db") +
                          place.read("home/signalbox.db-wal") + place.read("repo/.git/config") + to_json(state);
  EXPECT_THAT(all, Not(HasSubstr(kForgeToken)));
}

TEST(GitHub, AFixIsPushedToTheSameRequest) {
  RunFixture place(SB_PROGRAM);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings() + "merge: auto\n");
  place.script(lines({discovered(), shaped(), coded(), reviewed("minor", {finding("minor", "It is not tidy.")}),
                      fixed(), reviewed()}));
  const ProgramResult ended = run_goal(place);
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(forge.state()["pulls"].items(), SizeIs(1));
  EXPECT_EQ(place.delivered("answer.txt"), "right\nand tidy");
}

TEST(GitHub, D19_ARefusedMergeIsNotReportedAsMergedAndTheIssueStaysOpen) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  ForgeProcess forge(SB_FORGE, place, {"--refuse-merge"});
  place.configure(forge.settings() + "merge: auto\n");
  place.script(clean_run());
  const ProgramResult ended = run_goal(place, {"--ticket", "github:acme/shop#7"});
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_NE(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "");
  EXPECT_EQ(forge.state()["issues"].items()[0]["state"], Value("open"));
  EXPECT_THAT(place.work_trees(), SizeIs(1));
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  const ProgramResult left = answer_and_resume(place, "leave");
  EXPECT_EQ(place.shown()["outcome"], Value("requested")) << left.output << left.errors;
}

TEST(GitHub, AnIssueEditedDuringTheRunIsAskedAbout) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  {
    ForgeProcess forge(SB_FORGE, place);
    place.configure(forge.settings());
    place.script(clean_run());
    ASSERT_EQ(run_goal(place, {"--ticket", "github:acme/shop#7"}).code, 1);
  }
  std::string state = place.read("forge/state.json");
  state.replace(state.find("issue-body-marker"), 17, "issue-body-edited");
  place.write("forge/state.json", state);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  const ProgramResult ended = resume(place);
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  const auto asked = place.events("asked");
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[1]["payload"]["question"], Value("ticket_changed"));
}

void edit(const RunFixture& place, const std::string& from, const std::string& to) {
  std::string state = place.read("forge/state.json");
  const std::size_t at = state.find(from);
  ASSERT_NE(at, std::string::npos) << state;
  place.write("forge/state.json", state.replace(at, from.size(), to));
}

// Comments on an issue do not change its request; least of all our own.
TEST(GitHub, CommentsOnTheIssueAreReportedAndDoNotStopARun) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  ASSERT_EQ(run_goal(place, {"--ticket", "github:acme/shop#7"}).code, 1);
  edit(place, R"("comments": [)",
       R"("comments": [{"issue":"7","user":"bob","body":"Me too."},)"
       R"({"issue":"7","user":"us","body":"Done.\n<!-- signalbox: closed 1 -->"},)");
  const ProgramResult merged = answer_and_resume(place, "merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_THAT(merged.errors, HasSubstr("The ticket has a new comment since"));
  EXPECT_THAT(place.events("asked"), SizeIs(1));
}

// Its request is delivered by then.
TEST(GitHub, AnIssueEditedAfterTheMergeIsNotAskedAbout) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings() + "merge: auto\n");
  place.script(clean_run());
  edit(place, R"("pulls")", R"("instead":[{"method":"PATCH","path":"/issues/7","status":503}],"pulls")");
  ASSERT_EQ(run_goal(place, {"--ticket", "github:acme/shop#7", "--wait", "0s"}).code, 1);  // parked at the last step
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  edit(place, "issue-body-marker", "issue-body-edited");
  edit(place, "503", "0");
  const ProgramResult ended = resume(place);
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(place.events("asked"), IsEmpty());
  EXPECT_EQ(forge.state()["issues"].items()[0]["state"], Value("closed"));
}

// It is merged; that the issue is still open is reported, and closing is tried again.
TEST(GitHub, AFailureToCloseTheIssueIsReportedAndRetried) {
  for (const char* refusal : {R"({"method":"PATCH","path":"/issues/7","status":403,"body":{"message":"no-write"}})",
                              R"({"method":"PATCH","path":"/issues/7","status":422,"body":"<html>no-write</html>"})",
                              R"({"method":"PATCH","path":"/issues/7","status":200,"body":{}})",
                              R"({"method":"PATCH","path":"/issues/7","status":200})"}) {
    RunFixture place(SB_PROGRAM);
    place.write("forge/state.json", kIssue);
    ForgeProcess forge(SB_FORGE, place);
    place.configure(forge.settings() + "merge: auto\n");
    place.script(clean_run());
    edit(place, R"("pulls")", std::string(R"("instead":[)") + refusal + R"(],"pulls")");
    ProgramResult ended =
        place.run(ForgeProcess::with_token({"run", "Make the check pass", "--ticket", "github:acme/shop#7"}));
    ASSERT_EQ(ended.code, 0) << refusal << ended.output << ended.errors;
    EXPECT_THAT(ended.output, HasSubstr("The ticket is still open")) << refusal;
    EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("the ticket is still open")) << refusal;
    ended = resume(place);
    EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
    EXPECT_TRUE(ended.last().string_at("ticket_open")) << ended.output;
    edit(place, "PATCH", "NONE");
    ended = resume(place);
    EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
    EXPECT_FALSE(ended.last().string_at("ticket_open")) << ended.output;
    EXPECT_EQ(forge.state()["issues"].items()[0]["state"], Value("closed")) << refusal;
    EXPECT_EQ(place.shown()["outcome"], Value("merged"));
    EXPECT_THAT(forge.state()["comments"].items(), SizeIs(2));
  }
}

// Merged by hand while the question was open: nothing is left to ask.
TEST(GitHub, ARequestMergedByHandEndsTheRunMerged) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", kIssue);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  ASSERT_EQ(run_goal(place, {"--ticket", "#7"}).code, 1);
  const std::string branch = place.remote_branches().back();
  ASSERT_TRUE(place.git(place.remote(), {"update-ref", "refs/heads/main", branch}));
  const std::string commit = place.git(place.remote(), {"rev-parse", "main"}).value_or("");
  edit(place, R"("merged": false)", R"("merged": true, "merge_commit_sha": ")" + commit + "\"");
  edit(place, R"("state": "open")", R"("state": "closed")");
  const ProgramResult ended = resume(place);
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_THAT(place.open_decisions(), IsEmpty());
}

TEST(GitHub, ARequestClosedByHandIsReportedAndMergesOnceReopened) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", R"({"pulls":[]})");
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  ASSERT_EQ(run_goal(place).code, 1);
  edit(place, R"("state": "open")", R"("state": "closed")");
  const ProgramResult ended = resume(place);
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("Merge it, now that it is open again"));
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(to_json(place.events("escalated").back()), HasSubstr("the change request was closed"));
  edit(place, R"("state": "closed")", R"("state": "open")");
  const ProgramResult merged = answer_and_resume(place, "retry");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
}

// The token expired: nothing that a fixer could fix.
TEST(GitHub, AForgeThatDeniesAccessIsRetried) {
  RunFixture place(SB_PROGRAM);
  place.write(
      "forge/state.json",
      R"({"pulls":[],"instead":[{"method":"GET","path":"/check-runs","status":401,"body":{"message":"Bad"}}]})");
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings() + "merge: auto\n");
  place.script(clean_run());
  const ProgramResult ended = run_goal(place);
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("Try it again"));
  EXPECT_THAT(ended.errors, Not(HasSubstr("Fix once more")));
  edit(place, "check-runs", "none");
  const ProgramResult again = answer_and_resume(place, "retry");  // then asks about merging, after an escalation
  EXPECT_EQ(again.code, 1) << again.output << again.errors;
  EXPECT_EQ(answer_and_resume(place, "merge").code, 0);
}

TEST(GitHub, RejectsAClosedIssueAndAcceptsATokenWithALineFeed) {
  RunFixture place(SB_PROGRAM);
  std::string issue = kIssue;
  place.write("forge/state.json", issue.replace(issue.find(R"("open")"), 6, R"("closed")"));
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings() + "merge: auto\n");
  place.script(clean_run());
  Start start = ForgeProcess::with_token({"run", "Make the check pass", "--ticket", "acme/shop#7"});
  start.environment.back() += "\n";
  const ProgramResult ended = place.run(start);
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("github:acme/shop#7 is already closed"));
}

std::string forge_state(const std::string& more) {
  return R"({"pulls":[],"issues":[],"comments":[],"checks":{},)" + more + "}";
}

TEST(GitHub, ATokenWithoutPushPermissionIsReportedBeforeAnythingIsSpent) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", forge_state(R"("repository":{"permissions":{"push":false}})"));
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  const ProgramResult ended = run_goal(place);
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.output + ended.errors, HasSubstr("can read acme/shop but not push"));
  EXPECT_THAT(place.events(), IsEmpty());
}

TEST(GitHub, AnArchivedRepositoryIsReportedBeforeAnythingIsSpent) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", forge_state(R"("repository":{"archived":true})"));
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  EXPECT_THAT(run_goal(place).errors, HasSubstr("archived"));
  EXPECT_THAT(place.events(), IsEmpty());
}

TEST(GitHub, ABranchThatMustBeUpToDateIsUpdatedAutomatically) {
  RunFixture place(SB_PROGRAM);
  place.write("forge/state.json", forge_state(R"("strict":true)"));
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  ASSERT_EQ(run_goal(place).code, 1);
  place.commit("meanwhile.txt", "pushed first\n");
  const ProgramResult merged = answer_and_resume(place, "merge");
  ASSERT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered("meanwhile.txt"), "pushed first");
  EXPECT_THAT(forge.state()["pulls"].items(), SizeIs(1));
}

TEST(GitHub, AConflictWithTheBaseIsAskedAboutAndNamesTheFile) {
  RunFixture place(SB_PROGRAM);
  ForgeProcess forge(SB_FORGE, place);
  place.configure(forge.settings());
  place.script(clean_run());
  ASSERT_EQ(run_goal(place).code, 1);
  place.commit("answer.txt", "another answer\n");
  ASSERT_EQ(answer_and_resume(place, "merge").code, 1);
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("answer.txt"));
  EXPECT_EQ(place.delivered("answer.txt"), "another answer");
}

TEST(GitHub, ACutAtAnyRequestDoesNotChangeTheResult) {
  std::size_t requests = 0;
  {
    RunFixture place(SB_PROGRAM);
    place.write("forge/state.json", kIssue);
    ForgeProcess forge(SB_FORGE, place);
    place.configure(forge.settings() + "merge: auto\n");
    place.script(clean_run());
    const ProgramResult ended = run_goal(place, {"--ticket", "github:acme/shop#7"});
    ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
    requests = forge.requests();
  }
  ASSERT_GE(requests, 6u);
  std::atomic<std::size_t> next = 0;
  const auto cut_some = [&] {
    for (std::size_t i; (i = next++) < requests * 2;) {
      RunFixture place(SB_PROGRAM);
      place.write("forge/state.json", kIssue);
      ForgeProcess forge(SB_FORGE, place,
                         {"--cut-request", std::to_string(i / 2 + 1), i % 2 == 0 ? "before" : "after"});
      place.configure(forge.settings() + "merge: auto\n");
      place.script(clean_run());
      ProgramResult ended = run_goal(place, {"--ticket", "github:acme/shop#7", "--wait", "30s"});
      for (int again = 0; again < 3 && ended.code != 0; ++again) {
        ended = place.shown().is_object() ? resume(place) : run_goal(place, {"--ticket", "github:acme/shop#7"});
      }
      const std::string where = "request " + std::to_string(i / 2 + 1) + (i % 2 == 0 ? " before: " : " after: ");
      EXPECT_EQ(ended.code, 0) << where << ended.output << ended.errors;
      const Value state = forge.state();
      EXPECT_EQ(state["pulls"].size(), 1u) << where << to_json(state);
      EXPECT_EQ(state["issues"].items()[0]["state"], Value("closed")) << where;
      std::size_t closing = 0;
      for (const Value& comment : state["comments"].items()) closing += comment["user"] != Value("ann");
      EXPECT_LE(closing, 1u) << where << to_json(state);
      EXPECT_EQ(place.delivered("answer.txt"), "right") << where;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(cut_some);
  }
  std::printf("%zu requests, each cut before and after it was acted on\n", requests);
}

}  // namespace
}  // namespace sb::pipeline_tests

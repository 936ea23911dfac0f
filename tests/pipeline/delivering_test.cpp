// Between a work tree and a merged change: scope, checks, secrets, the remote, the forge.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Value write_call(const std::string& file, const std::string& text) {
  return Value::object({{"file_path", file}, {"content", text}});
}

// The step of that round; null when it was not made.
Value step_of(const RunFixture& place, const std::string& step, int round = 0) {
  for (const Value& event : place.events("delivered")) {
    const Value& payload = event["payload"];
    if (payload["step"] == Value(step) && payload["round"] == Value(round)) return payload;
  }
  return {};
}

std::string coded_beside(const std::string& other) {
  return lines({Line("coding")
                    .step("build")
                    .call("Write", write_call("answer.txt", "right\n"))
                    .call("Write", write_call(other, "beside\n")),
                Line("coding").step("build").complete(long_notes()),
                Line("coding").step("hand-off").complete(long_notes(), {coding_handoff({"answer.txt"})})});
}

TEST(Scope, AnUndeclaredFileBlocksDeliveryAndIsReportedToTheFixer) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), shaped(), coded_beside("undeclared.txt"),
             Line("fix").expect("undeclared.txt").call("Bash", Value::object({{"command", "rm undeclared.txt"}})),
             Line("fix").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  const Value refused = step_of(place, "scope");
  EXPECT_EQ(refused["passed"], Value(false));
  EXPECT_THAT(to_json(refused["findings"]), HasSubstr("undeclared.txt"));
  EXPECT_EQ(place.delivered("undeclared.txt"), "");
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  // Nothing of the rejected round was pushed.
  EXPECT_EQ(place.delivered_commits(), 1);
}

TEST(Scope, ViolatedAgainGoesToAPersonAndNothingIsPushed) {
  RunFixture place(SB_PROGRAM);
  place.configure("protected: [check]");
  place.script(lines({discovered(), shaped(),
                      Line("coding").step("build").call("Bash", Value::object({{"command", "echo true > check"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff({"check"})}),
                      Line("fix").complete(long_notes(), {coding_handoff({"check"})}),
                      Line("fix").complete(long_notes(), {coding_handoff({"check"})})}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("check"));
  EXPECT_THAT(place.remote_branches(), SizeIs(1));
  EXPECT_THAT(place.work_trees(), SizeIs(1));
}

// Changes auth.txt in a way that the interlock cannot see in the command.
constexpr const char* kHiddenWrite = "awk 'BEGIN { print \"open\" > \"auth\" \".txt\" }'";

TEST(Scope, WhatShapingPutOutOfScopeIsRefusedWhileCoding) {
  RunFixture place(SB_PROGRAM);
  place.commit("auth.txt", "locked\n");
  place.commit("legacy/old.txt", "old\n");
  const auto bash = [](const std::string& command) { return Value::object({{"command", command}}); };
  const auto refused = [](const std::string& sentence) {
    return "was refused: " + sentence + " is out of scope for this session";
  };
  const std::string auth = "Do not touch auth.txt.", legacy = "Leave `legacy/` alone.";
  place.script(
      lines({discovered(), shaped({.out_of_scope = {auth, legacy}}),
             Line("coding").step("build").call("Write", write_call("auth.txt", "open\n")),
             Line("coding").step("build").expect(refused(auth)).call("Bash", bash("echo open > auth.txt")),
             Line("coding").step("build").expect(refused(auth)).call("Bash", bash("rm -r legacy")),
             Line("coding").step("build").expect(refused(legacy)).call("Write", write_call("legacy/new.txt", "new\n")),
             coded("right\n"), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(step_of(place, "scope")["passed"], Value(true));
  EXPECT_EQ(place.delivered("auth.txt"), "locked");
}

TEST(Scope, AViolationIsReportedToReviewerAndFixerAndBlocks) {
  RunFixture place(SB_PROGRAM);
  place.commit("auth.txt", "locked\n");
  const std::string forbidden = "Do not touch auth.txt.";
  place.script(
      lines({discovered(), shaped({.out_of_scope = {forbidden}, .checklist = {"auth.txt looks as before."}}),
             Line("coding")
                 .step("build")
                 .expect(forbidden)
                 .call("Write", write_call("answer.txt", "right\n"))
                 .call("Bash", Value::object({{"command", kHiddenWrite}})),
             Line("coding").step("build").complete(long_notes()),
             Line("coding").step("hand-off").complete(long_notes(), {coding_handoff({"answer.txt", "auth.txt"})}),
             // Declared as changed and out of scope: the fixer gets both facts.
             Line("fix")
                 .expect(forbidden)
                 .expect("auth.txt looks as before.")
                 .expect("- auth.txt")
                 .complete(long_notes(), {coding_handoff({"answer.txt", "auth.txt"})}),
             Line("fix").complete(long_notes(), {coding_handoff({"answer.txt", "auth.txt"})})}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  const Value refused = step_of(place, "scope");
  EXPECT_EQ(refused["passed"], Value(false));
  EXPECT_THAT(to_json(refused["findings"]), HasSubstr("auth.txt"));
  EXPECT_THAT(place.remote_branches(), SizeIs(1));

  // A person lets it pass: then the reviewer gets both facts, too.
  place.script(place.read("script.jsonl") + std::string(Line("review")
                                                            .expect(forbidden)
                                                            .expect("auth.txt looks as before.")
                                                            .expect("+++ b/auth.txt")
                                                            .expect("+open")
                                                            .complete(long_notes(), {verdict("clean")})));
  const ProgramResult on = place.answer_and_resume("accept");
  ASSERT_EQ(on.code, 1) << on.output << on.errors;
  EXPECT_EQ(place.delivered("auth.txt"), "locked");
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("auth.txt"), "open");
}

TEST(Checks, ThatFailGoToTheFixer) {
  RunFixture place(SB_PROGRAM);
  place.commit("check", "#!/bin/sh\ngrep -q '^right$' answer.txt || { echo 'the answer is not right'; exit 3; }\n",
               true);
  place.script(
      lines({discovered(), shaped(), coded("wrong\n"),
             Line("fix").expect("the answer is not right").call("Read", Value::object({{"file_path", "answer.txt"}})),
             Line("fix").call("Write", write_call("answer.txt", "right\n")),
             Line("fix").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(step_of(place, "checks")["passed"], Value(false));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 2);  // one is the check's own
}

TEST(Checks, ThatHangAreKilledAndReported) {
  RunFixture place(SB_PROGRAM);
  place.configure("checks: [{name: slow, run: sleep 600, time: 1s}]\nfix_rounds: 0");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(to_json(step_of(place, "checks")["findings"]), HasSubstr("slow"));
  EXPECT_THAT(place.remote_branches(), SizeIs(1));
}

TEST(Secrets, InTheDiffBlockAndTheirValueIsNeverShown) {
  RunFixture place(SB_PROGRAM);
  const std::string secret = "ghp_" + std::string("A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
  place.configure("fix_rounds: 0");
  place.script(lines({discovered(), shaped(), coded("right\ntoken = " + secret + "\n")}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  const Value refused = step_of(place, "secrets");
  EXPECT_EQ(refused["passed"], Value(false));
  EXPECT_THAT(to_json(refused["findings"]), HasSubstr("answer.txt"));
  const std::string all = ended.output + ended.errors + place.run({"runs", "export", "last"}).output +
                          place.run({"runs", "show", "last", "--json"}).output +
                          place.run({"inbox", "list", "--json"}).output;
  EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_THAT(place.remote_branches(), SizeIs(1));
}

TEST(Remote, ThatRejectsThePushGoesToAPersonAndCanBeRetried) {
  RunFixture place(SB_PROGRAM);
  place.write("remote.git/hooks/pre-receive", "#!/bin/sh\necho 'closed for the day' >&2\nexit 1\n", true);
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("closed for the day"));
  EXPECT_THAT(place.work_trees(), SizeIs(1));
  std::filesystem::remove(place.remote() + "/hooks/pre-receive");
  place.answer_and_resume("retry");
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered_commits(), 1);
}

TEST(Remote, D19_ARefusedMergeIsNotReportedAsMerged) {
  RunFixture place(SB_PROGRAM);
  place.write(
      "remote.git/hooks/pre-receive",
      "#!/bin/sh\nwhile read old new ref; do [ $ref = refs/heads/main ] && { echo 'main is frozen' >&2; exit 1; }; "
      "done\nexit 0\n",
      true);
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_NE(place.shown()["outcome"], Value("merged"));
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("main is frozen"));
  EXPECT_THAT(place.work_trees(), SizeIs(1));
  std::filesystem::remove(place.remote() + "/hooks/pre-receive");
  const ProgramResult merged = place.answer_and_resume("retry");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Remote, WhoseMainAdvancedGetsBothChanges) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  place.commit("meanwhile.txt", "pushed first\n");
  const ProgramResult ended = place.answer_and_resume("merge");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("meanwhile.txt"), "pushed first");
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 2);
  EXPECT_THAT(place.work_trees(), IsEmpty());
  // What is merged is what was checked.
  EXPECT_THAT(
      place.events("delivered"),
      Contains(::testing::ResultOf([](const Value& event) { return event["payload"]["step"]; }, Value("update"))));
}

TEST(Remote, WhoseMainConflictsGoesToAPersonWithTheFileName) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  place.commit("answer.txt", "another answer\n");
  ASSERT_EQ(place.answer_and_resume("merge").code, 1);
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("answer.txt"));
  EXPECT_EQ(place.delivered("answer.txt"), "another answer");
  ASSERT_THAT(place.work_trees(), SizeIs(1));
  const ProgramResult left = place.answer_and_resume("leave");
  EXPECT_EQ(place.shown()["outcome"], Value("requested")) << left.output << left.errors;
}

TEST(Remote, FiveParallelRunsOnDifferentFilesAllMerge) {
  RunFixture place(SB_PROGRAM);
  place.configure("checks: [\"ls *.txt\"]");
  std::vector<std::string> replies = {discovered(), shaped()};
  for (int i = 0; i < 5; ++i) {
    const std::string goal = fmt::format("the file number {} ", i), file = fmt::format("{}.txt", i);
    replies.push_back(
        lines({Line("coding").step("build").when_contains(goal).call("Write", write_call(file, "made\n")),
               Line("coding").step("build").when_contains(goal).complete(long_notes()),
               Line("coding").step("hand-off").when_contains(goal).complete(long_notes(), {coding_handoff({file})})}));
  }
  replies.push_back(reviewed());
  place.script(lines(replies));
  std::vector<ProgramResult> ended(5);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ended.size(); ++i) {
      threads.emplace_back(
          [&, i] { ended[i] = place.run_goal(fmt::format("Make the file number {} here", i), {"--wait", "90s"}); });
    }
  }
  for (std::size_t i = 0; i < ended.size(); ++i) {
    EXPECT_EQ(ended[i].code, 0) << ended[i].output << ended[i].errors;
    EXPECT_EQ(place.delivered(fmt::format("{}.txt", i)), "made");
  }
  EXPECT_EQ(place.delivered_commits(), 5);
  EXPECT_THAT(place.work_trees(), IsEmpty());
}

// Everything that can be known is reported before an agent has done anything.
void expect_refused(const RunFixture& place, const std::string& word) {
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.output + ended.errors, HasSubstr(word));
  EXPECT_THAT(place.events(), IsEmpty());
}

TEST(Remote, WithABlockingBranchIsReportedImmediately) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  place.git(place.remote(), {"branch", "signalbox", "main"});
  expect_refused(place, "the branch signalbox on origin exists");
}

TEST(Remote, WithoutTheBaseIsReportedImmediately) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  place.configure("base: trunk");
  expect_refused(place, "has no branch trunk; it has main");
  place.configure();
  place.git(place.remote(), {"update-ref", "-d", "refs/heads/main"});
  expect_refused(place, "is empty");
}

TEST(InPlace, TheCheckoutReturnsToItsBranch) {
  RunFixture place(SB_PROGRAM);
  place.configure("branch: {strategy: none}");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.git(place.repository(), {"symbolic-ref", "--short", "HEAD"}), "main");
  EXPECT_EQ(place.git(place.repository(), {"status", "--porcelain"}), "");
  EXPECT_EQ(place.git(place.repository(), {"for-each-ref", "--format=%(refname)", "refs/signalbox/was"}), "");
}

TEST(InPlace, ACheckoutWithUndeliveredWorkStaysAndIsReported) {
  RunFixture place(SB_PROGRAM);
  place.configure("branch: {strategy: none}\nmerge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  place.write("repo/mine.txt", "not yet\n");
  const ProgramResult ended = place.answer_and_resume("merge");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(place.git(place.repository(), {"symbolic-ref", "--short", "HEAD"}).value_or(""), HasSubstr("signalbox/"));
  EXPECT_EQ(place.read("repo/mine.txt"), "not yet\n");
  EXPECT_THAT(to_json(place.events("ended").at(0)["payload"]["kept"]), HasSubstr("mine.txt"));
}

TEST(InPlace, LocalCommitsAreNotDelivered) {
  RunFixture place(SB_PROGRAM);
  place.configure("branch: {strategy: none}");
  place.script(clean_run());
  place.write("repo/unpushed.txt", "mine\n");
  place.git(place.repository(), {"add", "--all"});
  place.git(place.repository(), {"commit", "--quiet", "--message", "Mine"});
  expect_refused(place, "strategy none works in the checkout");
}

TEST(Delivery, D08_PushesBeforeOpeningTheRequestAndBeforeReviewingFixes) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), shaped(), coded(), reviewed("minor", {finding("nit", "Untidy.")}), fixed(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  std::vector<std::string> sequence;
  for (const Value& event : place.events()) {
    const std::string type = event.string_at("type").value_or("");
    if (type == "delivered") sequence.push_back(event["payload"].string_at("step").value_or(""));
    if (type == "phase_started") sequence.push_back(event["payload"].string_at("phase").value_or(""));
  }
  const auto at = [&](const std::string& name, std::ptrdiff_t from) {
    return std::find(sequence.begin() + from, sequence.end(), name) - sequence.begin();
  };
  const auto review = at("review", 0);
  EXPECT_LT(at("push", 0), at("request", 0));
  EXPECT_LT(at("request", 0), review);
  EXPECT_LT(at("commit", review), at("push", review));
  EXPECT_LT(at("push", at("fix", 0)), at("review", review + 1));
}

TEST(Delivery, CommitsNameTheRunAndNotTheUser) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const std::string run = place.run_id();
  const std::string commit = place.git(place.remote(), {"log", "-1", "--format=%an%n%B", "main"}).value_or("");
  EXPECT_THAT(commit, HasSubstr("Signalbox"));
  EXPECT_THAT(commit, HasSubstr(run));
  EXPECT_THAT(place.read("repo/.git/config"), Not(HasSubstr("[user]")));
}

}  // namespace
}  // namespace sb::pipeline_tests

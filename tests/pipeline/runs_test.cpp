// `signalbox runs`: listing, showing and stopping runs; and ways to call `run`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

TEST(Runs, ListAndShowAreReadable) {
  RunFixture place(SB_PROGRAM);
  EXPECT_THAT(place.run({"runs", "list"}).output, HasSubstr("There are no runs yet"));
  place.script(lines({discovered(), shaped(), coded(), reviewed("minor", {finding("minor", "No\x1b[2J title.")}),
                      fixed(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const ProgramResult list = place.run({"runs", "list"});
  EXPECT_THAT(list.output, HasSubstr("merged"));
  EXPECT_THAT(list.output, HasSubstr("Make the check pass"));
  const ProgramResult page = place.run({"runs", "show", "last"});
  for (const char* part : {"discovery", "fix 1", "review 1", "minor: No", "request_checks", "merged", "read as"}) {
    EXPECT_THAT(page.output, HasSubstr(part));
  }
  EXPECT_THAT(page.output, Not(HasSubstr("\x1b")));
  EXPECT_EQ(place.run({"runs", "show", "r-nothing"}).code, 2);
}

TEST(Runs, PrintLinesWithoutATerminalAndJsonForPrograms) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult ended = place.run({"run", "Make the check pass"});
  ASSERT_EQ(ended.code, 0) << said(ended);
  EXPECT_THAT(ended.output, HasSubstr("coding: done"));
  EXPECT_THAT(ended.output, Not(HasSubstr("\x1b")));
  RunFixture other(SB_PROGRAM);
  other.script(clean_run());
  const ProgramResult json = other.run_goal("Make the check pass");
  EXPECT_EQ(json.last()["type"], Value("result"));
  EXPECT_EQ(json.last()["outcome"], Value("merged"));
}

TEST(Runs, ReportAMissingSandbox) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  std::filesystem::create_directories(place.root() + "/bin");
  for (const char* name : {"sh", "git", "cat", "grep", "test", "rm"}) {
    std::filesystem::create_symlink(std::string("/usr/bin/") + name, place.root() + "/bin/" + name);
  }
  const std::string path = "PATH=" + place.root() + "/bin";
  const ProgramResult refused = place.run({.arguments = {"run", "Make the check pass"}, .environment = {path}});
  EXPECT_EQ(refused.code, 2) << said(refused);
  EXPECT_THAT(refused.errors, HasSubstr("write sandbox: {mode: none}"));
  EXPECT_TRUE(place.events("opened").empty());
  place.configure("sandbox: {mode: none}");
  const ProgramResult ended = place.run({.arguments = {"run", "Make the check pass"}, .environment = {path}});
  ASSERT_EQ(ended.code, 0) << said(ended);
  const auto note = ended.output.find("no sandbox (turned off by sandbox: {mode: none} in config.yaml)");
  ASSERT_NE(note, std::string::npos) << said(ended);
  EXPECT_LT(note, ended.output.find("discovery: started"));
  EXPECT_THAT(place.run({"runs", "show", "last"}).output,
              HasSubstr("no sandbox (turned off by sandbox: {mode: none} in"));
  EXPECT_EQ(place.shown()["sandbox"], Value("none: turned off by sandbox: {mode: none} in config.yaml"));
  EXPECT_EQ(place.events("opened").at(0)["payload"]["sandbox"],
            Value("none: turned off by sandbox: {mode: none} in config.yaml"));
}

// Only one process at a time drives a run.
TEST(Runs, AreDrivenByOneProcess) {
  RunFixture place(SB_PROGRAM);
  place.script(lines(
      {discovered(), shaped(), std::string(Line("coding").step("build").delay_ms(3'000).complete(long_notes()))}));
  ProgramResult first;
  std::jthread running([&] { first = place.run_goal("Make the check pass"); });
  for (int i = 0; i < 200 && place.events("phase_ended").size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const ProgramResult second = place.resume();
  running.join();
  EXPECT_NE(second.code, 0);
  EXPECT_THAT(said(second), HasSubstr("another process"));
}

TEST(Runs, KeepUndeliveredWorkWhenStopped) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(lines({discovered(), shaped(), coded(), std::string(Line("review").error("auth", "no").repeat())}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  const auto tree = place.work_trees();
  ASSERT_THAT(tree, SizeIs(1));
  std::ofstream(tree[0] + "/answer.txt") << "mine\n";
  const ProgramResult stopped = place.run({"runs", "stop", "last", "--reason", "enough"});
  EXPECT_EQ(stopped.code, 0) << said(stopped);
  EXPECT_EQ(place.shown()["outcome"], Value("stopped"));
  EXPECT_EQ(place.shown()["reason"], Value("enough"));
  EXPECT_THAT(place.open_decisions(), IsEmpty());  // its questions are closed
  EXPECT_TRUE(std::filesystem::exists(tree[0] + "/answer.txt"));
  EXPECT_EQ(place.resume().code, 1);  // a finished run stays finished
  EXPECT_EQ(place.run({"runs", "stop", "last"}).code, 0);
}

TEST(Runs, ShowPossibleAnswersAndWhereWorkIsLeft) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  const ProgramResult asked = place.run_goal("Make the check pass");
  ASSERT_EQ(asked.code, 1) << said(asked);
  EXPECT_THAT(asked.errors, HasSubstr(" 1|2|3\n  1 Merge it\n  2 Fix once more\n  3 Leave the request open\nResume"));
  ASSERT_EQ(place.answer(place.open_decisions().at(0).string_at("decision").value_or(""), "merge").code, 0);
  const auto trees = place.work_trees();
  ASSERT_THAT(trees, SizeIs(1));
  std::ofstream(trees[0] + "/mine.txt") << "not delivered\n";
  const ProgramResult merged = place.run({"runs", "resume", "last"});
  EXPECT_EQ(merged.code, 0) << said(merged);
  EXPECT_THAT(merged.output, HasSubstr("Undelivered work is in " + trees[0]));

  RunFixture other(SB_PROGRAM);
  other.script(lines({discovered(), shaped(), std::string(Line("coding").error("auth", "no").repeat())}));
  ASSERT_EQ(other.run_goal("Make the check pass").code, 1);
  const ProgramResult answered = other.answer(other.open_decisions().at(0).string_at("decision").value_or(""), "stop");
  ASSERT_EQ(answered.code, 0) << said(answered);
  const ProgramResult stopped = other.run({"runs", "resume", "last"});
  EXPECT_THAT(stopped.output, HasSubstr("stopped"));
  EXPECT_THAT(other.work_trees(), IsEmpty());
  EXPECT_THAT(said(stopped), Not(HasSubstr("Undelivered work")));
}

TEST(Runs, WaitForWhatTheirTicketDependsOn) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult early =
      place.run_with_ticket("Second", "---\nid: T-2\ndepends_on: [T-1]\n---\nAfter the first.\n");
  EXPECT_EQ(early.code, 1) << said(early);
  EXPECT_THAT(said(early), HasSubstr("T-1"));
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
  const std::string waiting = place.shown().string_at("run").value_or("");
  ASSERT_EQ(place.run_with_ticket("First", "---\nid: T-1\n---\nThe first.\n").code, 0);
  place.write("ticket.md", "---\nid: T-2\ndepends_on: [T-1]\n---\nAfter the first.\n");
  place.script(lines({discovered(), shaped(), coded("right\n", "other.txt"), reviewed()}));
  const ProgramResult on = place.resume(waiting);
  EXPECT_EQ(on.code, 0) << said(on);
}

TEST(Runs, WaitForTicketsOfTheirOwnRepository) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_with_ticket("First", "---\nid: T-1\n---\nThe first.\n").code, 0);
  const std::string other = place.root() + "/other", remote = place.root() + "/other.git";
  ASSERT_TRUE(place.git(place.root(), {"clone", "--quiet", "--bare", place.remote(), remote}));
  ASSERT_TRUE(place.git(place.root(), {"clone", "--quiet", remote, other}));
  place.write("second.md", "---\nid: T-2\ndepends_on: [T-1]\n---\nAfter the first.\n");
  place.script(lines({discovered(), shaped(), coded("right\n", "other.txt"), reviewed()}));
  const ProgramResult early =
      place.run({"run", "Second", "--workspace", other, "--ticket", place.root() + "/second.md", "--json"});
  EXPECT_EQ(early.code, 1) << said(early);
  EXPECT_THAT(said(early), HasSubstr("T-1, which no run of this repository has merged"));
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
}

struct Use {
  std::vector<std::string> words;
  const char* says;
};
class WrongUse : public testing::TestWithParam<Use> {};
TEST_P(WrongUse, IsReportedAndNothingIsStarted) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult ended = place.run(GetParam().words);
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr(GetParam().says));
  EXPECT_THAT(place.run({"runs", "list", "--json"}).output, HasSubstr("[]"));
}
INSTANTIATE_TEST_SUITE_P(All, WrongUse,
                         testing::Values(Use{{"run"}, "a goal or a ticket is required"}, Use{{"run", "  "}, "is empty"},
                                         Use{{"run", "x", "--mode", "full"}, "unknown mode"},
                                         Use{{"run", "x", "--wait", "soon"}, "soon"},
                                         Use{{"run", "x", "--ticket", "nowhere.md"}, "nowhere.md"},
                                         Use{{"run", "Review PR #12"}, "--mode FULL"},
                                         Use{{"run", "x", "--workspace", "/nowhere"}, "/nowhere"},
                                         Use{{"run", "x\xff"}, "UTF-8"},
                                         Use{{"run", "--replay", "r-none"}, "unknown run"}));

}  // namespace
}  // namespace sb::pipeline_tests

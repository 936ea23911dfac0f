// Running runs, observed and controlled from another terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "base/document/document.hpp"
#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "pipeline/under_way.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

// Every command reports the same.
void expect_status(const RunFixture& place, const std::string& word, bool is_driven, const std::string& status) {
  const Value shown = place.shown();
  EXPECT_EQ(shown["standing"], Value(word));
  EXPECT_EQ(shown["driven"], Value(is_driven));
  EXPECT_EQ(shown["status"], Value(status));
  EXPECT_THAT(place.run({"runs", "list"}).output, HasSubstr("  " + word + " "));
  const auto listed = parse_json(place.run({"runs", "list", "--json"}).output);
  ASSERT_TRUE(listed && (*listed)["runs"].size() == 1);
  const Value& run = (*listed)["runs"].items()[0];
  EXPECT_EQ(run["standing"], Value(word));
  EXPECT_EQ(run["driven"], Value(is_driven));
  EXPECT_EQ(run["status"], Value(status));
  const std::string page = place.run({"runs", "show", "last"}).output;
  EXPECT_THAT(page, HasSubstr("  " + word + "\n"));
  const std::string resume = "Resume with: signalbox runs resume";
  if (is_driven) {
    EXPECT_THAT(page, Not(HasSubstr(resume)));
  } else {
    EXPECT_THAT(page, HasSubstr(resume));
  }
}

TEST(RunStatus, DistinguishesADrivenRunFromAKilledOne) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_agent_script(), reviewed()}));
  BackgroundProgram running(place, "Make the check pass");
  ASSERT_NE(wait_for_agent(place), "");
  expect_status(place, "running", true, "running");
  running.send(SIGKILL);
  running.wait();
  expect_status(place, "interrupted", false, "running");
  place.run({"runs", "stop", "last"});
  EXPECT_EQ(place.shown()["standing"], Value("stopped"));
}

TEST(RunStatus, ShowsWhoMustActNext) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_agent_script(), reviewed()}));
  BackgroundProgram running(place, "Make the check pass");
  ASSERT_NE(wait_for_agent(place), "");
  const std::string session = session_of(place, "coding");
  ASSERT_EQ(place.run({"session", "pause", session}).code, 0);
  expect_status(place, "paused", true, "running");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox session unpause " + session));
  running.send(SIGINT);
  const ProgramResult left = running.wait();
  EXPECT_EQ(left.last()["standing"], Value("paused")) << said(left);
  expect_status(place, "paused", false, "running");
  ASSERT_EQ(place.run({"session", "take-over", session}).code, 0);
  expect_status(place, "taken over", false, "running");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox session retry " + session));
}

TEST(RunStatus, DistinguishesAnOpenQuestionFromAnAnsweredOne) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  const ProgramResult asked = place.run_goal("Make the check pass");
  EXPECT_EQ(asked.last()["standing"], Value("waiting for you")) << said(asked);
  expect_status(place, "waiting for you", false, "waiting");
  const std::string decision = place.open_decisions().at(0).string_at("decision").value_or("");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox inbox answer " + decision));
  {
    const BackgroundProgram waiting(place, {"runs", "resume", "last", "--wait", "10m", "--json"});
    ASSERT_TRUE(becomes_true([&] { return place.shown()["driven"] == Value(true); }));
    expect_status(place, "waiting for you", true, "waiting");
  }
  ASSERT_EQ(place.answer(decision, "merge").code, 0);
  expect_status(place, "interrupted", false, "waiting");
}

TEST(RunQuestions, NeedASignatureWhereConfirmationsAreSigned) {
  RunFixture place(SB_PROGRAM);
  const std::string passphrase = "correct horse\n";
  ASSERT_EQ(place.run({.arguments = {"operator", "init", "--name", "ann"}, .input = passphrase}).code, 0);
  place.configure("merge: ask\nconfirmations: signed");
  place.script(clean_run());
  const ProgramResult asked = place.run_goal("Make the check pass");
  EXPECT_EQ(asked.last()["question"], Value("merge")) << said(asked);
  const std::string decision = place.open_decisions().at(0).string_at("decision").value_or("");
  EXPECT_NE(place.answer(decision, "merge").code, 0);
  EXPECT_EQ(place.open_decisions().size(), 1u);
  const ProgramResult doctor = place.run({"doctor"});
  EXPECT_THAT(doctor.output, Not(HasSubstr("open now, without a signature")));
  ASSERT_EQ(place.run({.arguments = {"inbox", "answer", decision, "merge"}, .input = passphrase}).code, 0);
  EXPECT_EQ(place.resume().code, 0);
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
}

// A run whose coding agent was killed while it waited, and the next turns of the agent.
struct Killed {
  explicit Killed(RunFixture& at) : place(at) {
    place.script(
        lines({discovered(), shaped(),
               Line("coding").step("build").call("Write",
                                                 Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
               Line("coding").step("build").call("Bash", Value::object({{"command", "touch waits; sleep 600"}})),
               Line("coding").step("build").call("Bash", Value::object({{"command", "rm waits"}})),
               Line("coding").step("build").complete(long_notes()),
               Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  }
  void kill() {
    tree = wait_for_agent(place);
    session = session_of(place, "coding");
    const ProgramResult killed = place.run({"session", "kill", session});
    EXPECT_EQ(killed.code, 0) << said(killed);
  }

  RunFixture& place;
  std::string tree, session;
};

TEST(Retry, SettlesTheQuestionOfTheDrivingProcessWhichContinues) {
  RunFixture place(SB_PROGRAM);
  Killed killed(place);
  BackgroundProgram running(
      place, {"run", "Make the check pass", "--workspace", place.repository(), "--json", "--wait", "10m"});
  killed.kill();
  ASSERT_TRUE(becomes_true([&] { return place.open_decisions().size() == 1; }));
  expect_status(place, "waiting for you", true, "waiting");
  const ProgramResult retried = place.run({"session", "retry", killed.session, "--json"});
  EXPECT_EQ(retried.last()["driven"], Value(true)) << said(retried);
  ASSERT_TRUE(becomes_true([&] { return place.events("asked").size() == 2; })) << "the run asks about merging";
  const auto open = place.open_decisions();
  ASSERT_THAT(open, SizeIs(1));
  ASSERT_EQ(place.answer(open[0].string_at("decision").value_or(""), "merge").code, 0);
  const ProgramResult ended = running.wait();
  EXPECT_EQ(ended.code, 0) << said(ended);
  EXPECT_EQ(session_of(place, "coding"), killed.session);
  EXPECT_EQ(place.shown()["decisions"].items().at(0)["choice"], Value("(retried)"));
}

TEST(Retry, ImmediatelyAfterAKillIsNotLost) {
  RunFixture place(SB_PROGRAM);
  Killed killed(place);
  BackgroundProgram running(place, "Make the check pass");
  killed.kill();
  const ProgramResult retried = place.run({"session", "retry", killed.session});
  EXPECT_EQ(retried.code, 0) << said(retried);
  const ProgramResult again = place.run({"session", "retry", killed.session});
  EXPECT_EQ(again.code, 2) << "not ended yet, or complete by now";
  ProgramResult ended = running.wait();
  if (place.open_decisions().empty()) ended = place.resume();
  ASSERT_EQ(ended.code, 1) << said(ended);
  EXPECT_EQ(place.answer_and_resume("merge").code, 0);
  EXPECT_EQ(session_of(place, "coding"), killed.session);
}

TEST(Retry, IsRejectedOnceTheQuestionIsAnswered) {
  RunFixture place(SB_PROGRAM);
  Killed killed(place);
  BackgroundProgram running(place, "Make the check pass");
  killed.kill();
  running.wait();
  for (const char* command : {"pause", "kill", "take-over"}) {
    const ProgramResult result = place.run({"session", command, killed.session});
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.errors, HasSubstr("has ended: killed")) << command;
  }
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  ASSERT_EQ(place.answer(place.open_decisions()[0].string_at("decision").value_or(""), "stop").code, 0);
  const ProgramResult late = place.run({"session", "retry", killed.session});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.errors, HasSubstr("is already answered"));
  place.resume();
  EXPECT_EQ(place.shown()["outcome"], Value("stopped"));
  EXPECT_EQ(place.run({"session", "retry", killed.session}).code, 2);
}

TEST(Kill, EndsASessionThatWaitsForAnAnswer) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), shaped(),
             Line("coding").step("build").call("ask", Value::object({{"question", "Which answer is the right one?"},
                                                                     {"options", Value::array({"right", "wrong"})}})),
             Line("coding").step("build").complete(long_notes())}));
  const ProgramResult asked = place.run_goal("Make the check pass");
  ASSERT_EQ(asked.code, 1) << said(asked);
  ASSERT_EQ(place.events("asked").at(0)["payload"]["question"], Value("session")) << said(asked);
  const std::string session = session_of(place, "coding");
  ASSERT_EQ(place.run({"session", "kill", session, "--reason", "not needed"}).code, 0);
  const ProgramResult resumed = place.resume();
  EXPECT_EQ(resumed.code, 1);
  EXPECT_EQ(resumed.last()["question"], Value("escalation")) << said(resumed);
  EXPECT_THAT(place.events("phase_ended").back()["payload"].string_at("reason").value_or(""), HasSubstr("not needed"));
}

// A workflow whose agent does one thing.
void add_flow(const RunFixture& place, const std::string& name) {
  place.write("flows/" + name + ".yaml", "id: small." + name + "\nname: " + name +
                                             "\ndescription: One step.\nversion: 1.0.0\nsteps:\n"
                                             "  - {id: look, title: Look, prompt: Look at it.}\n");
}

Line spawns(Line line, const std::string& flow) {
  return line.call("spawn_agent", Value::object({{"workflowId", "small." + flow}, {"goal", "Look deeper"}}));
}

std::vector<std::string> sessions_in(const RunFixture& place, const std::string& status) {
  std::vector<std::string> found;
  const auto all = parse_json(place.run({"session", "list", "--all", "--limit", "1000", "--json"}).output);
  if (!all) return {"unreadable"};
  const Value* items = all->is_array() ? &*all : all->find("sessions");
  if (items == nullptr || !items->is_array()) return {"unreadable"};
  for (const Value& one : items->items()) {
    if (one["status"] == Value(status)) found.push_back(one.string_at("workflowId").value_or("?"));
  }
  return found;
}

TEST(Kill, EndsChildAgentsAndStoppingTheRunStopsTheirSessions) {
  RunFixture place(SB_PROGRAM);
  for (const char* name : {"child", "grandchild"}) add_flow(place, name);
  place.script(lines(
      {discovered(), shaped(), spawns(Line("coding").step("build"), "child"), spawns(Line("small.child"), "grandchild"),
       Line("small.grandchild").call("Bash", Value::object({{"command", "touch waits; sleep 600; touch survived"}}))}));
  BackgroundProgram running(place, "Make the check pass");
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  ASSERT_EQ(place.run({"session", "kill", session_of(place, "coding")}).code, 0);
  const ProgramResult ended = running.wait();
  EXPECT_EQ(ended.code, 1) << said(ended);
  EXPECT_EQ(place.events("phase_ended").back()["payload"]["state"], Value("killed"));
  EXPECT_FALSE(place.exists("survived"));
  EXPECT_THAT(sessions_in(place, "open"), SizeIs(3)) << "a retry would continue them";
  ASSERT_EQ(place.run({"runs", "stop", "last"}).code, 0);
  EXPECT_THAT(sessions_in(place, "open"), SizeIs(0));
  EXPECT_THAT(sessions_in(place, "stopped"), SizeIs(3));
}

// Nothing is typed: another process answers while the question is shown.
TEST(Terminal, NoticesAnAnswerGivenElsewhereAndContinues) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  const std::string program = "'" + place.program() + "' ";
  const std::string answer =
      program + "inbox answer \"$(" + program + "inbox list --json | grep -o 'd-[0-9a-z]*' | head -n 1)\" merge";
  const ProgramResult ended = start_program(
      SB_TERMINAL, place.environment(),
      {.arguments = {"wait", "Merge it", "run", answer, "--", place.program(), "run", "Make the check pass"},
       .directory = place.repository()});
  EXPECT_EQ(ended.code, 0) << said(ended);
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_THAT(ended.output, HasSubstr("Answered elsewhere by"));
  EXPECT_THAT(ended.output, Not(HasSubstr("stays open")));
}

}  // namespace
}  // namespace sb::pipeline_tests

// Agents that do not finish their phase: each failure has a name, the run notices immediately, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "started/sandbox.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string state_of(const RunFixture& place, const std::string& phase) {
  for (const Value& event : place.events("phase_ended")) {
    if (event["payload"]["phase"] == Value(phase)) return event["payload"].string_at("state").value_or("?");
  }
  return "none";
}

// Ends in that state with a question, and continues to a merged change after a retry.
void ends_as_and_can_be_retried(const std::string& bad_lines, const std::string& state,
                                const std::string& limits = {}) {
  RunFixture place(SB_PROGRAM);
  place.configure(limits);
  place.script(discovered() + bad_lines);
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(state_of(place, "shaping"), state);
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("Shaping failed"));
  EXPECT_THAT(place.work_trees(), SizeIs(1));

  place.script(discovered() + shaped() + coded() + reviewed());
  place.answer_and_resume("retry");
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Agent, D16_ThatDiesIsNoticedImmediately) {
  RunFixture place(SB_PROGRAM);
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/script.jsonl}, dying: {provider: command, command: [/bin/sh, -c, 'exit 7']}}\n"
                  "roles: {default: script, reviewer: dying}");
  place.script(discovered() + shaped() + coded());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(state_of(place, "review"), "agent_died");
  EXPECT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.work_trees(), SizeIs(1));
}

TEST(Agent, WhoseModelRejectsItsKeyIsNoticedImmediately) {
  ends_as_and_can_be_retried(Line("shaping").error("auth", "the key is not known").repeat(), "model_failed");
}

TEST(Agent, ThatStallsIsStopped) {
  ends_as_and_can_be_retried(Line("shaping").delay_ms(60'000).text("Well."), "stalled", "limits: {stall: 1s}");
}

TEST(Agent, ThatRepeatsItselfIsStopped) {
  ends_as_and_can_be_retried(Line("shaping").call("Read", Value::object({{"file_path", "README.md"}})).repeat(),
                             "repeating");
}

TEST(Agent, D24_ThatStopsBeforeTheWorkflowIsCompleteHasFailed) {
  ends_as_and_can_be_retried(Line("shaping").text("I am done here.").repeat(), "stopped_early");
}

// How shaping ends with this many turns when every reply is another command.
std::string end_of_many_calls(int turns) {
  RunFixture place(SB_PROGRAM);
  place.configure("limits: {turns: " + std::to_string(turns) + "}");
  std::string many = discovered();
  for (int i = 0; i < 20; ++i) {
    many += Line("shaping").call("Bash", Value::object({{"command", "echo " + std::to_string(i)}}));
  }
  place.script(many);
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  return state_of(place, "shaping");
}

TEST(Agent, ThatRunsOutOfTurnsIsStopped) {
  EXPECT_EQ(end_of_many_calls(4), "turn_limit");
}

TEST(Agent, ThatDeliversNothingInMostOfItsTurnsIsStopped) {
  EXPECT_EQ(end_of_many_calls(6), "no_progress");
}

TEST(Agent, WhoseStepIsRejectedTooOftenWaitsForAPerson) {
  RunFixture place(SB_PROGRAM);
  const Value wrong = Value::object({{"kind", "wr.shaping_handoff"}, {"version", 9}});
  place.script(discovered() + std::string(Line("shaping").complete(long_notes(), {wrong}).repeat()));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  place.script(discovered() + shaped() + coded() + reviewed());
  const ProgramResult on = place.answer_and_resume("again");
  EXPECT_EQ(on.code, 0) << on.output << on.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Agent, ThatCallsUnknownToolsGetsAnErrorAndContinues) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), Line("shaping").call("Teleport", Value::object({{"to", "main"}})),
             Line("shaping").expect("Teleport").complete(long_notes(), {shaping_handoff()}), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Agent, ThatSendsInvalidArgumentsGetsAnErrorAndContinues) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), Line("shaping").call("Read", Value::object({{"file_path", 7}, {"colour", "red"}})),
                      Line("shaping").call("complete_step", Value::object({{"notes", Value::array()}})),
                      Line("shaping").complete(long_notes(), {shaping_handoff()}), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Agent, ThatSendsTheArtifactOfAnotherStepGetsAnErrorAndContinues) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), Line("shaping").complete(long_notes(), {verdict("clean")}),
                      Line("shaping").expect("wr.shaping_handoff").complete(long_notes(), {shaping_handoff()}), coded(),
                      reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Agent, TextWithControlSequencesNeverReachesTheTerminalRaw) {
  RunFixture place(SB_PROGRAM);
  const std::string evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\xc2\x9b";
  place.script(
      lines({discovered(), Line("shaping").text(evil).call("Bash", Value::object({{"command", "echo " + evil}})),
             Line("shaping").complete(long_notes() + evil, {shaping_handoff({.out_of_scope = {"Not " + evil}})}),
             coded(), reviewed("minor", {finding("minor", "Bad: " + evil)}), fixed(),
             reviewed("minor", {finding("minor", "Bad: " + evil)}), fixed("right\n3\n"),
             reviewed("minor", {finding("minor", "Bad: " + evil)})}));
  const ProgramResult ended = place.run({"run", "Make it pass " + evil, "--workspace", place.repository()});
  std::string all = ended.output + ended.errors;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"runs", "show", "last"}, {"runs", "list"}, {"inbox", "list"}}) {
    const ProgramResult shown = place.run(words);
    all += shown.output + shown.errors;
  }
  EXPECT_THAT(all, HasSubstr("Make it pass"));
  EXPECT_THAT(all, Not(HasSubstr("\x1b]0;")));
  EXPECT_THAT(all, Not(HasSubstr("\x1b[2J")));
  EXPECT_THAT(all, Not(HasSubstr("\xc2\x9b")));
}

TEST(Agent, D21_ACallWithinItsTimeLimitIsNotAStall) {
  RunFixture place(SB_PROGRAM);
  place.configure("limits: {stall: 1s}");
  place.script(
      lines({discovered(), Line("shaping").call("Bash", Value::object({{"command", "sleep 3; echo done"}})),
             Line("shaping").expect("done").complete(long_notes(), {shaping_handoff()}), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

// The log of an agent program has what it said and ran, as that of our own agents, without secrets.
TEST(Agent, ThatIsAProgramIsLoggedWithWhatItDid) {
  RunFixture place(SB_PROGRAM);
  const std::string token = std::string("ghp") + "_" + "aB3dE5gH7jK9mN2pQ4sT6vW8xZaB3dE5gH7jK9";
  place.commit("agent.sh", R"(
ask() {
  curl -s -H "x-api-key: $SIGNALBOX_PLACE_TOKEN" -H 'content-type: application/json' \
    -d '{"model":"m","messages":[{"role":"user","content":"Go."}'"$1"']}' $SIGNALBOX_PROXY_URL/v1/messages
}
id=$(ask | grep -o '"id":"[^"]*","name":"Bash"'); id=${id#*:}; id=${id%%,*}
result='{"type":"tool_result","tool_use_id":'$id',"is_error":true,"content":"Two lines.\n'$(cat told)'"}'
ask ',{"role":"user","content":['"$result"']}' > said
exit 7
)");
  place.commit("told", token + "\n");
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/script.jsonl}, own: {provider: command, command: [/bin/bash, agent.sh], upstream: script}}\n"
                  "roles: {default: own}");
  place.script(lines({Line("discovery").text("I look around.").call("Bash", Value::object({{"command", "cat notes"}})),
                      Line("discovery").expect("Two lines.").text("I saw it.").repeat()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(state_of(place, "discovery"), "agent_died") << ended.output << ended.errors;
  const auto started = place.events("phase_started");
  ASSERT_FALSE(started.empty());
  const std::string session = started[0]["payload"].string_at("session").value_or("?");
  const std::string log = place.run({"session", "log", session, "--full"}).output;
  EXPECT_THAT(log, HasSubstr("    I look around.\n    Bash {\"command\":\"cat notes\"}\n"));
  EXPECT_THAT(log, HasSubstr("Bash cat notes: failed\n    Two lines.\n    [redacted: github token]\n"));
  EXPECT_THAT(log, HasSubstr("    I saw it.\n"));
  EXPECT_THAT(log, Not(HasSubstr(token)));
  EXPECT_THAT(place.run({"session", "log", session}).output, HasSubstr("turn 1    Bash cat notes: failed\n"));
  for (const char* file : {"home/signalbox.db", "home/signalbox.db-wal"})
    EXPECT_THAT(place.read(file), Not(HasSubstr(token)));
}

// The files that the settings name as secrets stay hidden in a folder that the user shows to agents.
TEST(Agent, CannotReadSecretFilesOfTheSettings) {
  if (const std::string& why = test_program::why_no_sandbox(); !why.empty()) GTEST_SKIP() << why;
  std::string folder = "/var/tmp/sb-secret-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* name : {"/key", "/open"}) {
    std::ofstream(folder + name) << "marker" << name + 1 << "\n";
    std::filesystem::permissions(folder + name, std::filesystem::perms::owner_read);
  }
  RunFixture place(SB_PROGRAM);
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/script.jsonl}, other: {provider: anthropic, model: m, key: 'file:" + folder +
                  "/key'}}\nsandbox: {read: [" + folder + "]}\nchecks: ['./check && grep -q markeropen " + folder +
                  "/open && ! grep -q . " + folder + "/key']");
  const auto bash = [&](const std::string& command) {
    return Line("coding").step("build").call("Bash", Value::object({{"command", command}}));
  };
  place.script(lines({discovered(), shaped(), bash("cat " + folder + "/ke? " + folder + "/op*"),
                      Line("coding")
                          .step("build")
                          .expect("markeropen")
                          .expect_lacks("markerkey")
                          .call("Read", Value::object({{"file_path", folder + "/key"}})),
                      bash("cat " + folder + "/key").expect_lacks("markerkey"),
                      Line("coding")
                          .step("build")
                          .expect("Agents may not access")
                          .expect_lacks("markerkey")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sb::pipeline_tests

// `run --replay` and `runs export --as-test`: runs replayed offline, whatever happened in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "pipeline/forge_process.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

ProgramResult replay(const RunFixture& place, const std::string& run = "last") {
  return place.run({"run", "--replay", run, "--json"});
}

// Replayed without the script, it ends the same.
void replays_identically(RunFixture& place, const std::string& outcome) {
  place.script("");
  const ProgramResult again = replay(place);
  EXPECT_EQ(again.code, 0) << said(again);
  EXPECT_EQ(again.last()["same"], Value(true)) << said(again);
  EXPECT_EQ(again.last()["outcome"], Value(outcome)) << said(again);
}

std::string exported(const RunFixture& place, const std::string& name = "incident") {
  const std::string folder = place.root() + "/" + name;
  const ProgramResult ended = place.run({"runs", "export", "last", "--as-test", folder});
  EXPECT_EQ(ended.code, 0) << said(ended);
  return folder;
}

// With only the folder and the program.
ProgramResult played_elsewhere(const std::string& folder) {
  RunFixture elsewhere(SB_PROGRAM);
  return start_program(
      folder + "/replay", {"PATH=/usr/bin:/bin", "HOME=" + elsewhere.root() + "/fresh"},
      {.arguments = {"--json"}, .environment = {"SIGNALBOX=" + elsewhere.program()}, .directory = elsewhere.root()});
}

TEST(Replay, IsIdenticalOfflineAndLeavesTheRepositoryUnchanged) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(lines({discovered(), shaped(), coded(), reviewed("minor", {finding("minor", "No title in it.")}),
                      fixed(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  ASSERT_EQ(place.answer_and_resume("merge").code, 0);
  const auto main = place.git(place.remote(), {"rev-parse", "main"});
  const auto branches = place.remote_branches();
  replays_identically(place, "merged");
  EXPECT_EQ(place.git(place.remote(), {"rev-parse", "main"}), main);
  EXPECT_EQ(place.remote_branches(), branches);
  EXPECT_THAT(place.work_trees(), IsEmpty());
}

TEST(Replay, RepeatsTheAttemptsOfATurn) {
  RunFixture place(SB_PROGRAM);
  place.script(lines(
      {discovered(), shaped(), Line("coding").text("Let me know if you want me to start."), coded(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const std::string cassette = place.read(exported(place) + "/cassette.json");
  EXPECT_THAT(cassette, HasSubstr("Let me know if you want me to start."));
  EXPECT_THAT(cassette, HasSubstr(R"("attempt":2)"));
  EXPECT_THAT(cassette, HasSubstr(R"("cost":)"));
  replays_identically(place, "merged");
}

TEST(Replay, StopsAtTheFirstDifferentRequestAndShowsTheDifference) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), Line("shaping").call("Bash", Value::object({{"command", "date +now-%s%N"}})),
                      shaped(), coded(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const ProgramResult again = place.run({"run", "--replay", "last"});
  EXPECT_EQ(again.code, 1) << said(again);
  EXPECT_THAT(again.output, AllOf(HasSubstr("replay diverged"), HasSubstr("that was not recorded (workflow small.sha"),
                                  HasSubstr("- now-"), HasSubstr("+ now-")));
  EXPECT_THAT(again.output, Not(HasSubstr("coding")));
}

TEST(Replay, UsesTheRecordedWorkflowsAndSettings) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  place.write("flows/shaping.yaml", "id: small.shaping\n");
  place.write("flows/coding.yaml", "");
  place.configure("merge: never\nchecks: ['false']\nprotected: ['**']");
  const std::string folder = exported(place);
  replays_identically(place, "merged");
  const ProgramResult elsewhere = played_elsewhere(folder);
  EXPECT_EQ(elsewhere.code, 0) << said(elsewhere);
}

class OnGitHub : public testing::Test {
 protected:
  ProgramResult run_goal(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run", "Make the check pass", "--workspace", place.repository(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return place.run(ForgeProcess::with_token(std::move(words)));
  }
  void ask_and_merge() {
    place.write("forge/state.json",
                R"({"pulls":[],"issues":[{"number":7,"title":"The answer is wrong","body":"Fix it","labels":[],)"
                R"("state":"open"}],"comments":[],"checks":{}})");
    ForgeProcess forge(SB_FORGE, place);
    place.configure(forge.settings());
    place.script(lines({discovered(), shaped(), coded(), reviewed("minor", {finding("minor", "It is not tidy.")}),
                        fixed(), reviewed()}));
    const ProgramResult ended = run_goal({"--ticket", "github:acme/shop#7"});
    ASSERT_EQ(ended.code, 1) << said(ended);
    const auto open = place.open_decisions();
    ASSERT_THAT(open, SizeIs(1));
    ASSERT_EQ(place.answer(open[0].string_at("decision").value_or(""), "merge").code, 0);
    const ProgramResult merged = place.run(ForgeProcess::with_token({"runs", "resume", "last", "--json"}));
    ASSERT_EQ(merged.code, 0) << said(merged);
  }
  RunFixture place{SB_PROGRAM};
};

TEST_F(OnGitHub, ARunIsReplayedWithoutTheForgeAndWithoutAToken) {
  ask_and_merge();
  replays_identically(place, "merged");
  const std::string folder = exported(place);
  const std::string cassette = place.read("incident/cassette.json");
  for (const char* call : {"ticket", "find", "open_or_update", "checks", "merge", "close_ticket"}) {
    EXPECT_THAT(cassette, HasSubstr("\"call\":{\"v\":\"" + std::string(call) + "\"}"));
  }
  EXPECT_THAT(cassette + place.read("incident/events.jsonl") + place.read("incident/settings.json"),
              AllOf(Not(HasSubstr(kForgeToken)), Not(HasSubstr("$FORGE_TOKEN"))));
  const ProgramResult elsewhere = played_elsewhere(folder);
  EXPECT_EQ(elsewhere.code, 0) << said(elsewhere);
}

TEST_F(OnGitHub, AForgeRequestThatWasNotRecordedStopsIt) {
  ask_and_merge();
  const std::string folder = exported(place);
  Value cassette = *parse_json(place.read("incident/cassette.json"), {.bytes = 64u << 20});
  Value::Array left;
  for (const Value& exchange : cassette["exchanges"].items()) {
    if (exchange["request"]["call"]["v"] != Value("merge")) left.push_back(exchange);
  }
  ASSERT_EQ(left.size() + 1, cassette["exchanges"].size());
  cassette.set("exchanges", std::move(left));
  place.write("incident/cassette.json", to_json(cassette));
  Value manifest = *parse_json(place.read("incident/manifest.json"));
  manifest.find("files")->set("cassette.json", sha256_hex(to_json(cassette)));
  place.write("incident/manifest.json", to_json(manifest));
  const ProgramResult again = played_elsewhere(folder);
  EXPECT_EQ(again.code, 1) << said(again);
  EXPECT_THAT(again.last().string_at("difference").value_or(""),
              AllOf(HasSubstr("called the forge in a way that was not recorded (merge)"), HasSubstr("Recorded there")));
  EXPECT_NE(again.last()["outcome"], Value("merged"));
}

TEST(Replay, RepeatsAnswersAndRejections) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(
      lines({discovered(), shaped(), std::string(Line("coding").error("auth", "no such key")), coded(), reviewed()}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  ASSERT_EQ(place.answer_and_resume("retry").code, 1);
  const auto open = place.open_decisions();
  ASSERT_THAT(open, SizeIs(1));
  ASSERT_EQ(place.run({"inbox", "decline", open[0].string_at("decision").value_or("")}).code, 0);
  place.resume();
  const std::string outcome = place.shown().string_at("outcome").value_or("");
  ASSERT_NE(outcome, "merged");
  replays_identically(place, outcome);
  const ProgramResult again = replay(place);
  EXPECT_THAT(again.output, AllOf(HasSubstr("\"by\":\"replay\""), HasSubstr("(declined)")));
}

// A run whose coding agent waits in a command until a file `go` exists.
std::string waiting_agent_script(const RunFixture& place) {
  const std::string wait = "touch waits; while [ -e waits ] && [ ! -e " + place.root() +
                           "/go ]; do sleep 0.05; done; "
                           "rm -f waits";
  return lines(
      {Line("coding").step("build").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
       Line("coding").step("build").call("Bash", Value::object({{"command", wait}})),
       Line("coding").step("build").complete(long_notes()),
       Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()})});
}

std::string wait_for_agent(const RunFixture& place) {
  for (int i = 0; i < 2'400; ++i) {
    for (const std::string& tree : place.work_trees()) {
      if (std::filesystem::exists(tree + "/waits")) return tree;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

std::string coding_session(const RunFixture& place) {
  for (const Value& event : place.events("phase_started")) {
    if (event["payload"]["phase"] == Value("coding")) return event["payload"].string_at("session").value_or("");
  }
  return {};
}

TEST(Replay, RepeatsMessagesToAgents) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), shaped(),
             Line("coding").step("build").call("Bash", Value::object({{"command", "touch waits; sleep 3; rm waits"}})),
             Line("coding")
                 .step("build")
                 .expect("steer-marker")
                 .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
             Line("coding").step("build").complete(long_notes()),
             Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  ProgramResult first;
  std::jthread running([&] { first = place.run_goal("Make the check pass"); });
  ASSERT_NE(wait_for_agent(place), "");
  ASSERT_EQ(place.run({"session", "steer", coding_session(place), "steer-marker: mind the gap"}).code, 0);
  running.join();
  ASSERT_EQ(first.code, 0) << said(first);
  replays_identically(place, "merged");
}

TEST(Replay, DoesNotWaitForWhatTheTicketDependsOn) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_with_ticket("First", "---\nid: T-1\n---\nThe first.\n").code, 0);
  place.script(lines({discovered(), shaped(), coded("right\n", "other.txt"), reviewed()}));
  const ProgramResult second =
      place.run_with_ticket("Second", "---\nid: T-2\ndepends_on: [T-1]\n---\nAfter the first.\n");
  ASSERT_EQ(second.code, 0) << said(second);
  replays_identically(place, "merged");
}

TEST(Replay, RepeatsAKillAndARetry) {
  RunFixture place(SB_PROGRAM);
  place.script(lines(
      {discovered(), shaped(),
       Line("coding").step("build").call("Bash", Value::object({{"command", "touch waits; sleep 60; touch never"}})),
       coded(), reviewed()}));
  ProgramResult first;
  std::jthread running([&] { first = place.run_goal("Make the check pass"); });
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  ASSERT_EQ(place.run({"session", "kill", coding_session(place), "--reason", "enough"}).code, 0);
  running.join();
  std::filesystem::remove(tree + "/waits");
  const ProgramResult retried = place.answer_and_resume("retry");
  ASSERT_EQ(retried.code, 1) << said(retried);
  const ProgramResult merged = place.answer_and_resume("merge");
  ASSERT_EQ(merged.code, 0) << said(merged);
  replays_identically(place, "merged");
}

TEST(Replay, OfAStoppedOrUnfinishedRunStopsThere) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  replays_identically(place, "");
  ASSERT_EQ(place.run({"runs", "stop", "last", "--reason", "enough"}).code, 0);
  replays_identically(place, "stopped");
}

TEST(Replay, RepeatsTheQuestionAboutAnEditedTicket) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_with_ticket("Make the check pass", "# Check\nThe check must pass.\n").code, 1);
  place.write("ticket.md", "# Check\nThe check must pass, and soon.\n");
  ASSERT_EQ(place.resume().code, 1);
  std::string changed;
  for (const Value& event : place.events("asked")) {
    if (event["payload"]["question"] == Value("ticket_changed")) {
      changed = event["payload"].string_at("decision").value_or("");
    }
  }
  ASSERT_NE(changed, "");
  ASSERT_EQ(place.answer(changed, "stop").code, 0);
  place.resume();
  ASSERT_EQ(place.shown()["outcome"], Value("stopped"));
  replays_identically(place, "stopped");
}

TEST(Replay, RepeatsAStallAndDoesNotWaitForAnOutage) {
  RunFixture place(SB_PROGRAM);
  place.configure("limits: {stall: 2s}\nmerge: ask");
  place.script(lines({discovered(), Line("shaping").delay_ms(60'000).text("Well.")}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  place.script(lines({discovered(), Line("shaping").error("overloaded", "come back"), shaped(), coded(), reviewed()}));
  const ProgramResult on = place.answer_and_resume("retry");
  ASSERT_EQ(on.code, 1) << said(on);
  const ProgramResult merged = place.answer_and_resume("merge");
  ASSERT_EQ(merged.code, 0) << said(on) << said(merged);
  replays_identically(place, "merged");
}

TEST(Replay, OfAKilledProcessContinuesIfPossibleOrReportsWhyNot) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({Line("coding")
                          .step("build")
                          .when_contains("interrupted")
                          .call("Bash", Value::object({{"command", "printf 'right\\n' > answer.txt; rm -f waits"}})),
                      discovered(), shaped(), waiting_agent_script(place), reviewed()}));
  ProgramResult first;
  std::jthread running([&] {
    first = start_program(
        "sh", place.environment(),
        {.arguments = {"-c", "echo $$ > \"$1\"; shift; exec \"$@\"", "sh", place.root() + "/pid", place.program(),
                       "run", "Make the check pass", "--workspace", place.repository(), "--json"},
         .directory = place.repository()});
  });
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  ASSERT_EQ(start_program("kill", place.environment(),
                          {.arguments = {"-9", std::to_string(std::stol(place.read("pid")))}, .directory = "/"})
                .code,
            0);
  running.join();
  replays_identically(place, "");  // as far as it went
  std::filesystem::remove(tree + "/waits");
  place.script(lines({Line("coding")
                          .step("build")
                          .when_contains("interrupted")
                          .call("Bash", Value::object({{"command", "printf 'right\\n' > answer.txt; rm -f waits"}})),
                      discovered(), shaped(), waiting_agent_script(place), reviewed()}));
  std::ofstream(place.root() + "/go") << "";
  const ProgramResult ended = place.resume();
  ASSERT_EQ(ended.code, 0) << said(ended);
  const ProgramResult again = replay(place);
  EXPECT_EQ(again.code, 1) << said(again);
  EXPECT_THAT(again.last().string_at("difference").value_or(""), HasSubstr("during a call of Bash"));
}

TEST(Replay, OfAnAgentProgramIsRejectedWithTheReason) {
  RunFixture place(SB_PROGRAM);
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/script.jsonl}, dying: {provider: command, command: [/bin/sh, -c, 'exit 7']}}\n"
                  "roles: {default: script, reviewer: dying}");
  place.script(discovered() + shaped() + coded());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  const ProgramResult again = replay(place);
  EXPECT_EQ(again.code, 2) << said(again);
  EXPECT_THAT(said(again), AllOf(HasSubstr("dying"), HasSubstr("cannot be replayed")));
  EXPECT_EQ(place.run({"runs", "export", "last", "--as-test", place.root() + "/x"}).code, 2);
  EXPECT_FALSE(place.exists("x"));
}

TEST(Export, AsATestReplaysAnywhere) {
  RunFixture place(SB_PROGRAM);
  place.commit("signalbox.yaml", "tier0: [README.md]\nfix_rounds: 1\n");
  ASSERT_EQ(place.run({"trust", place.repository()}).code, 0);
  place.write("home/soul.md", "soul-marker: speak plainly.\n");
  place.script(clean_run());
  ASSERT_EQ(place.run_with_ticket("Make the check pass", "# Check\nThe check must pass.\n").code, 0);
  const std::string folder = exported(place);
  EXPECT_NE(place.run({"runs", "export", "last", "--as-test", folder}).code, 0);  // never over another
  place.git(place.repository(), {"gc", "--quiet", "--prune=now"});
  std::filesystem::rename(place.repository(), place.root() + "/away");
  const ProgramResult gone = place.run(Start{.arguments = {"run", "--replay", "last"}, .directory = place.root()});
  EXPECT_EQ(gone.code, 2) << said(gone);
  EXPECT_THAT(said(gone), HasSubstr("no longer exists"));
  const ProgramResult played = played_elsewhere(folder);
  EXPECT_EQ(played.code, 0) << said(played);
  EXPECT_EQ(played.last()["same"], Value(true));
}

TEST(Export, IsRefusedWhereTheRepositoryHasAConfiguredKey) {
  const std::string key = "blue-whale-9931-orchid";
  RunFixture place(SB_PROGRAM);
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/script.jsonl}, other: {provider: openai, model: m, key: $CORP_KEY}}");
  place.commit("settings.txt", "key = " + key + "\n");
  place.script(clean_run());
  const auto with_key = [&](std::vector<std::string> arguments) {
    return place.run(Start{.arguments = std::move(arguments), .environment = {"CORP_KEY=" + key}});
  };
  ASSERT_EQ(with_key({"run", "Make the check pass", "--workspace", place.repository(), "--json"}).code, 0);
  const ProgramResult refused = with_key({"runs", "export", "last", "--as-test", place.root() + "/incident"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(said(refused), HasSubstr("history contains one of your configured secrets: settings.txt"));
  EXPECT_THAT(said(refused), AllOf(HasSubstr("settings.txt"), Not(HasSubstr(key))));
  EXPECT_FALSE(place.exists("incident/repository.bundle"));
}

TEST(Export, ThatWasTruncatedOrEditedIsRejected) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const std::string folder = exported(place);
  for (const char* file : {"events.jsonl", "cassette.json", "people.json", "settings.json", "workflows/0.json",
                           "manifest.json", "repository.bundle"}) {
    const std::string path = std::string("incident/") + file;
    const std::string whole = place.read(path);
    ASSERT_NE(whole, "") << file;
    place.write(path, whole.substr(0, whole.size() / 2));
    const ProgramResult cut = played_elsewhere(folder);
    EXPECT_EQ(cut.code, 2) << file << said(cut);
    EXPECT_THAT(said(cut), HasSubstr(file));
    std::filesystem::remove(place.root() + "/" + path);
    const ProgramResult gone = played_elsewhere(folder);
    EXPECT_EQ(gone.code, 2) << file << said(gone);
    EXPECT_THAT(said(gone), HasSubstr(file));
    place.write(path, whole);
  }
  std::string events = place.read("incident/events.jsonl");
  events.replace(events.find("Make the check"), 4, "Turn");
  place.write("incident/events.jsonl", events);
  EXPECT_THAT(said(played_elsewhere(folder)), HasSubstr("not as exported"));
}

}  // namespace
}  // namespace sb::pipeline_tests

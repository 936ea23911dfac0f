// The defects of the system we learned from, each by its number. Others are with the tests of their subject: D06, D08,
// D10, D14, D16, D19, D21, D24.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "pipeline/under_way.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Shaping whose last step is a gate.
constexpr const char* kGated = R"(id: gated.shaping
name: Gated
description: A phase with a gate.
version: 1.0.0
steps:
  - id: hand-off
    title: Hand off
    prompt: Hand it off.
    outputContract: {contractRef: wr.contracts.shaping_handoff}
    requireConfirmation: true
)";
constexpr const char* kGatedPhases =
    "phases: {discovery: small.discovery, shaping: gated.shaping, coding: small.coding, review: small.review, fix: "
    "small.fix, audit: small.audit}";

std::string evaluated(const std::string& word) {
  return lines({Line("wr.gate-eval-generic").step("check-output").expect("gated-notes-marker").complete(long_notes()),
                Line("wr.gate-eval-generic")
                    .step("give-verdict")
                    .complete(long_notes(),
                              {Value::object({{"kind", "wr.gate_verdict"},
                                              {"version", 1},
                                              {"verdict", word},
                                              {"confidence", "high"},
                                              {"rationale", "Everything that was asked for is there, line by line."}}),
                               Value::object(
                                   {{"kind", "wr.assessment"},
                                    {"assessmentId", "gate-basis"},
                                    {"dimensions", Value::object({{"evidence", "checked"}, {"criteria", "met"}})}})})});
}

std::string gated_hand_off() {
  return Line("gated.shaping")
      .complete("gated-notes-marker: what was shaped and why, in enough words to judge it by.", {shaping_handoff()});
}

struct GatedPlace : RunFixture {
  GatedPlace() : RunFixture(SB_PROGRAM) {
    write("flows/gated.yaml", kGated);
    configure(kGatedPhases);
  }
};

TEST(Defects, D01_AGatedStepContinuesAfterAPersonsAnswer) {
  GatedPlace place;
  place.script(lines({discovered(), gated_hand_off(), evaluated("uncertain"), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  const Value decision = place.open_decisions()[0];
  std::string first;
  for (const Value& part : decision["parts"].items()) {
    if (part["options"].is_array() && part["options"].size() > 0) first = part["options"].items()[0]["id"].as_string();
  }
  ASSERT_EQ(place.answer(decision.string_at("decision").value_or(""), first).code, 0) << to_json(decision);
  const ProgramResult on = place.resume();
  EXPECT_EQ(on.code, 0) << on.output << on.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Defects, D02_D03_TheOutputOfAGatedStepIsJudgedStoredAndPassedOn) {
  GatedPlace place;
  place.script(lines({discovered(), gated_hand_off(), evaluated("approved"),
                      Line("coding")
                          .step("build")
                          .expect("A file with the answer in it.")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
}

TEST(Defects, D18_ARejectedGateSendsTheStepBackWithItsReason) {
  GatedPlace place;
  place.script(lines(
      {discovered(), gated_hand_off(), evaluated("rejected"),
       Line("gated.shaping")
           .expect("line by line")
           .complete("gated-notes-marker: the same again, with what was missing added to it.", {shaping_handoff()}),
       evaluated("approved"), coded(), reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Defects, D04_D05_AKillKeepsFinishedPhasesAndTheSessionsPosition) {
  RunFixture place(SB_PROGRAM);
  // An agent that is informed of the interruption makes sure of the state.
  place.script(lines({Line("coding")
                          .step("build")
                          .when_contains("interrupted")
                          .call("Bash", Value::object({{"command", "printf 'right\\n' > answer.txt; rm -f waits go"}})),
                      discovered(), shaped(), waiting_agent_script(), reviewed()}));
  BackgroundProgram running(place, "Make the check pass");
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  running.send(SIGKILL);
  const ProgramResult first = running.wait();
  const std::string session = session_of(place, "coding");
  release_agent(tree);
  const ProgramResult ended = place.resume();
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors << first.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(session_of(place, "coding"), session);
  std::map<std::string, int> started;
  for (const Value& event : place.events("phase_started")) {
    ++started[event["payload"].string_at("phase").value_or("")];
  }
  for (const auto& [phase, count] : started) EXPECT_EQ(count, 1) << phase;
}

TEST(Defects, D07_AnEscalationKeepsTheWorkAndIsNotReportedAsComplete) {
  RunFixture place(SB_PROGRAM);
  place.configure("fix_rounds: 0");
  place.script(lines({discovered(), shaped(), coded("nearly\n")}));
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  const auto trees = place.work_trees();
  ASSERT_THAT(trees, SizeIs(1));
  std::ifstream work(trees[0] + "/answer.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(work), {}), "nearly\n");
  EXPECT_NE(place.shown()["outcome"], Value("merged"));
  const ProgramResult stopped = place.answer_and_resume("stop");
  EXPECT_EQ(place.shown()["outcome"], Value("stopped")) << stopped.errors;
  EXPECT_TRUE(std::filesystem::exists(trees[0] + "/answer.txt"));
}

TEST(Defects, D09_AForeignHeadIsNotDelivered) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_agent_script(), reviewed()}));
  BackgroundProgram running(place, "Make the check pass");
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  ASSERT_TRUE(place.git(tree, {"checkout", "--quiet", "-b", "elsewhere"}));
  release_agent(tree);
  const ProgramResult stopped = running.wait();
  EXPECT_EQ(stopped.code, 1) << stopped.output << stopped.errors;
  const auto steps = place.events("delivered");
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0]["payload"]["step"], Value("head"));
  EXPECT_EQ(steps[0]["payload"]["passed"], Value(false));
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("refs/heads/elsewhere"));
  EXPECT_THAT(place.remote_branches(), SizeIs(1)) << "nothing new is pushed";
  // Once fixed, the run delivers its agent's work.
  ASSERT_TRUE(place.git(tree, {"checkout", "--quiet", place.shown()["tree"].string_at("branch").value_or("")}));
  EXPECT_EQ(place.answer_and_resume("retry").code, 1);
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Defects, D09_DeliveredWorkIsRemovedAndALeftoverBlocksNoOtherRun) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_agent_script()}));
  BackgroundProgram killed(place, "Make the check pass");
  const std::string left = wait_for_agent(place);
  ASSERT_NE(left, "");
  killed.send(SIGKILL);
  killed.wait();
  const std::string first = place.run_id();
  // The killed run's work does not block another run for the same goal.
  place.script(lines({discovered(), shaped(), coded(), reviewed()}));
  const ProgramResult second = place.run_goal("Make the check pass");
  EXPECT_EQ(second.code, 0) << second.output << second.errors;
  EXPECT_EQ(place.work_trees(), std::vector<std::string>{left}) << "only its own is removed";
  place.commit("check", "#!/bin/sh\ngrep -q '^right$' second.txt\n", true);
  place.script(lines({discovered(), shaped(), coded("right\n", "second.txt"), reviewed()}));
  const ProgramResult third = place.run_goal("Make the other check pass");
  EXPECT_EQ(third.code, 0) << third.output << third.errors;
  // The killed run is resumed or stopped like any other, and its undelivered work stays.
  const ProgramResult stopped = place.run({"runs", "stop", first});
  EXPECT_EQ(stopped.code, 0) << stopped.output << stopped.errors;
  EXPECT_EQ(place.shown(first)["outcome"], Value("stopped"));
  EXPECT_TRUE(std::filesystem::exists(left + "/answer.txt"));
}

TEST(Defects, D12_ChangingOneSettingKeepsAllOthers) {
  RunFixture place(SB_PROGRAM);
  place.commit("signalbox.yaml", "protected: [secret/**]\nisolation: {small.review: {mode: full}}\n");
  ASSERT_EQ(place.run({"trust", place.repository()}).code, 0);
  place.configure("merge: ask\nlimits: {turns: 50}");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;  // the user's merge: ask, models and checks still apply
  EXPECT_EQ(place.events("asked").at(0)["payload"]["question"], Value("merge"));
}

TEST(Defects, D17_RunsOfTheSameWorkflowsDoNotWaitForEachOther) {
  RunFixture place(SB_PROGRAM);
  place.write("first.jsonl", lines({discovered(), shaped(), waiting_agent_script(), reviewed()}));
  place.script(clean_run());
  const auto config = place.read("home/config.yaml");
  ProgramResult first;
  place.script(place.read("first.jsonl"));
  std::jthread running([&] { first = place.run_goal("Make the check pass, slowly"); });
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  place.write("second.jsonl", lines({discovered(), shaped(), coded("right\n", "quick.txt"), reviewed()}));
  place.configure("models: {script: {provider: scripted, script: " + place.root() +
                  "/second.jsonl}}\nchecks: ['ls quick.*']");
  const ProgramResult second = place.run_goal("Make the other thing");
  EXPECT_EQ(second.code, 0) << second.output << second.errors;
  EXPECT_EQ(place.delivered("quick.txt"), "right");
  release_agent(tree);
  running.join();
  EXPECT_NE(first.code, 3) << first.output << first.errors;
}

TEST(Defects, D22_ASessionCanBeSteeredKilledAndRetried) {
  RunFixture place(SB_PROGRAM);
  place.script(lines(
      {discovered(), shaped(),
       Line("coding").step("build").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
       Line("coding").step("build").call("Bash", Value::object({{"command", "touch waits; sleep 600"}})),
       Line("coding")
           .step("build")
           .expect("steer-marker")
           .expect("A person allowed you to continue. mind it now")
           .call("Bash", Value::object({{"command", "rm waits"}})),
       Line("coding").step("build").complete(long_notes()),
       Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  BackgroundProgram running(place, "Make the check pass");
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  const std::string session = session_of(place, "coding");
  const ProgramResult steered = place.run({"session", "steer", session, "steer-marker: mind the gap"});
  EXPECT_EQ(steered.code, 0) << steered.output << steered.errors;
  const ProgramResult killed = place.run({"session", "kill", session, "--reason", "enough of this"});
  EXPECT_EQ(killed.code, 0) << killed.output << killed.errors;
  const ProgramResult first = running.wait();
  EXPECT_EQ(first.code, 1) << first.output << first.errors;
  EXPECT_LT(first.took_ms, 300'000);
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("enough of this"));
  EXPECT_TRUE(std::filesystem::exists(tree + "/answer.txt"));

  const ProgramResult retried = place.run({"session", "retry", session, "--reason", "mind it now"});
  EXPECT_EQ(retried.code, 0) << retried.errors;
  EXPECT_THAT(retried.output, HasSubstr("signalbox runs resume " + place.run_id()));
  EXPECT_THAT(place.open_decisions(), IsEmpty());
  const ProgramResult resumed = place.resume();
  EXPECT_EQ(resumed.last()["question"], Value("merge")) << resumed.output << resumed.errors;
  const ProgramResult merged = place.answer_and_resume("merge");  // after an escalation the run asks about merging
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(session_of(place, "coding"), session) << "the same session continued";
  EXPECT_THAT(place.events("phase_reopened"), SizeIs(1));
}

TEST(Defects, D22_ATakenOverSessionThatAPersonCompletedCountsAsThePhase) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_agent_script(), reviewed()}));
  ProgramResult first;
  std::jthread running([&] { first = place.run_goal("Make the check pass"); });
  const std::string tree = wait_for_agent(place);
  ASSERT_NE(tree, "");
  const std::string session = session_of(place, "coding");
  const ProgramResult too_early = place.run({"session", "resume", session, "--best"});
  EXPECT_NE(too_early.code, 0) << "it is the run's";
  EXPECT_THAT(too_early.errors, HasSubstr("belongs to run " + place.run_id()));
  const ProgramResult taken = place.run({"session", "take-over", session, "--json"});
  running.join();
  EXPECT_EQ(first.code, 1) << first.output << first.errors;
  EXPECT_EQ(place.resume().code, 1) << "the person is not done yet";
  const auto continue_session = [&](const std::string& token, std::vector<std::string> more) {
    std::vector<std::string> words = {"session", "continue", token, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult step = place.run(words);
    EXPECT_EQ(step.code, 0) << step.output << step.errors;
    return step.last().string_at("continueToken").value_or("");
  };
  std::filesystem::remove(tree + "/waits");
  place.write("hand-off.json", to_json(coding_handoff()));
  const std::string built = continue_session(taken.last().string_at("continueToken").value_or(""), {});
  const std::string handed = continue_session(built, {"--note", long_notes()});
  continue_session(handed, {"--note", long_notes(), "--artifact", place.root() + "/hand-off.json"});
  const ProgramResult merged = place.resume();
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Defects, D23_ReadingAQuestionIsNotAnsweringIt) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
  const std::string decision = place.open_decisions().at(0).string_at("decision").value_or("");
  EXPECT_EQ(place.run({"inbox", "show", decision}).code, 0);
  EXPECT_EQ(place.run({"runs", "show", "last"}).code, 0);
  EXPECT_EQ(place.resume().code, 1);
  EXPECT_EQ(place.delivered("answer.txt"), "");
  EXPECT_EQ(place.answer(decision, "merge").code, 0);
  EXPECT_EQ(place.resume().code, 0);
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Defects, D25_ThePitchThatRoutedARunIsBuiltAndArchived) {
  RunFixture place(SB_PROGRAM);
  place.write("repo/.signalbox/current-pitch.md", "# Pitch\npitch-marker: this was never committed.\n");
  place.script(lines({Line("coding")
                          .step("build")
                          .expect("pitch-marker")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  ASSERT_EQ(place.run_goal("Build it").code, 0);
  EXPECT_FALSE(place.exists("repo/.signalbox/current-pitch.md"));
  place.script(clean_run());
  place.run_goal("Another thing");
  EXPECT_EQ(place.events("routed").at(0)["payload"]["mode"], Value("FULL"));
}

constexpr const char* kChild = R"(id: small.child
name: Child
description: Looks at what it was given.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: "Look at {{given}}."}
)";

TEST(Defects, D26_TheInputsOfAChildReachItsWorkflow) {
  RunFixture place(SB_PROGRAM);
  place.write("flows/child.yaml", kChild);
  place.script(
      lines({discovered(),
             Line("shaping").call("spawn_agent",
                                  Value::object({{"workflowId", "small.child"},
                                                 {"goal", "Look for the author"},
                                                 {"context", Value::object({{"given", "child-context-marker"}})}})),
             Line("small.child")
                 .expect("child-context-marker")
                 .complete("Looked at what was given: answer-of-the-child, and that is all."),
             Line("shaping").expect("answer-of-the-child").complete(long_notes(), {shaping_handoff()}), coded(),
             reviewed()}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Defects, D27_TheTicketReachesTheWorkflowNotOnlyTheGoal) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({Line("discovery")
                          .step("interpret")
                          .expect("ticket-body-marker")
                          .expect("The title of it")
                          .complete(long_notes(), {interpretation()}),
                      Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}), shaped(),
                      coded(), reviewed()}));
  const ProgramResult ended = place.run_with_ticket("Fix it", "---\ntitle: The title of it\n---\nticket-body-marker\n");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(Defects, D28_EveryLimitIsEnforced) {
  for (const auto& [limit, state] : std::vector<std::pair<std::string, std::string>>{
           {"limits: {tokens: 100}", "token_limit"}, {"limits: {time: 2s, turns: 100000}", "time_limit"}}) {
    RunFixture place(SB_PROGRAM);
    place.configure(limit);
    std::string script = discovered();
    for (int i = 0; i < 2'000; ++i) {
      script += Line("shaping").call("Bash", Value::object({{"command", "sleep 0.2; echo " + std::to_string(i)}}));
    }
    std::string counted;
    for (std::size_t at = 0; at < script.size();) {  // each reply costs
      const std::size_t end = script.find('\n', at);
      counted += script.substr(at, end - at - 1) + R"(,"usage":{"input_tokens":10,"output_tokens":10}})" + "\n";
      at = end + 1;
    }
    place.script(counted);
    const ProgramResult ended = place.run_goal("Make the check pass");
    EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
    std::string seen;
    for (const Value& event : place.events("phase_ended")) seen = event["payload"].string_at("state").value_or("");
    EXPECT_EQ(seen, state);
  }
}

TEST(Defects, D28_AnUnsupportedModeIsRejected) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  for (const char* mode : {"QUICK_REVIEW", "REVIEW_ONLY", "NO_SUCH_MODE"}) {
    const ProgramResult ended = place.run_goal("Review PR #12", {"--mode", mode});
    EXPECT_NE(ended.code, 0) << mode;
  }
  EXPECT_EQ(place.delivered("answer.txt"), "");
}

}  // namespace
}  // namespace sb::pipeline_tests

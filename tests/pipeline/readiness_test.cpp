// What can be known before a run is reported before it; a later problem leaves a run that says why it has stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

struct Wrong {
  std::string settings;
  std::vector<std::string> expected;
};

class Ready : public testing::Test {
 protected:
  Ready() {
    place.script(clean_run());
    place.write("flows/doubting.yaml",
                "id: doubting.review\nname: Doubt\ndescription: A phase in little.\nversion: 1.0.0\nrole: challenger\n"
                "steps:\n  - id: verdict\n    title: verdict\n    prompt: Judge it.\n");
    place.write("flows/modest.yaml",
                "id: modest.review\nname: Modest\ndescription: A phase in little.\nversion: 1.0.0\n"
                "isolation: {mode: task-only}\n"
                "steps:\n  - id: verdict\n    title: verdict\n    prompt: Judge it.\n");
  }
  // Both checks report the same, and no run is started.
  void expect_reported(const Wrong& wrong) {
    place.configure(wrong.settings);
    const ProgramResult checked = place.run({"config", "check", place.repository()});
    const ProgramResult ran = place.run({"run", "Make the check pass", "--workspace", place.repository()});
    EXPECT_EQ(checked.code, 1) << wrong.settings << "\n" << said(checked);
    EXPECT_EQ(ran.code, 2) << wrong.settings << "\n" << said(ran);
    for (const std::string& text : wrong.expected) {
      EXPECT_THAT(checked.output, HasSubstr(text)) << wrong.settings;
      EXPECT_THAT(ran.errors, HasSubstr(text)) << wrong.settings;
    }
    EXPECT_THAT(place.run({"runs", "list", "--json"}).output, HasSubstr("[]")) << wrong.settings;
  }
  std::string phases(const std::string& review) {
    return "phases: {discovery: small.discovery, shaping: small.shaping, design: small.design, coding: small.coding, "
           "fix: small.fix, audit: small.audit, review: " +
           review + "}";
  }
  RunFixture place{SB_PROGRAM};
};

TEST_F(Ready, AnImpossibleIsolationIsReportedBeforeTheRun) {
  const std::string doubt = phases("doubting.review") + "\n";
  const std::vector<Wrong> all = {
      {"isolation: {small.review: {mode: custom, include: [difff]}}",
       {"config.yaml:1:", "/isolation/small.review", "unknown context key \"difff\"", "Did you mean diff?"}},
      {"isolation: {small.review: {mode: custom, include: [zzz]}}", {"Known keys: goal, ticket", "discovery"}},
      {"isolation: {small.review: {mode: custom}}", {"/isolation/small.review", "mode custom needs `include`"}},
      {"isolation: {small.review: {mode: full, tier0: false}}",
       {"does not allow `tier0: false`", "use mode task-only"}},
      {"isolation: {small.review: {mode: blind, inputs: [coding.confidence]}}",
       {"the role reviewer may not get \"coding.confidence\""}},
      {"isolation: {smal.review: {mode: blind}}", {"/isolation/smal.review", "Did you mean", "small.review"}},
      {doubt + "isolation: {doubting.review: {mode: full}}",
       {"/isolation/doubting.review", "the role challenger may not get the mode full",
        "Its mode is challenger, or blind"}},
      {doubt + "isolation: {doubting.review: {mode: blind, inputs: [discovery.findings]}}",
       {"which is a result of earlier work"}},
      {phases("modest.review") + "\nisolation: {modest.review: {mode: full}}",
       {"/isolation/modest.review", "which the workflow hides from its agents with mode task-only"}},
  };
  for (const Wrong& wrong : all) expect_reported(wrong);
}

TEST_F(Ready, ARestrictedRoleWithAnOpaqueProgramIsReportedBeforeTheRun) {
  const std::string models = "models:\n  script: {provider: scripted, script: " + place.root() +
                             "/script.jsonl}\n  own: {provider: command, command: [sh]}\n";
  expect_reported({models + "roles: {default: script, challenger: own}",
                   {"/roles/challenger", "its isolation cannot be proven", "Give own an `upstream`"}});
  expect_reported({models + "roles: {default: own, worker: script}\n" + phases("doubting.review"),
                   {"/models/own", "the role challenger is restricted"}});
}

TEST_F(Ready, EverythingTheSettingsNameMustExist) {
  const std::string script = "script: {provider: scripted, script: " + place.root() + "/script.jsonl}";
  place.write("broken.jsonl", "# fine\n{\"content\": \"Hello.\"}\n{\"contnet\": \"Hello.\"}\n");
  const std::vector<Wrong> all = {
      {phases("no.such"), {"/phases/review", "no.such"}},
      {"models: {" + script + ", cc: {provider: command, command: [no-such-agent], upstream: script}}\n" +
           "roles: {default: cc}",
       {"/models/cc/command", "no-such-agent is not installed"}},
      {"models: {demo: {provider: scripted, script: nowhere.jsonl}}\nroles: {default: demo}",
       {"/models/demo/script", "nowhere.jsonl"}},
      {"models: {demo: {provider: scripted, script: " + place.root() + "/broken.jsonl}}\nroles: {default: demo}",
       {"broken.jsonl:3:", "contnet"}},
      {"roles: {default: script, reviewer: rewiever}", {"/roles/reviewer", "there is no model \"rewiever\""}},
      {"models: {" + script + ", gpt: {provider: openai, model: m, url: \"http://127.0.0.1:1/\"}, " +
           "cc: {provider: command, recipe: claude-code, upstream: gpt}}\nroles: {default: cc}",
       {"/models/cc/upstream", "uses the API of anthropic"}},
  };
  for (const Wrong& wrong : all) expect_reported(wrong);
}

TEST_F(Ready, AMissingVariableIsAWarningOfTheCheckAndStopsTheRun) {
  place.configure(
      "models: {main: {provider: anthropic, model: m, key: $NOBODY_SET_THIS}}\nroles: {default: main}\n"
      "forge: {kind: github, repository: a/b, token: $NOR_THIS}");
  const ProgramResult checked = place.run({"config", "check", place.repository()});
  EXPECT_EQ(checked.code, 0) << said(checked);
  EXPECT_THAT(checked.output, AllOf(HasSubstr("warning: "), HasSubstr("/models/main/key: $NOBODY_SET_THIS is empty"),
                                    HasSubstr("/forge/token: $NOR_THIS is empty")));
  const Value json = place.run({"config", "check", place.repository(), "--json"}).last();
  EXPECT_EQ(json["valid"], Value(true));
  EXPECT_EQ(json["warnings"].size(), 2u);
  const ProgramResult ran = place.run_goal("Make the check pass");
  EXPECT_EQ(ran.code, 2) << said(ran);
  EXPECT_THAT(ran.errors, HasSubstr("$NOBODY_SET_THIS is empty or not set"));
}

TEST_F(Ready, AnUnreachableRemoteIsAFaultOfTheCheck) {
  place.git(place.repository(), {"remote", "set-url", "origin", place.root() + "/nowhere.git"});
  const ProgramResult checked = place.run({"config", "check", place.repository()});
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.output, AllOf(HasSubstr("nowhere.git, which does not exist"), HasSubstr("git remote set-url")));
  place.git(place.repository(), {"remote", "remove", "origin"});
  EXPECT_THAT(place.run({"config", "check", place.repository()}).output, HasSubstr("has no remote named origin"));
}

// The workflow of a later phase is missing by the time it starts.
TEST_F(Ready, APhaseThatCannotStartAsksAndContinuesOnceFixed) {
  place.script(lines({Line("discovery").step("interpret").delay_ms(3'000).complete(long_notes(), {interpretation()}),
                      Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}), shaped(),
                      coded(), reviewed()}));
  std::jthread breaking([this] {
    for (int i = 0; i < 600 && place.events("phase_started").empty(); ++i) ::usleep(50'000);
    std::filesystem::rename(place.root() + "/flows/shaping.yaml", place.root() + "/shaping.yaml");
  });
  const ProgramResult ended = place.run_goal("Make the check pass");
  breaking.join();
  ASSERT_EQ(ended.code, 1) << said(ended);
  EXPECT_EQ(place.shown()["status"], Value("waiting"));
  EXPECT_THAT(place.run({"runs", "show", "last"}).output,
              AllOf(HasSubstr("why: shaping cannot start"), HasSubstr("small.shaping")));
  std::filesystem::rename(place.root() + "/shaping.yaml", place.root() + "/flows/shaping.yaml");
  ProgramResult again = place.answer_and_resume("retry");
  // A change that needed a person does not merge automatically.
  ASSERT_EQ(again.code, 1) << said(again);
  again = place.answer_and_resume("merge");
  EXPECT_EQ(again.code, 0) << said(again);
  EXPECT_EQ(place.shown()["status"], Value("merged"));
  EXPECT_EQ(place.delivered_commits(), 1);
}

TEST_F(Ready, AHaltedRunShowsTheReasonUntilItIsResumed) {
  place.write("home/work-trees", "in the way of all work trees");
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 3) << said(ended);
  EXPECT_EQ(place.shown()["status"], Value("halted"));
  EXPECT_THAT(place.run({"runs", "show", "last"}).output,
              AllOf(HasSubstr("halted: "), HasSubstr("work-trees"), HasSubstr("Resume with: signalbox runs resume")));
  EXPECT_THAT(place.run({"runs", "list"}).output, HasSubstr("halted"));
  std::filesystem::remove(place.home() + "/work-trees");
  const ProgramResult again = place.resume();
  EXPECT_EQ(again.code, 0) << said(again);
  EXPECT_EQ(place.shown()["status"], Value("merged"));
  EXPECT_EQ(place.shown().find("halted"), nullptr);
}

TEST_F(Ready, StoppingARunNeedsNoKeyAndNoProgram) {
  place.write("home/work-trees", "in the way of all work trees");
  place.run_goal("Make the check pass");
  place.configure("models: {main: {provider: anthropic, model: m, key: $NOBODY_SET_THIS}}\nroles: {default: main}");
  const ProgramResult stopped = place.run({"runs", "stop", "last"});
  EXPECT_EQ(stopped.code, 0) << said(stopped);
  EXPECT_EQ(place.shown()["status"], Value("stopped"));
}

TEST_F(Ready, TheRunListsIgnoredRules) {
  place.commit("AGENTS.md", "---\napplies_to: {a: b}\n---\nBe brief.\n");
  place.commit("CLAUDE.md", "---\napplies_to: coding\n---\nBe bold.\n");
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << said(ended);
  const Value phases = place.shown()["phases"];
  ASSERT_TRUE(phases.is_array());
  for (const Value& phase : phases.items()) {
    EXPECT_THAT(to_json(phase["bundle"]["notes"]), HasSubstr("AGENTS.md: applies_to is neither a name"));
  }
  EXPECT_THAT(place.run({"runs", "show", "last"}).output,
              HasSubstr("left out: AGENTS.md: applies_to is neither a name nor a list of names; ignored"));
  EXPECT_THAT(to_json(phases.items()[0]["bundle"]["keys"]), Not(HasSubstr("rules/CLAUDE.md")));
}

TEST_F(Ready, AnAddressAsTicketWithoutAHostedForgeSuggestsAFix) {
  const ProgramResult ended =
      place.run_goal("Make the check pass", {"--ticket", "https://github.com/acme/shop/issues/7"});
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(ended.errors, AllOf(HasSubstr("the forge here is local"), HasSubstr("--ticket FILE")));
}

}  // namespace
}  // namespace sb::pipeline_tests

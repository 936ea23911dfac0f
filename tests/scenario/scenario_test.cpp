// A runner that cannot fail would make every scenario worthless: here each kind of expectation fails once.
#include "scenario/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/process.hpp"

namespace sb::scenario {
namespace {

using testing::HasSubstr;

// Empty if the scenario with this one step passed.
std::string outcome(const std::string& step, const std::string& head = "") {
  std::signal(SIGPIPE, SIG_IGN);
  auto document = parse_document("t.yaml", "- name: t\n" + head + "  steps:\n" + step, Syntax::kYaml);
  if (!document) return "document: " + document.error().to_string();
  const auto scenarios = read_scenarios(*document);
  if (!scenarios) return "faults: " + scenarios.error().front().to_string();
  return run_scenario(scenarios->front(), SB_PROGRAMS).value_or("");
}

std::string after_printing(const std::string& text, const std::string& expectation) {
  return outcome("    - run: [sh, -c, \"printf '" + text + "'\"]\n      " + expectation + "\n");
}

TEST(ScenarioRunner, EveryExpectationPassesAndFailsWhenItShould) {
  struct Case {
    std::string printed, passes, fails;
  };
  const std::vector<Case> cases = {
      {"a", "exit: 0", "exit: 1"},
      {"a\\\\nb\\\\n", "stdout: \"a\\nb\\n\"", "stdout: \"a\\nc\\n\""},
      {"a", "stdout: a", "stdout: \"a\\n\""},
      {"", "stdout_empty: true", "stdout_contains: [a]"},
      {"abc", "stdout_contains: [a, bc]", "stdout_contains: [a, d]"},
      {"abc", "stdout_lacks: [d]", "stdout_lacks: [bc]"},
      {"abc", "stdout_matches: ^a.c$", "stdout_matches: ^b"},
      {"abc", "stderr_empty: true", "stdout_empty: true"},
      {"abc", "stderr_lacks: [x]", "stderr_contains: [x]"},
      {"[1, {\\\"a\\\": 2, \\\"b\\\": 3}]", "stdout_json: [1, {a: 2}]", "stdout_json: [1, {a: 3}]"},
      {"[1, 2]", "stdout_json: [1, 2]", "stdout_json: [1]"},
      {"{}", "stdout_json: {}", "stdout_json: {a: null}"},
      {"{", "stdout: \"{\"", "stdout_json: {}"},
      {"{\\\"a\\\": 1}", "save: {X: /a}", "save: {X: /b}"},
      {"{\\\"a\\\": \\\"[7]\\\"}", "save: {X: /a#/0}", "save: {X: /a#/1}"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(after_printing(each.printed, each.passes), "") << each.passes;
    EXPECT_NE(after_printing(each.printed, each.fails), "") << each.fails;
    EXPECT_THAT(after_printing(each.printed, each.fails), testing::StartsWith("  step 1: sh")) << each.fails;
  }
}

TEST(ScenarioRunner, ADifferenceShowsTheLinesThatDiffer) {
  EXPECT_THAT(after_printing("a\\\\nb\\\\nc\\\\n", "stdout: \"a\\nx\\nc\\n\""),
              HasSubstr("      a\n    - x\n    + b\n      c\n"));
}

TEST(ScenarioRunner, FilesAreGivenAndChecked) {
  const std::string files = "  files: {in/a.txt: hello, b.bin: {base64: AAE=}, ~/c: {repeat: xy, times: 3}}\n";
  const std::string step = "    - run: [sh, -c, 'cat in/a.txt \"$HOME/c\"; wc -c < b.bin; rm b.bin']\n";
  EXPECT_EQ(outcome(step + "      stdout: \"helloxyxyxy2\\n\"\n      files_after: {b.bin: {absent: true}, ~/c: xyxyxy, "
                           "in/a.txt: {contains: [ell], lacks: [z]}}\n",
                    files),
            "");
  for (const char* wrong :
       {"b.bin: x", "~/c: {absent: true}", "in/a.txt: hell", "in/a.txt: {contains: [z]}", "in/a.txt: {json: {}}"}) {
    EXPECT_THAT(outcome(step + "      files_after: {" + wrong + "}\n", files), testing::StartsWith("  step 1"))
        << wrong;
  }
}

TEST(ScenarioRunner, SavedNamesReachLaterSteps) {
  const std::string printing = "    - run: [sh, -c, \"printf '{\\\"s\\\": \\\"abc\\\"}'\"]\n      save: {S: /s}\n";
  const std::string second = "    - run: [sh, -c, 'cat; echo ${S} ${UNSET-none}']\n      stdin: \"<${S}>\"\n";
  EXPECT_EQ(outcome(printing + second + "      stdout: \"<${S}>abc none\\n\"\n"), "");
  EXPECT_THAT(outcome(printing + second + "      stdout: \"<>\"\n"), HasSubstr("step 2"));
}

TEST(ScenarioRunner, TheEnvironmentIsScrubbed) {
  ::setenv("SB_LEAK", "1", 1);
  EXPECT_EQ(
      outcome(
          "    - run: [sh, -c, 'echo ${SB_LEAK-clean} $X; test $SIGNALBOX_HOME = $HOME/.sb && test ! -e $HOME/.sb']\n"
          "      stdout: \"clean 1\\n\"\n",
          "  env: {X: 1}\n"),
      "");
}

TEST(ScenarioRunner, AMistypedKeyIsAFault) {
  EXPECT_THAT(outcome("    - run: [sh]\n      stdot: x\n"), HasSubstr("faults: t.yaml:4"));
  EXPECT_THAT(outcome("    - run: [cat]\n"), HasSubstr("a scenario may not run this program"));
  EXPECT_THAT(outcome("    - run: [sh]\n      stdin: {base64: '*'}\n"), HasSubstr("not base64"));
  EXPECT_THAT(outcome("    []\n"), HasSubstr("at least one step"));
  EXPECT_THAT(outcome("    - run: [sh]\n", "  needs: sandbx\n"), HasSubstr("unknown need"));
}

TEST(ScenarioRunner, TypesIntoATerminal) {
  EXPECT_EQ(outcome("    - run: [terminal, wait, 'Name?', type, \"Ann\\n\", --, sh, -c, 'echo Name?; read x; echo $x!']"
                    "\n      stdout_contains: [Ann!]\n"),
            "");
}

// With a failing bwrap first in PATH, as in a container that cannot create namespaces.
TEST(ScenarioRunner, SkipsScenariosThatNeedAMissingSandbox) {
  const std::string folder = testing::TempDir() + "sb_no_namespaces";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/bwrap") << "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
  std::filesystem::permissions(folder + "/bwrap", std::filesystem::perms::owner_all);
  const std::string path = folder + "/scenarios.yaml";
  std::ofstream(path) << "- {name: plain, steps: [{run: [sh, -c, 'exit 0']}]}\n"
                         "- {name: held, needs: sandbox, steps: [{run: [sh, -c, 'exit 3']}]}\n";
  Command command;
  command.argv = {SB_RUNNER, "--programs", SB_PROGRAMS, path};
  command.environment = {{"PATH", folder + ":/usr/bin:/bin"}};
  const ProcessResult exit = SystemProcess().run(command).value();
  EXPECT_EQ(exit.code, 0) << exit.output;
  EXPECT_EQ(exit.output,
            "SKIPPED scenarios.yaml: held\n  bwrap: No permissions to create new namespace\n1 passed, 0 failed, 1 "
            "skipped\n");
}

TEST(ScenarioRunner, TheProgramCountsAndFails) {
  const std::string path = testing::TempDir() + "sb_scenarios.yaml";
  std::ofstream(path) << "- {name: good, requirement: [R-1], steps: [{run: [sh, -c, 'exit 0']}]}\n"
                         "- {name: bad, requirement: [R-2], steps: [{run: [sh, -c, 'exit 3']}]}\n";
  const auto run = [&](std::vector<std::string> arguments) {
    Command command;
    command.argv = {SB_RUNNER, "--programs", SB_PROGRAMS, path};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return SystemProcess().run(command).value();
  };
  const ProcessResult both = run({});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.output,
              HasSubstr("FAILED sb_scenarios.yaml: bad\n  step 1: sh -c exit 3\n  exit: expected 0, found 3"));
  EXPECT_THAT(both.output, testing::EndsWith("1 passed, 1 failed\n"));
  EXPECT_EQ(run({"--filter", "good"}).output, "1 passed, 0 failed\n");
  EXPECT_EQ(run({"--filter", "R-2"}).code, 1);
  EXPECT_EQ(run({"--filter", "nothing"}).code, 2);
  EXPECT_EQ(run({"--list-requirements"}).output, "R-1 sb_scenarios.yaml: good\nR-2 sb_scenarios.yaml: bad\n");
  EXPECT_EQ(run({"no-such-file.yaml"}).code, 2);
}

}  // namespace
}  // namespace sb::scenario

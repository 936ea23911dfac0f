#include "pipeline/delivery/judges.hpp"

#include <gmock/gmock.h>

namespace sb::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Project {
  std::map<std::string, TreeEntry> entries;

  void file(const std::string& path, const std::string& text, bool is_executable = false) {
    entries[path] = {text, false, is_executable};
  }
  void link(const std::string& path, const std::string& target) { entries[path] = {target, true, false}; }

  // The files of the change that judge, given these checks.
  std::vector<std::string> judges(const std::vector<std::string>& checks,
                                  const std::vector<std::string>& changed) const {
    const ReadEntries read = [&](const std::vector<std::string>& paths) -> Result<std::map<std::string, TreeEntry>> {
      std::map<std::string, TreeEntry> found;
      for (const std::string& path : paths) {
        if (const auto entry = entries.find(path); entry != entries.end()) found.insert(*entry);
      }
      return found;
    };
    std::vector<ProjectCheck> commands;
    for (const std::string& run : checks) commands.push_back({run, run});
    JudgePolicy policy{.checks = *files_of_checks(commands, read), .rules = {"docs/VISION.md"}, .protected_paths = {}};
    std::vector<Change> changes;
    for (const std::string& path : changed) changes.push_back({'M', path});
    std::vector<std::string> names;
    for (const Judge& judge : judges_in(changes, policy)) names.push_back(judge.file);
    return names;
  }
};

TEST(Judges, AreTheFilesThatACommandNames) {
  const Project project;
  EXPECT_THAT(project.judges({"./check --config ci/lint.json"}, {"check", "ci/lint.json", "src/a.c", "recheck"}),
              ElementsAre("check", "ci/lint.json"));
  EXPECT_THAT(project.judges({"cd ci && FOO=1 ./run.sh"}, {"ci/run.sh", "run.sh"}), ElementsAre("ci/run.sh", "run.sh"));
  EXPECT_THAT(project.judges({"for f in ci/*.sh; do sh $f; done"}, {"ci/a.sh", "other/a.sh"}), ElementsAre("ci/a.sh"));
  EXPECT_THAT(project.judges({"python3 -m tools.lint src"}, {"tools/lint.py", "src/x.py"}),
              ElementsAre("tools/lint.py"));
}

TEST(Judges, AreWhatDrivesTheProgramsOfACheck) {
  const Project project;
  const std::vector<std::string> changed = {"GNUmakefile", "package.json", "web/package.json", "a/conftest.py",
                                            "tests/a_test.py"};
  EXPECT_THAT(project.judges({"make check"}, changed), ElementsAre("GNUmakefile"));
  EXPECT_THAT(project.judges({"npm test"}, changed), ElementsAre("package.json", "web/package.json"));
  EXPECT_THAT(project.judges({"env CI=1 /usr/bin/pytest -q"}, changed), ElementsAre("a/conftest.py"));
  EXPECT_THAT(project.judges({"true"}, changed), IsEmpty());
}

TEST(Judges, AreWhatTheirScriptsRunButNotWhatTheyRead) {
  Project project;
  project.file("check", "#!/bin/sh\nsh \"$(dirname \"$0\")/ci/all.sh\"\ngrep -q right answer.txt\n", true);
  project.file("ci/all.sh", ". ./env.sh\n./fast data.txt\nnpm run lint\n");
  project.file("ci/env.sh", "X=1\n");
  project.file("ci/fast", "#!/bin/sh\n", true);
  project.file("ci/data.txt", "");
  project.file("answer.txt", "");
  project.file("package.json", R"({"main": "src/main.js", "scripts": {"lint": "node tools/lint.js"}})");
  project.file("tools/lint.js", "require('./rules')");
  EXPECT_THAT(project.judges({"./check"}, {"answer.txt", "ci/all.sh", "ci/data.txt", "ci/env.sh", "ci/fast",
                                           "package.json", "src/main.js", "tools/lint.js"}),
              ElementsAre("ci/all.sh", "ci/env.sh", "ci/fast", "package.json", "tools/lint.js"));
}

TEST(Judges, AreFoundThroughLinks) {
  Project project;
  project.link("check", "scripts/check");
  project.link("scripts", "tools/v2");
  project.file("tools/v2/check", "#!/bin/sh\n./helper\n", true);
  project.file("tools/v2/helper", "#!/bin/sh\n", true);
  EXPECT_THAT(project.judges({"./check"}, {"check", "scripts", "tools/v2/check", "tools/v2/helper"}),
              ElementsAre("check", "scripts", "tools/v2/check", "tools/v2/helper"));
  project.link("loop", "loop");
  EXPECT_THAT(project.judges({"./loop"}, {"loop"}), ElementsAre("loop"));
}

TEST(Judges, AreKnownByNameInAnyCaseAndByBothNamesOfARename) {
  const Project project;
  EXPECT_THAT(project.judges({}, {"claude.MD", "a/b/Agents.md", ".Github/workflows/x.yml", "SignalBox.yaml",
                                  "workflows/x.yaml", "docs/VISION.md", "docs/other.md", ".gitignore"}),
              ElementsAre(".Github/workflows/x.yml", "SignalBox.yaml", "a/b/Agents.md", "claude.MD", "docs/VISION.md",
                          "workflows/x.yaml"));
  EXPECT_THAT(judges_in({{.status = 'R', .path = "kept.md", .old_path = "CLAUDE.md"}}, {}),
              ElementsAre(Judge{"CLAUDE.md", "rules for agents"}));
}

// The program under test: its output is compared.
TEST(Judges, AreNotWhatAScriptTests) {
  Project project;
  project.file("check", "#!/bin/sh\ncase $(./app) in Hello) ;; esac\ntest \"`./app Ada`\" = x && ./more\n", true);
  project.file("app", "#!/bin/sh\n", true);
  project.file("more", "#!/bin/sh\n", true);
  EXPECT_THAT(project.judges({"./check"}, {"app", "more"}), ElementsAre("more"));
  EXPECT_THAT(project.judges({"test \"$(./app)\" = x"}, {"app"}), ElementsAre("app")) << "the command names it";
}

// Scripts that name each other, or thousands of files, end.
TEST(Judges, AreFoundWithBoundedWork) {
  Project project;
  std::string names;
  for (int i = 0; i < 5'000; ++i) names += " ./f" + std::to_string(i);
  project.file("a", "sh b\n" + names, true);
  project.file("b", "sh a\n" + names, true);
  EXPECT_THAT(project.judges({"./a"}, {"a", "b"}), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace sb::pipeline

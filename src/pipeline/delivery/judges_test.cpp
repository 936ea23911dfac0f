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
    JudgePolicy policy{.known = *files_of_checks(commands, read), .rules = {"docs/VISION.md"}, .protected_paths = {}};
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

TEST(Judges, AreTheModulesThatPythonFindsFirst) {
  Project project;
  project.file("ci/check.py", "import json\nimport rules, os.path\nfrom .more import x\nfrom app import main\n");
  project.file("ci/rules.py", "import deep.er\n");
  const std::vector<std::string> changed = {"app.py",      "ci/deep/er.py", "ci/deep/__init__.py",  "ci/more.py",
                                            "ci/other.py", "ci/rules.py",   "ci/rules/__init__.py", "src/rules.py"};
  EXPECT_THAT(project.judges({"python3 ci/check.py"}, changed),
              ElementsAre("ci/deep/__init__.py", "ci/deep/er.py", "ci/more.py", "ci/rules.py", "ci/rules/__init__.py"));
  EXPECT_THAT(project.judges({"python3 -m tools.lint"}, {"tools/__init__.py", "tools/lint/__main__.py", "tools/x.py"}),
              ElementsAre("tools/__init__.py", "tools/lint/__main__.py"));
  // At the root a script imports what it tests.
  project.file("check.py", "import app\n");
  EXPECT_THAT(project.judges({"python3 check.py"}, {"app.py"}), IsEmpty());
}

// New files only: one that has been there is the project's own.
TEST(Judges, AreNewFilesThatReplaceAModuleOfPython) {
  Project project;
  project.file("ci/check.py", "");
  const auto judged = [&](const std::string& path, char status) {
    const ReadEntries read = [&](const auto&) -> Result<std::map<std::string, TreeEntry>> { return project.entries; };
    const JudgePolicy policy{.known = *files_of_checks({{"x", "python3 ci/check.py"}}, read)};
    return !judges_in({{.status = status, .path = path}}, policy).empty();
  };
  for (const char* path : {"json.py", "unittest/__init__.py", "ci/json.py", "tests/random.py", "pytest.py"}) {
    EXPECT_TRUE(judged(path, 'A')) << path;
    EXPECT_FALSE(judged(path, 'M')) << path;
  }
  for (const char* path : {"jason.py", "app/json.py", "json.txt", "unittest/case.py"})
    EXPECT_FALSE(judged(path, 'A')) << path;
}

TEST(Judges, AreWhatNodeAndRubyScriptsImport) {
  Project project;
  project.file("ci/check.mjs", "import rules from './rules.mjs'\nconst b = require(\"./b\")\nimport '../src/app.js'\n");
  project.file("ci/lint.rb", "require_relative 'words'\n");
  EXPECT_THAT(project.judges({"node ci/check.mjs && ruby ci/lint.rb"},
                             {"ci/b/index.js", "ci/b.js", "ci/rules.mjs", "ci/words.rb", "ci/x.js", "src/app.js"}),
              ElementsAre("ci/b.js", "ci/b/index.js", "ci/rules.mjs", "ci/words.rb"));
}

TEST(Judges, AreWhatRulesReferTo) {
  Project project;
  project.file("CLAUDE.md", "See @docs/style.md, and me@example.org.");
  project.file("docs/style.md", "And @more/names.md.");
  project.file("docs/more/names.md", "@style.md");
  project.link(".claude", "tools/claude");
  project.link("sub/AGENTS.md", "../docs/agents.md");
  project.file("docs/agents.md", "@words.md");
  const std::vector<ListedFile> all = {{"CLAUDE.md"}, {".claude", true}, {"sub/AGENTS.md", true}, {"docs/style.md"}};
  const ReadEntries read = [&](const std::vector<std::string>& paths) -> Result<std::map<std::string, TreeEntry>> {
    std::map<std::string, TreeEntry> found;
    for (const std::string& path : paths) {
      if (const auto entry = project.entries.find(path); entry != project.entries.end()) found.insert(*entry);
    }
    return found;
  };
  const JudgePolicy policy{.known = *files_of_rules(all, read)};
  std::vector<Change> changes;
  for (const char* path : {"docs/style.md", "docs/more/names.md", "docs/words.md", "docs/agents.md",
                           "tools/claude/settings.json", "tools/other", "docs/free.md"}) {
    changes.push_back({'M', path});
  }
  std::vector<std::string> names;
  for (const Judge& judge : judges_in(changes, policy)) names.push_back(judge.file);
  EXPECT_THAT(names, ElementsAre("docs/agents.md", "docs/more/names.md", "docs/style.md", "docs/words.md",
                                 "tools/claude/settings.json"));
}

TEST(Judges, AreTheSettingsOfLintersInAnyFolder) {
  const Project project;
  EXPECT_THAT(project.judges({"shellcheck x.sh", "cd sub && cargo test", "clang-tidy a.cpp"},
                             {".clang-tidy", "a/.shellcheckrc", "sub/.cargo/config.toml", "x.cpp"}),
              ElementsAre(".clang-tidy", "a/.shellcheckrc", "sub/.cargo/config.toml"));
}

// However a script names what it runs.
TEST(Judges, AreWhatScriptsRunInOtherWords) {
  const std::vector<std::pair<std::string, std::string>> scripts = {
      {"DIR=ci\n. $DIR/lib\n", "ci/lib"},
      {". \"${BASH_SOURCE%/*}/ci/lib\"\n", "ci/lib"},
      {"ROOT=$(dirname \"$0\")/ci\nsh -eu \"$ROOT/lib\"\n", "ci/lib"},
      {"bash -euo pipefail ci/lib\n", "ci/lib"},
      {"env A=1 sh ci/lib\n", "ci/lib"},
      {"cd \"$(dirname \"$0\")/ci\" && sh lib\n", "ci/lib"},
      {"pushd ci && sh lib\n", "ci/lib"},
      {"for f in ci/*.sh; do . \"./$f\"; done\n", "ci/new.sh"},
      {"find ci -name '*.sh' -exec sh {} \\;\n", "ci/a.sh"},
      {"find ci -name '*.sh' | xargs sh\n", "ci/a.sh"},
      {"run-parts ci\n", "ci/a"},
      {"awk -f ci/rules.awk answer.txt\n", "ci/rules.awk"},
      {"eslint --config ci/strict.json src\n", "ci/strict.json"},
      {"make -C ci all\n", "ci/lib"},
      {"npm --prefix web test\n", "web/run.js"},
      {"cmake -S . -B build && ctest\n", "ci/lib"},
      {"node ci/check.js\n", "ci/rules.js"},
      {"sh ci/all.sh\n", "ci/count.sh"},
      {"cargo test\n", "ci/lib"},
      {"pytest -p plug -q\n", "plug.py"},
      {"pytest -q\n", "tools/more.py"},
  };
  for (const auto& [script, expected] : scripts) {
    Project project;
    project.file("check", "#!/bin/sh\n" + script + "grep -q right answer.txt\n", true);
    for (const char* text : {"ci/lib", "ci/a.sh", "ci/a", "ci/rules.awk", "ci/strict.json", "web/run.js", "ci/rules.js",
                             "ci/count.sh", "plug.py", "tools/more.py", "answer.txt", "src/app.js"}) {
      project.file(text, "");
    }
    project.file("ci/Makefile", "all:\n\tsh lib\n");
    project.file("web/package.json", R"({"scripts": {"test": "node run.js"}})");
    project.file("CMakeLists.txt", "add_subdirectory(sub)\n");
    project.file("sub/CMakeLists.txt", "add_test(NAME a COMMAND sh ${CMAKE_SOURCE_DIR}/ci/lib)\n");
    project.file("ci/check.js", "execSync(`node ci/rules.js`)\n");
    project.file("ci/all.sh", "n=$(sh ci/count.sh)\n");
    project.file(".cargo/config.toml", "[target.x]\nrunner = \"sh ci/lib\"\n");
    project.file("pytest.ini", "[pytest]\npythonpath = tools\naddopts = -p more\n");
    EXPECT_THAT(project.judges({"./check"}, {expected, "answer.txt", "src/app.js", "tests/new.sh"}),
                ElementsAre(expected))
        << script;
  }
}

// What they read or test, or only check, is the change itself.
TEST(Judges, AreNotWhatScriptsReadOrTestInOtherWords) {
  const std::vector<std::string> scripts = {
      "for t in tests/*.sh; do sh \"$t\"; done\n",
      "find src -name '*.sh' -exec bash -n {} \\;\n",
      "find src -name '*.py' -exec python3 -m py_compile {} +\n",
      "DIR=src\ndiff -u src/expected.txt src/data.txt\ntest -f $DIR/data.txt && sh -c 'cat src/data.txt'\n",
      "eslint src/*.js\nfor f in src/*.c; do cc -c $f; done\n",
      "cd src && test \"$(./app)\" = x\n",
  };
  for (const std::string& script : scripts) {
    Project project;
    project.file("check", "#!/bin/sh\n" + script, true);
    const std::vector<std::string> changed = {"src/a.c",      "src/a.js",         "src/a.py", "src/a.sh",
                                              "src/data.txt", "src/expected.txt", "src/app",  "tests/a.sh"};
    for (const std::string& path : changed) project.file(path, "", path == "src/app");
    EXPECT_THAT(project.judges({"./check"}, changed), IsEmpty()) << script;
  }
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

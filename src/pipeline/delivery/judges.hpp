// The files that decide how later changes are judged: checks and what they run, workflows, rules for agents, settings,
// CI, git's own settings. A change to one of them is never merged without a person who has seen it.
//
// What counts as a check's file:
//   - every file that the command names: ./check, tests/run.py, config/lint.json
//   - the files that the programs in it are driven by: package.json for npm, Makefile for make, conftest.py for pytest
//   - the same again for the scripts found that way, as they were before the change: what they name counts if it is
//     executable or is run by an interpreter (`sh ci/lint.sh`); data that a script only reads does not, and neither
//     does a program whose output it takes (`$(./app)`), which is what it tests
//   - what such a script imports from its own folder, unless that is the root: there it imports what it tests
//   - new files that would replace a module of Python's library where a check looks for modules first
//   - what `setup` makes: a file of the change in its place is used instead of it
// Links on the way to such a file count too, and case does not matter: other systems ignore it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/delivery/delivery.hpp"

namespace sb::pipeline {

struct Judge {
  std::string file, why;
  bool operator==(const Judge&) const = default;
};

// An entry of a commit.
struct TreeEntry {
  std::string text;  // of a file; of a link its target
  bool is_link = false, is_executable = false;
};
// Those of the paths that are files or links there.
using ReadEntries = std::function<Result<std::map<std::string, TreeEntry>>(const std::vector<std::string>& paths)>;

// Files that judge because of what is in the repository, by path: `why`.
struct JudgeFiles {
  using Reasons = std::map<std::string, std::string, std::less<>>;
  Reasons files;
  Reasons below;           // these, and everything below them
  Reasons globs;           // of drivers: package.json for npm
  Reasons module_folders;  // where Python looks for modules before its own library
  void add(JudgeFiles more);
};
Result<JudgeFiles> files_of_checks(const std::vector<ProjectCheck>& checks, const ReadEntries& read);

// What rules for agents lead to: targets of links among them, and files that they include (`@docs/style.md`).
struct ListedFile {
  std::string path;
  bool is_link = false;
};
Result<JudgeFiles> files_of_rules(const std::vector<ListedFile>& all, const ReadEntries& read);

// Those of the changed files that judge. `policy`: globs of the settings (rules and identity files, protected files).
struct JudgePolicy {
  JudgeFiles known;
  std::vector<std::string> rules = {}, protected_paths = {};
};
std::vector<Judge> judges_in(const std::vector<Change>& changes, const JudgePolicy& policy);

}  // namespace sb::pipeline

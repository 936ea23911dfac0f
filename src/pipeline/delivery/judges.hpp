// The files that decide how later changes are judged: checks and what they run, workflows, rules for agents, settings,
// CI, git's own settings. A change to one of them is never merged without a person who has seen it.
//
// What counts as a check's file:
//   - every file that the command names: ./check, tests/run.py, config/lint.json
//   - the files that the programs in it are driven by: package.json for npm, Makefile for make, conftest.py for pytest
//   - the same again for the scripts found that way, as they were before the change: what they name counts if it is
//     executable or is run by an interpreter (`sh ci/lint.sh`); data that a script only reads does not, and neither
//     does a program whose output it takes (`$(./app)`), which is what it tests
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

// The files behind the checks, by path: `why`. Names of drivers are globs.
struct CheckFiles {
  std::map<std::string, std::string, std::less<>> files, drivers;
};
Result<CheckFiles> files_of_checks(const std::vector<ProjectCheck>& checks, const ReadEntries& read);

// Those of the changed files that judge. `policy`: globs of the settings (rules and identity files, protected files).
struct JudgePolicy {
  CheckFiles checks;
  std::vector<std::string> rules, protected_paths;
};
std::vector<Judge> judges_in(const std::vector<Change>& changes, const JudgePolicy& policy);

}  // namespace sb::pipeline

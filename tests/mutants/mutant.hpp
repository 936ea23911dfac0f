// Mutants: each breaks one line of the program, and a named test must fail. tests/mutants.yaml lists them:
//
//   - requirement: REQ-INT-19             # the requirement this line implements
//     file: src/decision/classify.cpp
//     find: "return Kind::kEmpty;"        # exact text that occurs once in the file
//     replace: "return Kind::kOption;"
//     target: test_decision               # a unit test program …
//     filter: ReqInt19.*                  # … and its tests that must fail
//   - requirement: exit codes
//     file: src/cli/dispatch.cpp
//     find: …
//     replace: …
//     ctest: ^scenario\.version$          # or ctest tests; builds the programs and the tests that start them
#pragma once

#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/process.hpp"
#include "base/result.hpp"

namespace sb::mutants {

struct Mutant {
  std::string requirement;
  std::string file;
  std::string find;
  std::string replace;
  std::string target;  // with filter; empty when ctest is used
  std::string filter;
  std::string ctest;
};

Checked<std::vector<Mutant>> read_mutants(const Document& document);

// Faults of the list: a missing file, a text that does not occur exactly once, a filter that matches no test.
Faults check_mutants(const std::vector<Mutant>& mutants, const std::string& tree);

// Copies `tree` to `copy` without build and git folders, and touches only files that differ.
Status copy_tree(const std::string& tree, const std::string& copy);

enum class Verdict {
  kKilled,    // the named test failed, as it must
  kSurvived,  // it passed: it does not cover this line
  kBroken,    // not tested: the mutant does not compile, or the test fails without it too
};

struct Judgement {
  Verdict verdict = Verdict::kBroken;
  std::string detail;
};

// Builds and runs the named test in the unchanged copy; kKilled means it failed.
Judgement run_named_test(const Mutant& mutant, const std::string& copy, Process& process);
// The same with the line broken; the file is restored afterwards.
Judgement judge(const Mutant& mutant, const std::string& copy, Process& process);

}  // namespace sb::mutants

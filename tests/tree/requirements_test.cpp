// Every requirement has a test with its id: in the name of a unit test (ReqInt19, ReqSplit22, Amb7, AmbS8, Gap4), or in
// `requirement:` of a scenario (REQ-INT-45).
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "base/document/document.hpp"
#include "scenario/scenario.hpp"
#include "tree/source_tree.hpp"
#include "tree/test_names.hpp"

namespace sb::tree {
namespace {

struct Family {
  std::string_view in_names;  // of unit tests
  std::string_view in_text;   // of scenarios
  int count;
};
constexpr Family kFamilies[] = {{"ReqInt", "REQ-INT-", 72},
                                {"ReqSplit", "REQ-SPLIT-", 56},
                                {"Amb", "AMB-", 32},
                                {"AmbS", "AMB-S", 23},
                                {"Gap", "GAP-", 19}};

using Requirements = std::vector<std::string>;

// The numbers of all parts of the name, split at underscores, that are `mark` followed by a number.
void collect(std::string_view name, std::string_view mark, std::set<int>& into) {
  while (!name.empty()) {
    std::string_view part = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (!part.starts_with(mark)) continue;
    part.remove_prefix(mark.size());
    int number = 0;
    while (!part.empty() && std::isdigit(static_cast<unsigned char>(part.front())) != 0) {
      number = number * 10 + (part.front() - '0');
      part.remove_prefix(1);
    }
    if (number > 0) into.insert(number);
  }
}

bool is_test_source(std::string_view path) {
  return path.ends_with("_test.cpp") && !path.starts_with("tests/tree/");
}

// Suites and names of all unit tests.
Requirements named_in_tests(const SourceTree& tree) {
  Requirements all;
  for (const auto& [path, text] : tree) {
    if (!is_test_source(path)) continue;
    for (const TestName& test : test_names(text)) all.insert(all.end(), {test.suite, test.name});
  }
  return all;
}

Requirements listed_in_scenarios(const SourceTree& tree) {
  Requirements all;
  for (const auto& [path, text] : tree) {
    if (!path.starts_with("tests/scenarios/") || !path.ends_with(".yaml")) continue;
    const auto document = parse_document(path, text, Syntax::kYaml);
    const auto scenarios = document ? scenario::read_scenarios(*document) : std::vector<scenario::Scenario>();
    EXPECT_TRUE(document && scenarios) << path;
    for (const scenario::Scenario& each : scenarios.value_or(std::vector<scenario::Scenario>())) {
      all.insert(all.end(), each.requirements.begin(), each.requirements.end());
    }
  }
  return all;
}

std::vector<std::string> untested(const SourceTree& tree) {
  const Requirements names = named_in_tests(tree);
  const Requirements ids = listed_in_scenarios(tree);
  std::vector<std::string> missing;
  for (const Family& family : kFamilies) {
    std::set<int> tested;
    for (const std::string& name : names) collect(name, family.in_names, tested);
    for (const std::string& id : ids) collect(id, family.in_text, tested);
    for (int number = 1; number <= family.count; ++number) {
      if (!tested.contains(number)) missing.push_back(std::string(family.in_text) + std::to_string(number));
    }
  }
  return missing;
}

TEST(Requirements, AreAllTested) {
  const auto missing = untested(read_tree(SB_SOURCE_DIR));
  std::string names;
  for (const auto& id : missing) names += " " + id;
  EXPECT_TRUE(missing.empty()) << "no test is named after:" << names;
}

// Defects found in runs of the earlier system, `D05_…` in the name of a test. The others belong to intake.
constexpr int kDefects = 28;
const std::set<int> kDefectsOfIntake = {11, 13, 15, 20};

std::set<int> tested_defects(const SourceTree& tree) {
  std::set<int> tested;
  for (const auto& [path, text] : tree) {
    if (!is_test_source(path)) continue;
    for (const TestName& test : test_names(text)) {
      const std::string name = "_" + test.name;
      for (std::size_t at = name.find("_D"); at != name.npos; at = name.find("_D", at + 1)) {
        const auto digit = [&](std::size_t i) { return std::isdigit(static_cast<unsigned char>(name[at + i])) != 0; };
        if (at + 4 >= name.size() || !digit(2) || !digit(3) || name[at + 4] != '_') continue;
        tested.insert((name[at + 2] - '0') * 10 + (name[at + 3] - '0'));
      }
    }
  }
  return tested;
}

TEST(Requirements, EveryDefectOfTheOldRunsHasATest) {
  const std::set<int> tested = tested_defects(read_tree(SB_SOURCE_DIR));
  std::string missing;
  for (int number = 1; number <= kDefects; ++number) {
    if (!tested.contains(number) && !kDefectsOfIntake.contains(number)) missing += " D" + std::to_string(number);
  }
  EXPECT_TRUE(missing.empty()) << "no test is named after:" << missing;
}

TEST(Requirements, AMissingDefectIsFound) {
  const SourceTree tree = {{"src/a_test.cpp", "TEST(Run, D05_Resumes) TEST(Run, XD06_No) TEST(Run, D7_No)"},
                           {"src/b_test.cpp", "TEST(Run, D01_D02_Both) // D09_"},
                           {"src/c.cpp", "TEST(Run, D08_No)"}};
  EXPECT_EQ(tested_defects(tree), (std::set<int>{1, 2, 5}));
}

TEST(Requirements, AMissingOneIsFound) {
  const SourceTree tree = {
      {"src/a_test.cpp", "TEST(ReqInt1, X) {} TEST_F(AmbS23, Y) {} TEST_P(Z, ReqInt4_ReqInt6_W) {} // XReqInt2"},
      {"src/b.cpp", "TEST(ReqInt3, X) {}"},
      {"src/c_test.cpp", "// ReqInt5, TEST(ReqInt7, X)\n/* TEST(ReqInt8, X) */ auto x = \"TEST(ReqInt9, X)\";"},
      {"src/d_test.cpp", "auto x = R\"(TEST(ReqInt10, X))\"; struct ReqInt11 {}; CONTEST(ReqInt12, X) {}"},
      {"src/e_test.cpp", "TEST(XReqInt13, X) {} TEST(DISABLED_ReqInt18, X) {} TEST(ReqInt19, DISABLED_X) {}"},
      {"tests/scenarios/a.yaml",
       "# REQ-INT-14\n- name: REQ-INT-15\n  requirement: [REQ-INT-16, AMB-7]\n"
       "  steps: [{run: [sh, REQ-INT-17]}]\n"}};
  const auto missing = untested(tree);
  const std::set<std::string> names(missing.begin(), missing.end());
  for (const char* id : {"REQ-INT-1", "REQ-INT-4", "REQ-INT-6", "REQ-INT-16", "AMB-S23", "AMB-7"}) {
    EXPECT_FALSE(names.contains(id)) << id;
  }
  for (const int number : {2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19}) {
    EXPECT_TRUE(names.contains("REQ-INT-" + std::to_string(number))) << number;
  }
  EXPECT_TRUE(names.contains("AMB-23"));
}

}  // namespace
}  // namespace sb::tree

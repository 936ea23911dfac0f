// Every requirement has a test that carries its id: in the name of a unit test (ReqInt19, ReqSplit22, Amb7, AmbS8,
// Gap4), in `requirement:` of a scenario, or in a row of a table test ("REQ-INT-45").
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "tree/source_tree.hpp"

namespace sb::tree {
namespace {

struct Family {
  std::string_view in_names;  // of unit tests
  std::string_view in_text;   // of scenarios and table rows
  int count;
};
constexpr Family kFamilies[] = {{"ReqInt", "REQ-INT-", 72},
                                {"ReqSplit", "REQ-SPLIT-", 56},
                                {"Amb", "AMB-", 32},
                                {"AmbS", "AMB-S", 23},
                                {"Gap", "GAP-", 19}};

// Collects the number after each `mark` that starts a word.
void collect(std::string_view text, std::string_view mark, std::set<int>& into) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    int number = 0;
    for (std::size_t i = at + mark.size(); i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
         ++i) {
      number = number * 10 + (text[i] - '0');
    }
    if (number > 0) into.insert(number);
  }
}

std::vector<std::string> untested(const SourceTree& tree) {
  std::vector<std::string> missing;
  for (const Family& family : kFamilies) {
    std::set<int> tested;
    for (const auto& [path, text] : tree) {
      const bool is_unit = path.ends_with("_test.cpp") && path != "tests/tree/requirements_test.cpp";
      if (is_unit) collect(text, family.in_names, tested);
      if (is_unit || path.starts_with("tests/scenarios/")) collect(text, family.in_text, tested);
    }
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

// Defects of the earlier system whose runs we learned from: `D05_…` in the name of a test. The rest comes with intake.
constexpr int kDefects = 28;
const std::set<int> kDefectsOfIntake = {11, 13, 15, 20};

std::set<int> tested_defects(const SourceTree& tree) {
  std::set<int> tested;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with("_test.cpp") || path.starts_with("tests/tree/")) continue;
    for (std::size_t at = text.find("TEST"); at != std::string::npos; at = text.find("TEST", at + 1)) {
      const std::string_view name = std::string_view(text).substr(at, text.find(')', at) - at);
      for (std::size_t d = name.find('D'); d != name.npos; d = name.find('D', d + 1)) {
        const bool begins = name[d - 1] == ' ' || name[d - 1] == '_' || name[d - 1] == '(';
        if (!begins || d + 3 >= name.size() || name[d + 3] != '_') continue;
        if (std::isdigit(static_cast<unsigned char>(name[d + 1])) != 0 &&
            std::isdigit(static_cast<unsigned char>(name[d + 2])) != 0) {
          tested.insert((name[d + 1] - '0') * 10 + (name[d + 2] - '0'));
        }
      }
    }
  }
  return tested;
}

TEST(Requirements, EveryDefectOfTheEarlierSystemHasATest) {
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

TEST(Requirements, AMissingRequirementIsFound) {
  const SourceTree tree = {{"src/a_test.cpp", "TEST(ReqInt1, X) TEST(AmbS23, Y) // XReqInt2"},
                           {"src/b.cpp", "TEST(ReqInt3, X)"}};
  const auto missing = untested(tree);
  const std::set<std::string> names(missing.begin(), missing.end());
  EXPECT_FALSE(names.contains("REQ-INT-1"));
  EXPECT_FALSE(names.contains("AMB-S23"));
  EXPECT_TRUE(names.contains("REQ-INT-2"));
  EXPECT_TRUE(names.contains("REQ-INT-3"));
  EXPECT_TRUE(names.contains("AMB-23"));
}

}  // namespace
}  // namespace sb::tree

#include "mutants/mutant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/fakes.hpp"

namespace sb::mutants {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProcessResult exit_with(int code, std::string output = {}) {
  ProcessResult exit;
  exit.code = code;
  exit.output = std::move(output);
  return exit;
}

class MutantTest : public testing::Test {
 protected:
  MutantTest() : root_(testing::TempDir() + "sb_mutants_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(root_ + "/src");
    EXPECT_TRUE(files_.write_atomic(root_ + "/src/a.cpp", kText));
    EXPECT_TRUE(files_.write_atomic(root_ + "/src/a_test.cpp", "TEST(X, Y) {}\nTEST_P(Z, Q) {}\n"));
  }
  ~MutantTest() override { std::filesystem::remove_all(root_); }

  Judgement judge_when(int build_code, int test_code, std::string output = "[  PASSED  ] 1 test.") {
    FakeProcess process([&](const Command& command) -> Result<ProcessResult> {
      if (command.argv.front() == "cmake") return exit_with(build_code);
      seen_ = files_.read(root_ + "/src/a.cpp", 1000).value();
      return exit_with(test_code, output);
    });
    return judge(mutant_, root_, process);
  }

  static constexpr const char* kText = "if (a < b) return 1;\nreturn 2;\n";
  SystemFiles files_;
  std::string root_;
  std::string seen_;
  Mutant mutant_{"R", "src/a.cpp", "a < b", "a > b", "test_x", "X.*", ""};
};

TEST_F(MutantTest, IsKilledWhenItsTestFails) {
  EXPECT_EQ(judge_when(0, 1).verdict, Verdict::kKilled);
  EXPECT_EQ(seen_, "if (a > b) return 1;\nreturn 2;\n");
  EXPECT_EQ(files_.read(root_ + "/src/a.cpp", 1000), kText) << "the file is restored";
}

TEST_F(MutantTest, AFilterThatMatchesNoTestIsAFault) {
  for (const char* filter : {"X.*", "X.Y", "No.*:X.?", "Cases/Z.Q/*", "X.*-X.N"}) {
    mutant_.filter = filter;
    EXPECT_THAT(check_mutants({mutant_}, root_), IsEmpty()) << filter;
  }
  for (const char* filter : {"X.Z", "x.*", "Cases/X.Z/0"}) {
    mutant_.filter = filter;
    ASSERT_EQ(check_mutants({mutant_}, root_).size(), 1u) << filter;
    EXPECT_THAT(check_mutants({mutant_}, root_).front().message, HasSubstr("no test matches"));
  }
}

TEST_F(MutantTest, SurvivesWhenItsTestPasses) {
  EXPECT_EQ(judge_when(0, 0).verdict, Verdict::kSurvived);
}

TEST_F(MutantTest, IsBrokenWhenItDoesNotBuildOrNamesNoTest) {
  EXPECT_EQ(judge_when(1, 1).verdict, Verdict::kBroken);
  EXPECT_EQ(judge_when(0, 0, "[  PASSED  ] 0 tests.").verdict, Verdict::kBroken);
  EXPECT_EQ(judge_when(0, 127).verdict, Verdict::kBroken);
  EXPECT_EQ(files_.read(root_ + "/src/a.cpp", 1000), kText);
}

TEST_F(MutantTest, ATextThatDoesNotOccurOnceIsAFault) {
  EXPECT_THAT(check_mutants({mutant_}, root_), IsEmpty());
  mutant_.find = "return";
  EXPECT_THAT(check_mutants({mutant_}, root_).front().message, HasSubstr("occurs 2 times"));
  mutant_.find = "gone";
  EXPECT_THAT(check_mutants({mutant_}, root_).front().message, HasSubstr("occurs 0 times"));
  mutant_.file = "src/gone.cpp";
  EXPECT_THAT(check_mutants({mutant_}, root_).front().message, HasSubstr("cannot be read"));
}

TEST_F(MutantTest, TheListNamesOneKindOfTest) {
  const auto read = [](const std::string& test) {
    auto document = parse_document("m.yaml", "- {requirement: R, file: f, find: a, replace: b" + test + "}\n");
    return read_mutants(*document).has_value();
  };
  EXPECT_TRUE(read(", target: t, filter: f"));
  EXPECT_TRUE(read(", ctest: c"));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read(", target: t"));
  EXPECT_FALSE(read(", target: t, filter: f, ctest: c"));
  EXPECT_FALSE(read(", ctest: c, fliter: f"));
}

TEST_F(MutantTest, TheCopyMatchesTheTree) {
  const std::string copy = root_ + "/build/copy";
  ASSERT_TRUE(copy_tree(root_, copy));
  EXPECT_EQ(files_.read(copy + "/src/a.cpp", 1000), kText);
  ASSERT_TRUE(files_.write_atomic(copy + "/src/a.cpp", "still broken"));
  ASSERT_TRUE(files_.write_atomic(copy + "/src/gone.cpp", "left over"));
  ASSERT_TRUE(copy_tree(root_, copy));
  EXPECT_EQ(files_.read(copy + "/src/a.cpp", 1000), kText);
  EXPECT_EQ(files_.kind(copy + "/src/gone.cpp"), FileKind::kMissing);
}

}  // namespace
}  // namespace sb::mutants

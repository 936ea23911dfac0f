#include "tree/tidy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::tree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Violations tidy(const std::string& path, const std::string& text) {
  return check_tidy({{path, text}});
}

TEST(Tidy, ThisTreeIsTidy) {
  const SourceTree tree = read_tree(SB_SOURCE_DIR);
  ASSERT_TRUE(tree.contains("src/base/result.hpp"));
  EXPECT_THAT(check_tidy(tree), IsEmpty());
}

TEST(Tidy, LineLengthIsCountedInCharactersNotBytes) {
  std::string cyrillic = "// ";
  for (int i = 0; i < 117; ++i) cyrillic += "ю";
  EXPECT_THAT(tidy("src/base/a.cpp", cyrillic + "\n"), IsEmpty());
  EXPECT_THAT(tidy("src/base/a.cpp", "\n" + cyrillic + "ю\n"),
              ElementsAre("src/base/a.cpp:2: has 121 characters; at most 120 are allowed"));
  EXPECT_THAT(tidy("README.md", cyrillic + cyrillic + "\n"), IsEmpty());
}

TEST(Tidy, RawStringsOfTestsMayBeLong) {
  const std::string wide(130, 'x');
  const std::string raw = "f(R\"(a\n" + wide + "\n)\");\ng(R\"(" + wide + ")\");\n";
  EXPECT_THAT(tidy("src/base/a_test.cpp", raw), IsEmpty());
  EXPECT_THAT(tidy("src/base/a.cpp", raw), testing::SizeIs(2));
  EXPECT_THAT(tidy("src/base/a_test.cpp", raw + "// " + wide + "\n"), ElementsAre(HasSubstr("_test.cpp:5: has 133")));
}

TEST(Tidy, TabsBlanksAndAMissingLineFeedAreFound) {
  EXPECT_THAT(tidy("scripts/setup", "if\tx\n"), ElementsAre(HasSubstr("has a tab")));
  EXPECT_THAT(tidy("src/base/a.hpp", "int a; \n"), ElementsAre(HasSubstr("ends with a blank")));
  EXPECT_THAT(tidy("tests/a.cpp", "int a;"), ElementsAre(HasSubstr("no line feed")));
}

TEST(Tidy, TheStandardRegexIsFound) {
  EXPECT_THAT(tidy("src/base/a.cpp",
                   "std::"
                   "regex r;\n"),
              ElementsAre(HasSubstr("base/text/pattern.hpp")));
}

TEST(Tidy, NotesOfUnfinishedWorkAreFound) {
  EXPECT_THAT(tidy("src/base/a.cpp",
                   "// TO"
                   "DO later\n"),
              ElementsAre(HasSubstr("finish it or file an issue")));
  EXPECT_THAT(tidy("src/base/a.cpp",
                   "// FIX"
                   "ME\n"),
              ElementsAre(HasSubstr("finish it or file an issue")));
  EXPECT_THAT(tidy("src/base/a.cpp", "int kMASTODONS;\n"), IsEmpty());
}

TEST(Tidy, LongFilesAreFoundInSrcOnly) {
  const std::string fits(600, '\n');
  EXPECT_THAT(tidy("src/base/a.cpp", fits), IsEmpty());
  EXPECT_THAT(tidy("src/base/a.cpp", fits + "\n"),
              ElementsAre("src/base/a.cpp: has 601 lines; at most 600 are allowed. Split it by topic."));
  EXPECT_THAT(tidy("tests/a.cpp", fits + "\n"), IsEmpty());
}

TEST(Tidy, PathsOfAMachineAreFound) {
  EXPECT_THAT(tidy("docs/a.md",
                   "see /ho"
                   "me/fred/x\n"),
              ElementsAre(HasSubstr("docs/a.md:1: names a folder")));
  EXPECT_THAT(tidy("docs/a.md",
                   "\"/wo"
                   "rk/main\"\n"),
              ElementsAre(HasSubstr("names a folder")));
  EXPECT_THAT(tidy("docs/a.md", "cwd /home/you/ws, $HOME/work/x, ~/work/y and net/home/z; /home/a.db\n"), IsEmpty());
}

}  // namespace
}  // namespace sb::tree

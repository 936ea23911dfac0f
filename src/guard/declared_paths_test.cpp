#include "guard/declared_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::guard {
namespace {

std::string gap(const std::vector<std::string>& entries, const std::vector<std::string>& changed) {
  return gap_between(entries, changed, "/w").text();
}

TEST(DeclaredPaths, AreComparedWithWhatChanged) {
  EXPECT_EQ(gap({"src/a.c", "docs/**", "`lib/x.c`", "/w/b.c", "./c.c"},
                {"src/a.c", "docs/deep/y.md", "lib/x.c", "b.c", "c.c"}),
            "");
  EXPECT_EQ(gap({}, {}), "");
  EXPECT_EQ(gap({"src/a.c", "gone.c"}, {"src/a.c", "b.c"}),
            "Changed but not declared: b.c. Declared but not changed: gone.c.");
  EXPECT_EQ(gap({"src"}, {"src/a.c", "src/b.c"}), "");
  // What covers everything declares nothing.
  EXPECT_EQ(gap({"**"}, {"a.c"}), "Changed but not declared: a.c. Declared but not changed: **.");
  EXPECT_EQ(gap({"/w"}, {"a.c"}), "Changed but not declared: a.c. Declared but not changed: /w.");
}

TEST(DeclaredPaths, TheTextIsShortAndOnOneLine) {
  const std::string text = gap({}, std::vector<std::string>(500, std::string(4'000, 'x') + "\n\x1b"));
  EXPECT_LT(text.size(), 2'000u);
  EXPECT_EQ(text.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_THAT(text, testing::HasSubstr(" and 488 more."));
}

}  // namespace
}  // namespace sb::guard

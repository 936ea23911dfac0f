#include "base/text.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, TrimmedRemovesBlanksAtBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\na ", " "), "\na");
  EXPECT_EQ(trimmed_end(" a \n"), " a");
  EXPECT_EQ(trimmed_end("a\n\n", "\n"), "a");
  EXPECT_EQ(trimmed_end(" \n"), "");
}

TEST(Text, LowerCaseIsAscii) {
  EXPECT_EQ(to_lower("ÄBC-Z[`"), "Äbc-z[`");
  EXPECT_TRUE(equals_ignoring_case("Content-Length", "content-length"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
}

TEST(Text, LinesEndAtLineFeeds) {
  EXPECT_EQ(lines_of(""), Pieces{});
  EXPECT_EQ(lines_of("a\n\nb\n"), (Pieces{"a", "", "b"}));
  EXPECT_EQ(lines_of("\n"), (Pieces{""}));
  EXPECT_EQ(first_line("a\nb"), "a");
  EXPECT_EQ(first_line("a"), "a");
}

TEST(Text, SplitKeepsEmptyPiecesAndTheRest) {
  EXPECT_EQ(split("", ','), (Pieces{""}));
  EXPECT_EQ(split("a,,b,", ','), (Pieces{"a", "", "b", ""}));
  EXPECT_EQ(split("a,b,c", ',', 2), (Pieces{"a", "b,c"}));
}

TEST(Text, ReplaceAllDoesNotRescanReplacements) {
  std::string text = "aXbX";
  replace_all(text, "X", "XX");
  EXPECT_EQ(text, "aXXbXX");
}

TEST(Text, ShortenedEndsAfterAWholeCharacter) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc…");
  EXPECT_EQ(shortened("aäb", 2), "a…");
}

}  // namespace
}  // namespace sb

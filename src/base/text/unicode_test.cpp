#include "base/text/unicode.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

TEST(Amb26, WordUnits) {
  EXPECT_EQ(word_units("feat/release-v0.2.9"), 1);
  EXPECT_EQ(word_units("follow-up"), 1);
  EXPECT_EQ(word_units("и/или"), 1);
  EXPECT_EQ(word_units("one two  three"), 3);
  EXPECT_EQ(word_units("one — two 🚀 !"), 2);
  EXPECT_EQ(word_units("どの環境に配備しますか？"), 6);  // 11 characters
  EXPECT_EQ(word_units("检证"), 1);
  EXPECT_EQ(word_units("检证吗"), 2);
  EXPECT_EQ(word_units("ไทย"), 2);
  EXPECT_EQ(word_units("部署 v2 到"), 3);
  EXPECT_EQ(word_units("v2版本"), 2);
  EXPECT_EQ(word_units(""), 0);
}

TEST(Unicode, Utf8IsCheckedStrictly) {
  EXPECT_TRUE(is_utf8("é😀"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(is_utf8("a\xe2\x82"));
}

TEST(Unicode, Folding) {
  EXPECT_EQ(nfc("e\u0301"), "é");
  EXPECT_EQ(nfkc("１，３"), "1,3");
  EXPECT_EQ(nfkc("①"), "1");
  EXPECT_EQ(case_fold("ÄÖ ДА Straße"), "äö да strasse");
}

TEST(Unicode, BlankMeansNothingVisible) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\u00a0\u200b\ufeff"));
  EXPECT_FALSE(is_blank(" ."));
}

}  // namespace
}  // namespace sb

#include "hook/install/rules_section.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::hook {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRules = "## Rules\n\n- One.\n";

TEST(RulesSection, AnyTextIsRestoredByteForByte) {
  for (const char* text :
       {"", "\n", "\n\n", "# Mine", "# Mine\n", "# Mine\n\n", "a\r\nb\r\n", "<!-- x -->\n", "\xff\xfe"}) {
    const auto with = with_rules(std::string(text), kRules, 0);
    ASSERT_TRUE(with) << with.error().to_string();
    EXPECT_THAT(*with, testing::StartsWith(text));
    EXPECT_THAT(*with, HasSubstr(std::string("\n") + std::string(kRules)));
    EXPECT_EQ(*with_rules(*with, kRules, 0), *with) << "a second time";
    const auto left = without_rules(*with);
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->had_section);
    EXPECT_FALSE(left->removes_file) << "it was there before, even if empty";
    EXPECT_EQ(left->text, text);
  }
}

TEST(RulesSection, WhatWasAddedAroundItStays) {
  const std::string with = *with_rules(std::string("# Mine"), kRules, 0) + "\n# Later\n";
  EXPECT_EQ(without_rules(with)->text, "# Mine\n# Later\n");
  const auto fresh = without_rules(*with_rules(std::nullopt, kRules, 2) + "# Later\n");
  EXPECT_FALSE(fresh->removes_file);
  EXPECT_EQ(fresh->text, "# Later\n");
}

TEST(RulesSection, ANewFileIsRemovedWithItsFolders) {
  const auto left = without_rules(*with_rules(std::nullopt, kRules, 2));
  EXPECT_TRUE(left->removes_file);
  EXPECT_EQ(left->folders, 2);
}

TEST(RulesSection, AnOlderVersionIsReplacedInPlace) {
  const std::string old = *with_rules(std::string("# Mine\n"), "Old rules.\n", 0) + "# Later\n";
  const auto now = with_rules(old, kRules, 0);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->find("Old rules."), std::string::npos);
  EXPECT_EQ(without_rules(*now)->text, "# Mine\n# Later\n");
}

TEST(RulesSection, ADamagedSectionIsNotTouched) {
  const std::string whole = *with_rules(std::string("# Mine\n"), kRules, 0);
  const auto fault = [](const std::string& text) {
    const auto with = with_rules(text, kRules, 0);
    const auto without = without_rules(text);
    EXPECT_FALSE(with);
    EXPECT_FALSE(without);
    return with ? "" : with.error().to_string();
  };
  const std::size_t end = whole.find("<!-- signalbox rules: end");
  EXPECT_THAT(fault(whole.substr(0, end)), HasSubstr("has no end"));
  EXPECT_THAT(fault(whole.substr(end)), HasSubstr("has no beginning"));
  EXPECT_THAT(fault(whole + whole), HasSubstr("is there twice"));
  std::string edited = whole;
  edited.replace(edited.find("One"), 3, "Two");
  EXPECT_THAT(fault(edited), HasSubstr("was edited"));
  EXPECT_THAT(fault(edited), HasSubstr("Delete its lines"));
  std::string head = whole;
  head.erase(head.find(" after-"), 8);
  EXPECT_THAT(fault(head), HasSubstr("was edited"));
}

TEST(RulesSection, AMentionInTheTextIsNotASection) {
  const std::string text = "See `<!-- signalbox rules: begin x y -->` in the manual.\n";
  EXPECT_EQ(without_rules(*with_rules(text, kRules, 0))->text, text);
  EXPECT_FALSE(without_rules(text)->had_section);
}

}  // namespace
}  // namespace sb::hook

// The texts of prompts in every language.
#include "decision/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "decision/data.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

// `{count}`, …: sorted, because languages order them differently.
std::vector<std::string> slots_in(std::string_view text) {
  std::vector<std::string> slots;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    slots.emplace_back(text.substr(at, text.find('}', at) - at + 1));
  }
  std::sort(slots.begin(), slots.end());
  return slots;
}

TEST(Texts, AreCompleteInEveryLanguage) {
  const auto document = parse_document("texts.yaml", std::string(data_file("texts.yaml")));
  ASSERT_TRUE(document);
  EXPECT_THAT(locales(), testing::UnorderedElementsAre("en", "ru", "de", "es", "fr", "ja", "zh"));
  for (const std::string_view locale : locales()) {
    const Value& table = document->root[locale];
    for (const auto& [key, english] : document->root["en"].members()) {
      ASSERT_TRUE(table[key].is_string()) << locale << ": " << key;
      EXPECT_FALSE(table[key].as_string().empty()) << locale << ": " << key;
      EXPECT_EQ(slots_in(table[key].as_string()), slots_in(english.as_string())) << locale << ": " << key;
    }
    EXPECT_EQ(table.size(), document->root["en"].size()) << locale;
  }
}

TEST(Texts, FollowTheLettersOfTheInstruction) {
  const auto locale_of = [](std::string_view instruction) {
    const auto declared =
        declare("decision: x\ninstruction: \"" + std::string(instruction) + "\"\noptions: [Aa, Bb]\n");
    return declared ? declared->decision()->locale : declared.error().front().to_string();
  };
  EXPECT_EQ(locale_of("Which one?"), "en");
  EXPECT_EQ(locale_of("Что выбираем?"), "ru");
  EXPECT_EQ(locale_of("どれにしますか？"), "ja");
  EXPECT_EQ(locale_of("选哪一个？"), "zh");
}

TEST(Texts, ALocaleIsDeclaredOrAFault) {
  const std::string start = "decision: x\ninstruction: Welche?\noptions: [Aa, Bb]\nlocale: ";
  EXPECT_EQ(declare(start + "de")->decision()->locale, "de");
  EXPECT_THAT(faults_of(start + "xx"), testing::HasSubstr("Use one of en, ru, de"));
}

}  // namespace
}  // namespace sb::decision

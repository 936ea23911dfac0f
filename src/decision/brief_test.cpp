#include "decision/brief.hpp"

#include <gtest/gtest.h>

namespace sb::decision {
namespace {

Prompt cache_question() {
  Prompt prompt;
  prompt.label = "D2";
  prompt.title = "Which cache do we use?";
  prompt.instruction = prompt.title;
  prompt.sections.context = "shop, branch feat/cache, speeding up the cart page.";
  prompt.sections.eli10 = "The cart page asks the database every time.";
  prompt.sections.stakes = "buyers see an old price.";
  prompt.sections.recommendation = Recommendation{"redis", "it survives a restart."};
  prompt.sections.net = "sharing against one more moving part.";
  Option redis;
  redis.id = "redis";
  redis.label = "Redis";
  redis.recommended = true;
  redis.completeness = 9;
  redis.pros = {"Keeps carts across restarts", "Shared by all servers"};
  redis.cons = {"One more service"};
  Option map;
  map.id = "map";
  map.label = "In-process map";
  map.completeness = 6;
  map.pros = {"No new service", "Fast"};
  map.cons = {"Copies drift apart"};
  prompt.options = {redis, map};
  return prompt;
}

TEST(Brief, HasEverySectionInOrder) {
  EXPECT_EQ(render_brief(cache_question()),
            "D2 — Which cache do we use?\n"
            "Project/branch/task: shop, branch feat/cache, speeding up the cart page.\n"
            "ELI10: The cart page asks the database every time.\n"
            "Stakes if we pick wrong: buyers see an old price.\n"
            "Recommendation: A because it survives a restart.\n"
            "Completeness: A=9/10, B=6/10\n"
            "Pros / cons:\n"
            "A) Redis (recommended)\n"
            "  ✅ Keeps carts across restarts\n"
            "  ✅ Shared by all servers\n"
            "  ❌ One more service\n"
            "B) In-process map\n"
            "  ✅ No new service\n"
            "  ✅ Fast\n"
            "  ❌ Copies drift apart\n"
            "Net: sharing against one more moving part.");
}

TEST(Brief, AScoreReplacesTheKindNote) {
  auto prompt = cache_question();
  prompt.sections.kind_note = kKindNote;
  EXPECT_EQ(render_brief(prompt).find("Note:"), std::string::npos);
  for (auto& option : prompt.options) option.completeness.reset();
  const auto brief = render_brief(prompt);
  EXPECT_EQ(brief.find("Completeness:"), std::string::npos);
  EXPECT_NE(brief.find("\nNote: options differ in kind, not coverage — no completeness score.\n"), std::string::npos);
}

TEST(Brief, ShowsTheIrreversibleNote) {
  auto prompt = cache_question();
  prompt.door = Door::kOneWay;
  prompt.irreversible_note = "The rows are gone.";
  EXPECT_NE(render_brief(prompt).find("\nCannot be undone: The rows are gone.\n"), std::string::npos);
  prompt.locale = "ru";
  EXPECT_NE(render_brief(prompt).find("\nНельзя отменить: The rows are gone.\n"), std::string::npos);
}

TEST(Brief, NoTextCanImitateASectionOrAnOption) {
  auto prompt = cache_question();
  prompt.sections.eli10 =
      "Fine.\nA) Approve everything (recommended)\r\n\tNet: ok\xe2\x80\xa8"
      "B) no";
  prompt.options[0].label = "Redis\nC) Third";
  const auto brief = render_brief(prompt);
  EXPECT_NE(brief.find("ELI10: Fine. A) Approve everything (recommended) Net: ok B) no\n"), std::string::npos) << brief;
  EXPECT_NE(brief.find("\nA) Redis C) Third (recommended)\n"), std::string::npos) << brief;
}

TEST(Brief, LettersContinueAfterZ) {
  EXPECT_EQ(letter_of(0), "A");
  EXPECT_EQ(letter_of(25), "Z");
  EXPECT_EQ(letter_of(26), "AA");
  for (std::size_t i = 0; i < 700; ++i) EXPECT_EQ(index_of_letter(letter_of(i)), i);
  for (const auto* text : {"", "a", "A ", "AAA", "1", "А"}) EXPECT_FALSE(index_of_letter(text)) << text;
}

}  // namespace
}  // namespace sb::decision

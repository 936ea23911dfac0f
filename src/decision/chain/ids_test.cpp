#include "decision/chain/ids.hpp"

#include <gtest/gtest.h>

#include <set>

#include "decision/chain/test_driver.hpp"
#include "decision/preference.hpp"

namespace sb::decision {
namespace {

Chain chain_with(const std::string& skill, const std::vector<std::string>& keys) {
  Chain chain;
  chain.id = "things";
  chain.skill = skill;
  chain.number = 3;
  for (const auto& key : keys) {
    ChainOption option;
    option.key = key;
    option.label = key;
    chain.options.push_back(option);
  }
  return chain;
}

std::string id_of(const std::string& skill, const std::string& key) {
  return ChainIds(chain_with(skill, {key})).of_option(0);
}

TEST(ReqSplit12, TheParentLabelIsItsNumber) {
  EXPECT_EQ(parent_label(chain_with("s", {"a"})), "D3");
}

TEST(ReqSplit13, ChildrenAreNumberedFromOneInDeclaredOrder) {
  const auto chain = chain_with("s", {"a", "b"});
  EXPECT_EQ(child_label(chain, 0), "D3.1");
  EXPECT_EQ(child_label(chain, 1), "D3.2");
}

TEST(ReqSplit14, TheLastLabelIsFinal) {
  EXPECT_EQ(final_label(chain_with("s", {"a"})), "D3.final");
}

TEST(ReqSplit15, ARevisionIsNamedAfterItsOption) {
  EXPECT_EQ(revise_label(chain_with("s", {"a", "b"}), 1), "D3.revise-2");
}

TEST(AmbS6, OurParserAcceptsEveryLabelAndNothingElse) {
  for (const auto* label : {"D3", "D3.0", "D3.2", "D3.final", "D3.revise-2", "3.2", "12.final"}) {
    EXPECT_TRUE(is_label(label)) << label;
  }
  for (const auto* text : {"", "D", "D3.", "D3.x", "D3.revise-", "D3.2.1", "d3.2", "D3.finals", "D-3", " D3"}) {
    EXPECT_FALSE(is_label(text)) << text;
  }
  EXPECT_TRUE(same_label("3.2", "D3.2"));
  EXPECT_FALSE(same_label("3.2", "D3.20"));
}

TEST(ReqSplit45, EachChildHasItsOwnId) {
  const ChainIds ids(chain_with("plan-ceo-review", {"E1", "E2", "E3", "E4", "E5"}));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 5; ++i) seen.insert(ids.of_option(i));
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_TRUE(seen.contains("plan-ceo-review-split-e3"));
}

TEST(ReqSplit46, TheSlugIsTheKeyInKebabCase) {
  EXPECT_EQ(id_of("plan-ceo-review", "E4 detect mappings"), "plan-ceo-review-split-e4-detect-mappings");
}

TEST(ReqSplit47, EqualSlugsAreNumbered) {
  const ChainIds ids(chain_with("ship", {"rspec", "RSpec", "rspec!"}));
  EXPECT_EQ(ids.of_option(0), "ship-split-rspec");
  EXPECT_EQ(ids.of_option(1), "ship-split-rspec-2");
  EXPECT_EQ(ids.of_option(2), "ship-split-rspec-3");
}

TEST(ReqSplit47, AKeyEndingInANumberKeepsItsSlug) {
  const ChainIds ids(chain_with("ship", {"rspec", "rspec-2", "RSPEC"}));
  EXPECT_EQ(ids.of_option(1), "ship-split-rspec-2");
  EXPECT_EQ(ids.of_option(2), "ship-split-rspec-3");
}

TEST(ReqSplit48, AnIdHasAtMost64Characters) {
  const std::string skill = "plan-ceo-review";                // 15, and 7 for the infix
  EXPECT_EQ(id_of(skill, std::string(42, 'a')).size(), 64u);  // fits without truncation
  const auto shortened = id_of(skill, std::string(43, 'a'));
  EXPECT_LE(shortened.size(), 64u);
  EXPECT_TRUE(is_question_id(shortened));
}

TEST(ReqSplit49, OnlyTheSlugIsShortened) {
  const std::string skill(53, 's');
  for (const auto& key : {std::string("a"), std::string(200, 'b'), std::string("final"), std::string("Ж")}) {
    const auto id = id_of(skill, key);
    EXPECT_TRUE(id.starts_with(skill + "-split-")) << id;
    EXPECT_TRUE(is_question_id(id)) << id;
  }
}

TEST(ReqSplit49, ASkillWithoutRoomForASlugIsADefinitionError) {
  auto yaml = testing::ChainText{}.of(5);
  yaml.replace(yaml.find("plan-ceo-review"), 15, std::string(54, 's'));
  EXPECT_FALSE(testing::parse_chain(yaml));
  yaml.replace(yaml.find(std::string(54, 's')), 54, std::string(53, 's'));
  EXPECT_TRUE(testing::parse_chain(yaml));
}

TEST(ReqSplit50, NoTwoOptionsShareAPreference) {
  const ChainIds ids(chain_with("ship", {"rspec", "minitest"}));
  EXPECT_NE(ids.of_option(0), ids.of_option(1));
  const auto stored = stored_preference(Value::object({{ids.of_option(0), "never-ask"}}), ids.of_option(1));
  EXPECT_FALSE(stored.has_value());
}

TEST(ReqSplit53, NoQuestionOfAChainIsDecidedWithoutAPerson) {
  const auto chain = chain_with("ship", {"a", "b"});
  const ChainIds ids(chain);
  for (const auto& id : {ids.of_option(0), ids.of_option(1), ids.whole(), ids.meta(), ids.narrow(), ids.rest(),
                         ids.final(), ids.pick_revise(), ids.cut_more(), ids.of_conflict(1, 0)}) {
    EXPECT_FALSE(preference_verdict(id, Door::kTwoWay, "never-ask").may_auto_decide()) << id;
  }
}

TEST(AmbS5, KeysOfAnyScriptGiveASlug) {
  EXPECT_EQ(id_of("ship", "Кэш"), "ship-split-" + slug_of("Кэш"));
  const auto emoji = id_of("ship", "🚀");
  EXPECT_TRUE(emoji.starts_with("ship-split-x-")) << emoji;
  EXPECT_EQ(emoji.size(), std::string("ship-split-x-").size() + 8);
  EXPECT_NE(emoji, id_of("ship", "🎉"));
}

TEST(AmbS13, TheChainsOwnSlugsAreReserved) {
  const ChainIds ids(chain_with("ship", {"Meta", "final", "conflict a b", "a", "b"}));
  EXPECT_EQ(ids.meta(), "ship-split-meta");
  EXPECT_EQ(ids.final(), "ship-split-final");
  EXPECT_EQ(ids.of_option(0), "ship-split-meta-2");
  EXPECT_EQ(ids.of_option(1), "ship-split-final-2");
  EXPECT_EQ(ids.of_option(2), "ship-split-conflict-a-b-2");
  EXPECT_EQ(ids.of_conflict(3, 4), "ship-split-conflict-a-b");
}

TEST(AmbS13, OtherQuestionsOfTheChainDoNotTakeOptionSlugs) {
  const ChainIds ids(chain_with("ship", {"rest", "revise", "narrow", "cut-more", "things"}));
  EXPECT_EQ(ids.of_option(0), "ship-split-rest");
  EXPECT_EQ(ids.rest(), "ship-split-rest-2");
  EXPECT_EQ(ids.whole(), "ship-split-things-2");
}

TEST(AmbS13, ARevisionHasItsOptionsId) {
  testing::ChainConversation chat(testing::ChainText{}.of(5), 4);
  const auto first_id = chat.turn().question_id;
  chat.type_all({"A", "A", "A", "A", "A", "B", "A"});
  EXPECT_EQ(chat.label(), "D3.revise-1");
  EXPECT_EQ(chat.turn().question_id, first_id);
}

TEST(ReqSplit47, ANumberedDuplicateNeverTakesTheSlugOfAnotherKey) {
  const ChainIds ids(chain_with("ship", {"rspec", "Rspec", "RSPEC", "rspec-2"}));
  EXPECT_EQ(ids.of_option(0), "ship-split-rspec");
  EXPECT_EQ(ids.of_option(1), "ship-split-rspec-3");
  EXPECT_EQ(ids.of_option(2), "ship-split-rspec-4");
  EXPECT_EQ(ids.of_option(3), "ship-split-rspec-2");
}

TEST(AmbS14, UniquenessIsCheckedAfterTruncation) {
  const std::string stem(60, 'a');
  const ChainIds ids(chain_with("plan-ceo-review", {stem + "1", stem + "2", stem + "3"}));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_question_id(ids.of_option(i))) << ids.of_option(i);
    seen.insert(ids.of_option(i));
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(ids.of_option(1).ends_with("-2"));
  EXPECT_EQ(ids.of_option(0).size(), 61u);  // room for a suffix is reserved
}

TEST(AmbS14, TruncationLeavesNoTrailingDash) {
  const auto id = id_of("plan-ceo-review", std::string(38, 'a') + "-" + std::string(30, 'b'));
  EXPECT_TRUE(id.ends_with("a")) << id;
}

TEST(AmbS14, AThousandEqualKeysUnderTheLongestSkillStayDistinct) {
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back("same key " + std::string(static_cast<std::size_t>(i) + 1, '!'));
  const ChainIds ids(chain_with(std::string(53, 's'), keys));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(is_question_id(ids.of_option(i))) << ids.of_option(i);
    seen.insert(ids.of_option(i));
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_TRUE(is_question_id(ids.of_conflict(999, 998)));
}

}  // namespace
}  // namespace sb::decision

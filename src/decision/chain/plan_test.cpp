#include "decision/chain/plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "decision/chain/test_driver.hpp"

namespace sb::decision {
namespace {

using testing::ChainConversation;
using testing::ChainText;
using testing::Ids;

ChainPlan plan_of(const std::string& yaml, int cap = 0, const Profiles& profiles = Profiles::built_in()) {
  const auto declaration = testing::chain_of(yaml, profiles);
  auto plan = plan_chain(*declaration->chain(), declaration->profile, cap);
  if (!plan) {
    ADD_FAILURE() << plan.error().to_string();
    return {};
  }
  return *plan;
}

std::multiset<std::string> keys_in(const ChainPlan& plan) {
  std::multiset<std::string> keys;
  for (const auto& prompt : plan.prompts) {
    for (const auto& id : prompt.options) {
      if (id.starts_with("E")) keys.insert(id);
    }
  }
  return keys;
}

Profiles doc_profiles() {
  auto document = parse_document("user.yaml", "profile: doc\ninherits: gstack\noverflow: {page_style: doc}\n");
  auto profiles = Profiles::with({*document});
  if (!profiles) ADD_FAILURE() << profiles.error().front().to_string();
  return *profiles;
}

const ChainText kAlternatives{.relation = "alternatives"};

TEST(ReqSplit1, EveryOptionIsInExactlyOnePageOrChild) {
  for (int count = 2; count <= 30; ++count) {
    for (const int cap : {3, 4}) {
      const auto batch = keys_in(plan_of(kAlternatives.of(count), cap));
      EXPECT_EQ(batch.size(), static_cast<std::size_t>(count));
      EXPECT_EQ(std::set(batch.begin(), batch.end()).size(), static_cast<std::size_t>(count));
      const auto split = plan_of(ChainText{}.of(count), cap);
      if (split.shape != ChainShape::kSplit) continue;
      std::set<std::string> children;
      for (const auto& prompt : split.prompts) children.insert(prompt.id);
      EXPECT_EQ(children.size(), static_cast<std::size_t>(count) + 1 + (split.has_meta ? 1 : 0));
    }
  }
}

TEST(ReqSplit3, OverTheCapThereAreTwoShapes) {
  EXPECT_EQ(plan_of(kAlternatives.of(5)).shape, ChainShape::kBatch);
  EXPECT_EQ(plan_of(ChainText{}.of(5)).shape, ChainShape::kSplit);
}

TEST(ReqSplit4, AlternativesAreBatched) {
  const auto plan = plan_of(kAlternatives.of(5), 4);
  EXPECT_EQ(plan.shape, ChainShape::kBatch);
  ASSERT_EQ(plan.prompts.size(), 2u);
  EXPECT_EQ(plan.prompts[0].options, (Ids{"E1", "E2", "E3", "more"}));
  EXPECT_EQ(plan.prompts[1].options, (Ids{"E4", "E5"}));
}

TEST(ReqSplit5, TheDocStyleShowsFourAndThenTheFifth) {
  auto yaml = ChainText{.relation = "alternatives", .profile = "doc"}.of(5);
  const auto profiles = doc_profiles();
  const auto plan = plan_of(yaml, 4, profiles);
  ASSERT_EQ(plan.prompts.size(), 2u);
  EXPECT_EQ(plan.prompts[0].options, (Ids{"E1", "E2", "E3", "E4"}));
  EXPECT_EQ(plan.prompts[1].options, (Ids{"E5"}));
  ChainConversation chat(yaml, 4, profiles);
  EXPECT_TRUE(chat.says("Option 5")) << chat.output();
  chat.type("none of those please");
  EXPECT_TRUE(chat.is_asking());
  EXPECT_EQ(chat.option_ids(), (Ids{"E5"}));
}

TEST(AmbS2, TheDocStyleAcceptsEveryAnswerItNames) {
  const auto yaml = ChainText{.relation = "alternatives", .profile = "doc"}.of(5);
  for (const auto* input : {"none", "None", "D3: none", "something else"}) {
    ChainConversation chat(yaml, 4, doc_profiles());
    EXPECT_TRUE(chat.says("To see the next ones, answer none or say it in words.")) << chat.output();
    EXPECT_EQ(chat.type(input).option_ids(), (Ids{"E5"})) << input;
  }
  // An unknown letter is a typo and does not turn the page.
  ChainConversation chat(yaml, 4, doc_profiles());
  chat.type("E");
  EXPECT_TRUE(chat.says("Answer with one letter as shown: A, B, C, D, or none to see the next ones.")) << chat.output();
  EXPECT_EQ(chat.option_ids(), (Ids{"E1", "E2", "E3", "E4"}));
}

TEST(ReqSplit6, IndependentItemsAreSplit) {
  EXPECT_EQ(plan_of(ChainText{}.of(5), 4).shape, ChainShape::kSplit);
}

TEST(ReqSplit7, ASplitAsksOneQuestionPerOption) {
  const auto plan = plan_of(ChainText{}.of(5), 4);
  ASSERT_EQ(plan.prompts.size(), 6u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(plan.prompts[i].label, "D3." + std::to_string(i + 1));
  EXPECT_EQ(plan.prompts[5].label, "D3.final");
  EXPECT_EQ(plan.prompts[5].options, (Ids{"ship", "revise", "cut-more"}));
}

TEST(ReqSplit8, UnknownIsSplit) {
  EXPECT_EQ(plan_of(ChainText{.relation = "unknown"}.of(5)).shape, ChainShape::kSplit);
  EXPECT_EQ(plan_of(ChainText{.relation = "unknown", .profile = "interaction"}.of(8)).shape, ChainShape::kSplit);
}

TEST(ReqSplit9, IndependentItemsAreNotBatchedUnasked) {
  for (int count = 5; count < 20; ++count) EXPECT_EQ(plan_of(ChainText{}.of(count), 4).shape, ChainShape::kSplit);
}

TEST(ReqSplit36, UpToTheCapItIsOneQuestion) {
  for (const auto* relation : {"independent", "alternatives", "unknown"}) {
    const auto plan = plan_of(ChainText{.relation = relation}.of(4), 4);
    EXPECT_EQ(plan.shape, ChainShape::kSingle);
    ASSERT_EQ(plan.prompts.size(), 1u);
    EXPECT_EQ(plan.prompts[0].label, "D3");
    EXPECT_EQ(plan.prompts[0].options, (Ids{"E1", "E2", "E3", "E4"}));
  }
  EXPECT_EQ(plan_of(ChainText{}.of(4), 3).shape, ChainShape::kSplit);
}

TEST(ReqSplit37, FiveAndSixAreSplitOrBatchedWithoutAMetaQuestion) {
  for (const int count : {5, 6}) {
    EXPECT_FALSE(plan_of(ChainText{}.of(count), 4).has_meta);
    EXPECT_EQ(plan_of(ChainText{}.of(count), 4).shape, ChainShape::kSplit);
    EXPECT_EQ(plan_of(kAlternatives.of(count), 4).shape, ChainShape::kBatch);
  }
}

TEST(ReqSplit38, AboveSixTheMetaQuestionComesFirst) {
  const auto plan = plan_of(ChainText{}.of(7), 4);
  EXPECT_TRUE(plan.has_meta);
  EXPECT_EQ(plan.prompts[0].label, "D3.0");
  EXPECT_EQ(plan.prompts[0].id, "plan-ceo-review-split-meta");
  EXPECT_EQ(plan.prompts[0].options, (Ids{"split", "narrow", "groups"}));
  EXPECT_EQ(plan.prompts.size(), 9u);
  EXPECT_FALSE(plan_of(kAlternatives.of(7), 4).has_meta);
}

TEST(ReqSplit54, TheShapeDependsOnlyOnTheRelation) {
  EXPECT_EQ(plan_of(ChainText{.head = "instruction: Batch these\n"}.of(5), 4).shape, ChainShape::kSplit);
}

TEST(ReqSplit55, NIndependentOptionsCauseAtLeastNMinusOnePrompts) {
  for (int count = 5; count <= 20; ++count) {
    EXPECT_GE(plan_of(ChainText{}.of(count), 4).prompts.size(), static_cast<std::size_t>(count - 1));
  }
}

TEST(AmbS1, TheRelationIsDeclaredAndUnknownByDefault) {
  auto yaml = ChainText{}.of(5);
  yaml.erase(yaml.find("relation: independent\n"), 22);
  EXPECT_EQ(plan_of(yaml).shape, ChainShape::kSplit);
  auto wrong = ChainText{.relation = "related"}.of(5);
  EXPECT_FALSE(testing::parse_chain(wrong));
}

TEST(AmbS2, WhileMorePagesRemainAPageEndsWithMore) {
  for (int count = 5; count <= 40; ++count) {
    for (const int cap : {3, 4}) {
      const auto plan = plan_of(kAlternatives.of(count), cap);
      for (std::size_t i = 0; i < plan.prompts.size(); ++i) {
        const auto& options = plan.prompts[i].options;
        EXPECT_LE(options.size(), static_cast<std::size_t>(cap));
        EXPECT_GE(options.size(), 2u);
        EXPECT_EQ(options.back() == "more", i + 1 < plan.prompts.size());
      }
    }
  }
}

TEST(AmbS11, WhereFourBucketsDoNotFitAChildHasTwoStages) {
  const auto plan = plan_of(ChainText{}.of(4), 3);
  ASSERT_EQ(plan.prompts.size(), 9u);
  EXPECT_EQ(plan.prompts[0].options, (Ids{"include", "not-now", "hold"}));
  EXPECT_FALSE(plan.prompts[0].stage.has_value());
  EXPECT_EQ(plan.prompts[1].options, (Ids{"defer", "cut"}));
  EXPECT_EQ(plan.prompts[1].stage, 2);
  EXPECT_EQ(plan.prompts[0].label, plan.prompts[1].label);
  EXPECT_EQ(plan.prompts[0].id, plan.prompts[1].id);
}

TEST(AmbS11, AHostWithFewerThanThreeCannotCarryAChain) {
  const auto declaration = testing::chain_of(ChainText{}.of(5));
  for (const int cap : {1, 2}) {
    const auto plan = plan_chain(*declaration->chain(), declaration->profile, cap);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().to_string().find("is too small for a chain"), std::string::npos);
  }
}

TEST(AmbS23, OneMultiSelectDoesNotReplaceFourBuckets) {
  const auto plan = plan_of(ChainText{}.of(5), 4);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(plan.prompts[i].options, (Ids{"include", "defer", "cut", "hold"}));
}

TEST(ChainPlan, TheCapIsTheSmallerOfProfileAndHost) {
  EXPECT_EQ(plan_of(ChainText{}.of(5), 100).shape, ChainShape::kSplit);
  EXPECT_EQ(plan_of(ChainText{.profile = "interaction"}.of(7), 100).shape, ChainShape::kSingle);
  EXPECT_EQ(plan_of(ChainText{.profile = "interaction"}.of(5), 4).shape, ChainShape::kBatch);
}

TEST(ChainPlan, UnderInteractionEachPageOfIndependentItemsIsItsOwnQuestion) {
  const auto plan = plan_of(ChainText{.profile = "interaction"}.of(8));
  EXPECT_EQ(plan.shape, ChainShape::kBatch);
  ASSERT_EQ(plan.prompts.size(), 3u);
  EXPECT_EQ(plan.prompts[0].options, (Ids{"E1", "E2", "E3", "E4", "E5", "E6", "none-of-these"}));
  EXPECT_EQ(plan.prompts[1].options, (Ids{"E7", "E8", "none-of-these"}));
  EXPECT_EQ(plan.prompts[2].label, "D3.final");
}

TEST(ChainPlan, IsPrintedAsDocumented) {
  EXPECT_EQ(to_json(to_value(plan_of(kAlternatives.of(5), 4))),
            R"({"shape":"batch","meta":false,"prompts":[)"
            R"({"label":"D3","id":"plan-ceo-review-split-things","options":["E1","E2","E3","more"]},)"
            R"({"label":"D3","id":"plan-ceo-review-split-things","options":["E4","E5"]}]})");
}

TEST(ChainPlan, AThousandOptionsAreAllPresent) {
  EXPECT_EQ(keys_in(plan_of(kAlternatives.of(1000), 3)).size(), 1000u);
  EXPECT_EQ(plan_of(ChainText{}.of(1000), 3).prompts.size(), 2002u);
}

}  // namespace
}  // namespace sb::decision

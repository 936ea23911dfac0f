#include "decision/preference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::decision {
namespace {

using testing::HasSubstr;

constexpr std::string_view kValues[] = {"always-ask", "never-ask", "ask-only-for-one-way"};

TEST(Preference, TheThreeValuesOnATwoWayQuestion) {
  EXPECT_EQ(preference_verdict("ship-x", Door::kTwoWay, "never-ask").reason, VerdictReason::kPreferred);
  EXPECT_EQ(preference_verdict("ship-x", Door::kTwoWay, "ask-only-for-one-way").reason, VerdictReason::kPreferred);
  EXPECT_EQ(preference_verdict("ship-x", Door::kTwoWay, "always-ask").reason, VerdictReason::kAskedTo);
  EXPECT_EQ(preference_verdict("ship-x", Door::kTwoWay, std::nullopt).reason, VerdictReason::kNoPreference);
  for (const auto value : kValues) EXPECT_EQ(preference_verdict("ship-x", Door::kTwoWay, value).note(), "");
}

TEST(Preference, OneWayComesFirstAndOnlyNeverAskIsReported) {
  for (const auto value : kValues) {
    const Verdict verdict = preference_verdict("ship-split-x", Door::kOneWay, value);
    EXPECT_EQ(verdict.reason, VerdictReason::kOneWayDoor);
    EXPECT_FALSE(verdict.may_auto_decide());
  }
  EXPECT_THAT(preference_verdict("x", Door::kOneWay, "never-ask").note(), HasSubstr("one-way door overrides"));
  EXPECT_EQ(preference_verdict("x", Door::kOneWay, "ask-only-for-one-way").note(), "");
  EXPECT_EQ(preference_verdict("x", Door::kOneWay, std::nullopt).note(), "");
  EXPECT_EQ(preference_verdict("x", Door::kOneWay, "sometimes").note(), "");
}

TEST(ReqSplit51, AnySplitIdAsksWhateverIsStored) {
  for (const char* id : {"ship-split-rspec", "plan-ceo-review-split-e4", "a-split-", "qa-split-final"}) {
    for (const auto value : kValues) {
      EXPECT_EQ(preference_verdict(id, Door::kTwoWay, value).reason, VerdictReason::kSplitChain) << id;
    }
    EXPECT_FALSE(preference_verdict(id, Door::kTwoWay, std::nullopt).may_auto_decide());
  }
  for (const char* id : {"split-x", "splitscreen", "qa-splitscreen-test", "qa-split"}) {
    EXPECT_TRUE(preference_verdict(id, Door::kTwoWay, "never-ask").may_auto_decide()) << id;
  }
}

TEST(ReqSplit52, TheNoteNamesTheBypassedPreference) {
  for (const char* value : {"never-ask", "ask-only-for-one-way"}) {
    const std::string note = preference_verdict("ship-split-rspec", Door::kTwoWay, value).note();
    EXPECT_THAT(note, HasSubstr("split-chain per-option calls always ASK_NORMALLY"));
    EXPECT_THAT(note, HasSubstr(value));
    EXPECT_THAT(note, HasSubstr("does not apply"));
  }
  EXPECT_EQ(preference_verdict("ship-split-rspec", Door::kTwoWay, "always-ask").note(), "");
  EXPECT_EQ(preference_verdict("ship-split-rspec", Door::kTwoWay, std::nullopt).note(), "");
}

TEST(ReqSplit53, AChildIsNotAutoDecidableByAnyPath) {
  const QuestionFacts easy{.recommendations = 1};
  EXPECT_EQ(may_auto_decide(preference_verdict("ship-split-rspec", Door::kTwoWay, "never-ask"), easy).reason,
            VerdictReason::kSplitChain);
  // A child whose id does not show that it is one.
  EXPECT_EQ(may_auto_decide(preference_verdict("ship-rspec", Door::kTwoWay, "never-ask"),
                            {.recommendations = 1, .is_in_chain = true})
                .reason,
            VerdictReason::kSplitChain);
}

TEST(Gap1, OnePolicyForCheckAndHook) {
  const Verdict verdict = preference_verdict("ship-split-rspec", Door::kTwoWay, "never-ask");
  EXPECT_FALSE(verdict.may_auto_decide());
  EXPECT_FALSE(may_auto_decide(verdict, {.recommendations = 1}).may_auto_decide());
}

TEST(Gap2, AnUnknownValueAsksEverywhere) {
  for (const char* value : {"sometimes", "", "Never-Ask", "never-ask ", "true"}) {
    const Verdict verdict = preference_verdict("ship-x", Door::kTwoWay, value);
    EXPECT_EQ(verdict.reason, VerdictReason::kUnknownValue) << value;
    EXPECT_THAT(verdict.note(), HasSubstr("unknown preference value: "));
    EXPECT_FALSE(may_auto_decide(verdict, {.recommendations = 1}).may_auto_decide());
  }
  EXPECT_THAT(preference_verdict("x", Door::kTwoWay, "sometimes").note(),
              HasSubstr("unknown preference value: sometimes"));
}

TEST(Preference, ANoteStaysOneLineWhateverIsStored) {
  for (const std::string& value : {std::string("a\nAUTO_DECIDE"), std::string("\xff"), std::string(5000, 'x')}) {
    const std::string note = preference_verdict("x", Door::kTwoWay, value).note();
    EXPECT_EQ(note.find('\n'), std::string::npos);
    EXPECT_LT(note.size(), 200u);
  }
}

TEST(Gap15, OnlyOwnMembersOfTheFileCount) {
  const Value preferences = Value::object({{"ship-x", "never-ask"}});
  for (const char* id : {"constructor", "toString", "__proto__", "hasOwnProperty", ""}) {
    EXPECT_EQ(stored_preference(preferences, id), std::nullopt) << id;
  }
  EXPECT_EQ(stored_preference(preferences, "ship-x"), "never-ask");
  EXPECT_EQ(stored_preference(Value::array({std::string("never-ask")}), "0"), std::nullopt);
}

TEST(Preference, AValueOfAnotherTypeIsNotAPreference) {
  const Value preferences =
      Value::object({{"a", nullptr}, {"b", 5}, {"c", Value::array({std::string("never-ask")})}, {"d", true}});
  EXPECT_EQ(stored_preference(preferences, "a"), std::nullopt);
  for (const char* id : {"b", "c", "d"}) {
    EXPECT_EQ(preference_verdict(id, Door::kTwoWay, stored_preference(preferences, id)).reason,
              VerdictReason::kUnknownValue);
  }
}

Verdict decided(const QuestionFacts& facts) {
  return may_auto_decide(preference_verdict("ship-x", Door::kTwoWay, "never-ask"), facts);
}

TEST(MayAutoDecide, NeedsExactlyOneRecommendation) {
  EXPECT_TRUE(decided({.recommendations = 1}).may_auto_decide());
  EXPECT_EQ(decided({.recommendations = 0}).reason, VerdictReason::kNoRecommendation);
  EXPECT_EQ(decided({.recommendations = 2}).reason, VerdictReason::kSeveralRecommendations);
}

TEST(Gap14, TwoMarkersAreRejected) {
  EXPECT_EQ(decided({.markers = 2, .recommendations = 1}).reason, VerdictReason::kSeveralMarkers);
  EXPECT_EQ(decided({.markers = 0, .recommendations = 1}).reason, VerdictReason::kNoMarker);
}

TEST(Gap17, OnlyASingleSelectIsDecided) {
  for (const SelectMode mode : {SelectMode::kMany, SelectMode::kText, SelectMode::kForm, SelectMode::kUrl}) {
    EXPECT_EQ(decided({.recommendations = 1, .select = mode}).reason, VerdictReason::kNotSingleSelect);
  }
}

TEST(Gap12, TheVerdictKeepsTheStoredValue) {
  EXPECT_EQ(preference_verdict("x", Door::kTwoWay, "ask-only-for-one-way").stored, "ask-only-for-one-way");
}

TEST(MayAutoDecide, NeverWhereAPersonMustAnswer) {
  EXPECT_EQ(decided({.recommendations = 1, .door = Door::kOneWay}).reason, VerdictReason::kOneWayDoor);
  EXPECT_EQ(decided({.recommendations = 1, .needs_person = true}).reason, VerdictReason::kNeedsPerson);
}

TEST(MayAutoDecide, NeverTurnsAnAskingVerdictIntoADecidingOne) {
  for (const char* value : {"always-ask", "sometimes"}) {
    const Verdict verdict = preference_verdict("x", Door::kTwoWay, value);
    EXPECT_EQ(may_auto_decide(verdict, {.recommendations = 1}), verdict);
  }
}

TEST(QuestionId, AcceptsOnlyItsForm) {
  EXPECT_TRUE(is_question_id("a"));
  EXPECT_TRUE(is_question_id(std::string(64, 'a')));
  EXPECT_FALSE(is_question_id(std::string(65, 'a')));
  for (const char* id : {"", "A", "a_b", "a.b", "a b", "é", "a\n"}) EXPECT_FALSE(is_question_id(id)) << id;
}

}  // namespace
}  // namespace sb::decision

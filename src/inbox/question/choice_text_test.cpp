#include "inbox/question/choice_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decision/testing.hpp"

namespace sb::inbox {
namespace {

using decision::declared;
using testing::StartsWith;

TEST(ChoiceText, ShortLabelsAreInTheBlock) {
  EXPECT_EQ(choice_text(declared("{decision: env, instruction: Which environment?, options: [staging, production]}")),
            "Which environment?\n\n1) staging\n2) production");
}

TEST(ChoiceText, LongLabelsBecomeLettersWithTheirTextAbove) {
  const auto text = choice_text(declared(R"(
decision: move
profile: gstack
instruction: How should the table be moved?
options:
  - {id: once, label: Move the whole table in one night}
  - {id: parts, label: In parts}
)"));
  EXPECT_EQ(text, "A: Move the whole table in one night\nB: In parts\n\nHow should the table be moved?\n\n1) A\n2) B");
}

TEST(ChoiceText, StatesHowManyMayBeChosen) {
  EXPECT_EQ(
      choice_text(declared("{decision: env, instruction: Which?, select: many, min: 1, max: 2, options: [x, y, z]}")),
      "Choose 1–2.\n\nWhich?\n\n1) x\n2) y\n3) z");
}

TEST(ChoiceText, FactsComeFirst) {
  const auto text = choice_text(declared(R"(
decision: drop
instruction: Drop the table?
door: one-way
irreversible_note: The rows are gone for good.
options: [{id: keep, label: Keep it}, {id: drop, label: Drop it}]
)"));
  EXPECT_EQ(text, "Cannot be undone: The rows are gone for good.\n\nDrop the table?\n\n1) Keep it\n2) Drop it");
}

TEST(ChoiceText, NumbersAllOptionsAsTheInboxDoes) {
  EXPECT_EQ(
      choice_text(declared("{decision: env, instruction: Which?, options: [a1, a2, a3, a4, a5, a6, a7, a8, a9]}")),
      "Which?\n\n1) a1\n2) a2\n3) a3\n4) a4\n5) a5\n6) a6\n7) a7\n8) a8\n9) a9");
}

TEST(ChoiceText, AProfileWithLettersShowsThem) {
  EXPECT_THAT(choice_text(declared("{decision: env, profile: gstack, instruction: Which?, options: [First, Second]}")),
              StartsWith("A: First\nB: Second\n"));
}

TEST(ChoiceText, FlowsHaveOneBlockPerStepAndTextQuestionsNone) {
  EXPECT_EQ(
      choice_text(declared("{flow: f, steps: [{key: a, instruction: One?, options: [x, y]}, {key: b, instruction: "
                           "Two?, options: [z, w]}]}")),
      "One?\n\n1) x\n2) y\n\nTwo?\n\n1) z\n2) w");
  EXPECT_EQ(choice_text(declared("{decision: name, instruction: What name?, select: text}")),
            "What name?\n\nAnswer with a text.");
}

}  // namespace
}  // namespace sb::inbox

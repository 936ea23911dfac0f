// Children, holding and resuming.
#include <gtest/gtest.h>

#include "decision/brief.hpp"
#include "decision/chain/phrases.hpp"
#include "decision/chain/test_driver.hpp"

namespace sb::decision {
namespace {

using testing::ChainConversation;
using testing::ChainText;
using testing::Ids;

TEST(ReqSplit10, TheGraphIsCheckedBeforeTheFirstChild) {
  const auto refused = [](const std::string& member) {
    return !testing::parse_chain(ChainText{.extra = {{"E2", member}}}.of(5)).has_value();
  };
  EXPECT_TRUE(refused("requires: [E9]"));
  EXPECT_TRUE(refused("requires: [E2]"));
  EXPECT_TRUE(refused("conflicts: [E2]"));
  EXPECT_TRUE(refused("requires: [E1], conflicts: [E1]"));
  EXPECT_FALSE(refused("requires: [E1], conflicts: [E3]"));
}

TEST(ReqSplit11, AChildNamesItsRequirementsAndDependants) {
  ChainConversation chat(ChainText{.extra = {{"E2", "requires: [E1]"}, {"E4", "conflicts: [E5]"}}}.of(5), 4);
  EXPECT_TRUE(chat.says("Without this, E2 (Option 2) cannot work.")) << chat.output();
  chat.type("C");
  EXPECT_TRUE(chat.says("Needs E1 (Option 1), which you cut.")) << chat.output();
  chat.type_all({"A", "A"});
  EXPECT_TRUE(chat.says("Does not go together with E5 (Option 5).")) << chat.output();
  chat.type("B");
  EXPECT_TRUE(chat.says("Does not go together with E4 (Option 4), which you deferred.")) << chat.output();
}

// A declared text may end with a full stop of its script or not. (The letter р ends in a byte of "…".)
TEST(ReqSplit11, OneFullStopIsBetweenTheTextOfAnOptionAndItsNeeds) {
  EXPECT_EQ(join_sentences("Новый сервер", "Нужно: E1."), "Новый сервер. Нужно: E1.");
  EXPECT_EQ(join_sentences("A parser", "Needs E1."), "A parser. Needs E1.");
  for (const std::string ended : {"它会回复。", "返信します！", "Soon…", "Now.", "(really)"}) {
    EXPECT_EQ(join_sentences(ended, "Needs E1."), ended + " Needs E1.");
  }
}

TEST(ReqSplit11, AShippedRequirementIsReportedAsPresent) {
  ChainConversation chat(ChainText{.extra = {{"E1", "requires: [E2]"}, {"E2", "shipped: true"}}}.of(5), 4);
  EXPECT_TRUE(chat.says("Needs E2 (Option 2), which is already there.")) << chat.output();
}

TEST(ReqSplit16, TheLabelIsInTheFirstLine) {
  ChainConversation chat(ChainText{}.of(5), 4);
  EXPECT_TRUE(chat.output().starts_with("D3.1 — Option 1 <gstack-qid:plan-ceo-review-split-e1>\n"));
}

TEST(ReqSplit16, ALabelTooLongForTheHeaderStaysInTheText) {
  std::string yaml = ChainText{}.of(12);
  yaml.replace(yaml.find("number: 3"), 9, "number: 10");
  ChainConversation chat(yaml, 4);
  chat.type("A");
  for (int i = 0; i < 12; ++i) chat.type("A");
  chat.type_all({"B", "10.10"});
  EXPECT_EQ(chat.label(), "D10.revise-10");
  EXPECT_TRUE(chat.prompt().header.empty());
  EXPECT_TRUE(chat.output().starts_with("D10.revise-10 — "));
}

TEST(ReqSplit17, AChildMentionsOnlyItsOwnOption) {
  ChainConversation chat(ChainText{}.of(5), 4);
  EXPECT_TRUE(chat.says("\nELI10: About option 1.\n"));
  for (const auto* other : {"Option 2", "E2", "E5"}) EXPECT_FALSE(chat.says(other));
}

TEST(ReqSplit18, TheRecommendationIsABucketWithItsReason) {
  ChainConversation chat(ChainText{.extra = {{"E1", "recommend: {choice: defer, reason: too early}"}}}.of(5), 4);
  EXPECT_TRUE(chat.says("\nRecommendation: Defer because too early\n")) << chat.output();
  EXPECT_FALSE(testing::parse_chain(ChainText{.extra = {{"E1", "recommend: {choice: hold, reason: unclear}"}}}.of(5)));
}

TEST(ReqSplit19, AChildOffersTheFourBucketsInOrder) {
  ChainConversation chat(ChainText{}.of(5), 4);
  EXPECT_EQ(chat.option_ids(), (Ids{"include", "defer", "cut", "hold"}));
  EXPECT_TRUE(
      chat.output().ends_with("\nA) Include in this scope (recommended)\nB) Defer to follow-up\n"
                              "C) Cut entirely\nD) Hold — stop the chain, discuss before deciding"))
      << chat.output();
}

TEST(ReqSplit20, ExactlyOneBucketIsMarked) {
  for (const auto* choice : {"include", "defer", "cut"}) {
    ChainConversation chat(ChainText{.choice = choice}.of(5), 4);
    int marked = 0;
    for (const auto& option : chat.prompt().options) marked += option.recommended;
    EXPECT_EQ(marked, 1);
    const auto first = chat.output().find(kRecommendedMark);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(chat.output().find(kRecommendedMark, first + 1), std::string::npos);
  }
}

TEST(ReqSplit21, AChildShowsTheKindNoteAndNoScore) {
  ChainConversation chat(ChainText{}.of(5), 4);
  EXPECT_TRUE(chat.says("\nNote: options differ in kind, not coverage — no completeness score.\n"));
  EXPECT_FALSE(chat.says("Completeness:"));
}

TEST(ReqSplit22, HoldStopsTheChainImmediately) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D"});
  EXPECT_EQ(chat.event(), "HOLD");
  EXPECT_EQ(chat.output(), "");
  EXPECT_EQ(chat.label(), "D3.2");
  EXPECT_FALSE(chat.turn().payload.has_value());
  chat.type("A");
  EXPECT_EQ(chat.event(), "HOLD");
  EXPECT_FALSE(chat.says("D3."));
}

TEST(ReqSplit22, HoldInARevisionStopsToo) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "A", "A", "A", "A", "B", "3.2", "D"});
  EXPECT_EQ(chat.event(), "HOLD");
  EXPECT_EQ(chat.label(), "D3.revise-2");
}

TEST(ReqSplit23, NothingIsQueuedAfterAHold) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "A", "D", "reset"});
  EXPECT_EQ(chat.label(), "D3.1");
  const auto state = to_json(to_value(chat.turn().state));
  EXPECT_EQ(state.find("queue"), std::string::npos);
}

TEST(ReqSplit24, ContinueOrANamedOptionResumes) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"D", "continue"});
  EXPECT_EQ(chat.label(), "D3.1");
  chat.type_all({"D", "E4"});
  EXPECT_EQ(chat.label(), "D3.4");
}

TEST(ReqSplit25, ResetRestartsWithNothingDecided) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"C", "C", "D", "reset"});
  EXPECT_EQ(chat.label(), "D3.1");
  chat.type_all({"A", "A", "A", "A", "A", "A"});
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"include","E3":"include","E4":"include","E5":"include"})");
}

TEST(ReqSplit26, AChangedDefinitionRejectsTheOldState) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D"});
  const auto blob = save_chain(chat.turn().state, "n", {});
  const auto changed = testing::chain_of(ChainText{.choice = "cut"}.of(5));
  const auto loaded = load_chain(ChainModel(*changed), blob, {});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("changed"), std::string::npos);
}

TEST(AmbS4, AllQuestionsOfAParentShareItsNumber) {
  ChainConversation chat(ChainText{}.of(7), 4);
  while (chat.is_asking()) {
    EXPECT_TRUE(chat.label().starts_with("D3.")) << chat.label();
    chat.type("A");
  }
}

TEST(AmbS8, ContinueAsksTheHeldOptionAgain) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D", "continue"});
  EXPECT_EQ(chat.label(), "D3.2");
}

TEST(AmbS8, AfterANamedOptionTheFirstUndecidedFollows) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D", "E4", "B"});
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type_all({"A", "A"});
  EXPECT_EQ(chat.label(), "D3.5");
}

TEST(AmbS8, ANamedDecidedOptionIsRevised) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D", "E1"});
  EXPECT_EQ(chat.label(), "D3.revise-1");
  chat.type("C");
  EXPECT_EQ(chat.label(), "D3.2");
}

TEST(AmbS8, AnOptionHeldInItsRevisionIsUndecidedUntilAnswered) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "A", "A", "A", "A", "B", "3.2", "D", "E4", "A"});
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type("C");
  EXPECT_EQ(chat.label(), "D3.final");
}

TEST(AmbS11, NotNowAsksDeferOrCutUnderTheSameLabel) {
  ChainConversation chat(ChainText{}.of(4), 3);
  EXPECT_EQ(chat.option_ids(), (Ids{"include", "not-now", "hold"}));
  chat.type("B");
  EXPECT_EQ(chat.label(), "D3.1");
  EXPECT_EQ(chat.option_ids(), (Ids{"defer", "cut"}));
  chat.type("B");
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type_all({"A", "A", "A", "A"});
  EXPECT_EQ(chat.values(), R"({"E1":"cut","E2":"include","E3":"include","E4":"include"})");
}

TEST(AmbS11, TheMarkIsOnTheStageThatContainsTheRecommendation) {
  ChainConversation chat(ChainText{.choice = "cut"}.of(4), 3);
  EXPECT_TRUE(chat.prompt().options[1].recommended);
  EXPECT_TRUE(chat.says("Recommendation: Cut because"));
  chat.type("B");
  EXPECT_TRUE(chat.prompt().options[1].recommended);
}

TEST(AmbS11, ResumingInTheSecondStageAsksTheWholeOptionAgain) {
  ChainConversation chat(ChainText{}.of(4), 3);
  chat.type_all({"B", "let me think about it", "continue"});
  EXPECT_EQ(chat.option_ids(), (Ids{"include", "not-now", "hold"}));
}

TEST(AmbS17, FreeTextHoldsTheChainAndIsPassedOn) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "what does it cost to run?"});
  EXPECT_EQ(chat.event(), "HOLD");
  EXPECT_EQ(chat.output(), "");
  EXPECT_EQ(chat.turn().payload, "what does it cost to run?");
  chat.type("continue");
  EXPECT_EQ(chat.label(), "D3.2");
}

TEST(AmbS18, HoldIsNotADisposition) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"D", "E2", "A", "A"});
  EXPECT_EQ(chat.label(), "D3.3") << "E1 was held, asked and answered; E2 was named";
  EXPECT_EQ(chat.values(), "{}");
}

TEST(AmbS19, NothingIsChosenWithoutAnAnswer) {
  ChainConversation chat(ChainText{}.of(5), 4);
  for (const auto* nothing : {"", " ", "\n", "\xe2\x80\x8b"}) {
    chat.type(nothing);
    EXPECT_TRUE(chat.is_asking());
    EXPECT_EQ(chat.label(), "D3.1");
  }
  EXPECT_FALSE(testing::parse_chain(ChainText{.head = "default: E1\n"}.of(5)));
  EXPECT_FALSE(testing::parse_chain(ChainText{.head = "on_timeout: default\n"}.of(5)));
}

TEST(AmbS20, AChildNeedsNoStakesArgumentsOrNet) {
  ChainConversation chat(ChainText{}.of(5), 4);
  for (const auto* anchor : {"Stakes", "Pros / cons:", "Net:"}) EXPECT_FALSE(chat.says(anchor));
}

TEST(AmbS21, TheMarkMaySitOnAnyOfTheFirstThree) {
  EXPECT_TRUE(ChainConversation(ChainText{.choice = "include"}.of(5)).says("A) Include in this scope (recommended)"));
  EXPECT_TRUE(ChainConversation(ChainText{.choice = "defer"}.of(5)).says("B) Defer to follow-up (recommended)"));
  EXPECT_TRUE(ChainConversation(ChainText{.choice = "cut"}.of(5)).says("C) Cut entirely (recommended)"));
}

TEST(AmbS22, AReplyMayNameTheQuestionItAnswers) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type("3.1: B");
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type("D3.2:B");
  EXPECT_EQ(chat.label(), "D3.3");
  chat.type("3.2: B");
  EXPECT_EQ(chat.label(), "D3.3");
  EXPECT_TRUE(chat.says("3.2 is not open. The open question is D3.3.")) << chat.output();
}

TEST(ChainInput, OnlyTheExactLetterIsAnAnswer) {
  for (const auto* input : {"a",
                            "A.",
                            "a)",
                            "(A)",
                            "option B",
                            "Option b",
                            "I choose A",
                            "A, C",
                            "A C",
                            "A,C",
                            "E",
                            "Z",
                            "1",
                            "1)",
                            "А",
                            "Ａ",
                            "A!",
                            " A",
                            "A ",
                            "A\n",
                            "AA",
                            "A and B",
                            "the first one",
                            "include",
                            "Include in this scope",
                            "HOLD",
                            "Cancel",
                            "abort!",
                            "\"A\"",
                            "`B`",
                            "**C**",
                            "a?"}) {
    ChainConversation chat(ChainText{}.of(5), 4);
    chat.type(input);
    EXPECT_TRUE(chat.is_asking()) << input;
    EXPECT_EQ(chat.label(), "D3.1") << input;
    EXPECT_TRUE(chat.output().starts_with("Answer with one letter as shown: A, B, C, D.\n\nD3.1 — ")) << input;
  }
}

TEST(ChainInput, ProseIsFreeText) {
  for (const auto* input : {"what about b tests?", "can we do a smaller one first", "A bot would be nice", "no", "ok",
                            "see 3.2: it is the same", "3: see above", "continue", "reset", "E2", "why"}) {
    ChainConversation chat(ChainText{}.of(5), 4);
    chat.type(input);
    EXPECT_EQ(chat.event(), "HOLD") << input;
    EXPECT_EQ(chat.turn().payload, input);
  }
}

TEST(ChainInput, WrongAnswersAreAskedAgainIndefinitely) {
  ChainConversation chat(ChainText{}.of(5), 4);
  for (int i = 0; i < 20; ++i) chat.type("a");
  EXPECT_TRUE(chat.is_asking());
}

TEST(ChainInput, AbortAndCancelEndTheChain) {
  for (const auto* word : {"abort", "cancel"}) {
    ChainConversation chat(ChainText{}.of(5), 4);
    chat.type_all({"A", word});
    EXPECT_EQ(chat.event(), "FLOW_CANCEL");
    EXPECT_EQ(chat.output(), "FLOW_CANCEL");
    EXPECT_EQ(chat.values(), "{}");
    EXPECT_FALSE(load_chain(chat.model(), save_chain(chat.turn().state, "n", {}), {}));
    ChainConversation held(ChainText{}.of(5), 4);
    EXPECT_EQ(held.type_all({"D", word}).event(), "FLOW_CANCEL");
  }
}

TEST(ChainInput, InvalidUtf8IsAskedAgain) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type(std::string("\xff\xfe A", 4));
  EXPECT_TRUE(chat.is_asking());
  EXPECT_EQ(chat.label(), "D3.1");
  chat.type("D").type("\xff");
  EXPECT_EQ(chat.event(), "HOLD");
  EXPECT_FALSE(chat.turn().payload.has_value());
}

TEST(ChainInput, UnderInteractionNumbersAnswerAndTheFourthErrorSuspends) {
  ChainConversation chat(ChainText{.relation = "unknown", .profile = "interaction"}.of(8));
  EXPECT_EQ(chat.output(), "What about Option 1?\n\n1) Include it\n2) Defer it\n3) Cut it\n4) Hold the chain");
  chat.type("1");
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type_all({"one", "9"});
  EXPECT_TRUE(chat.is_asking());
  chat.type("x1");
  EXPECT_EQ(chat.event(), "HOLD") << "a word is free text";
  chat.type_all({"continue", "5", "5", "5", "5"});
  EXPECT_EQ(chat.event(), "STEP_ABORT");
  chat.type("continue");
  EXPECT_EQ(chat.label(), "D3.2");
}

TEST(ChainAnswer, IdsReplaceLetters) {
  const auto declaration = testing::chain_of(ChainText{}.of(5));
  const ChainModel model(*declaration);
  auto turn = *chain_begin(model, 4);
  turn = *chain_answer(model, turn.state, {"defer"});
  EXPECT_EQ(turn.label, "D3.2");
  EXPECT_FALSE(chain_answer(model, turn.state, {}));
  EXPECT_FALSE(chain_answer(model, turn.state, {"include", "cut"}));
  EXPECT_FALSE(chain_answer(model, turn.state, {"E1"}));
  turn = *chain_answer(model, turn.state, {"hold"});
  EXPECT_EQ(turn.event, ChainEvent::kHold);
  EXPECT_FALSE(chain_answer(model, turn.state, {"include"})) << "nothing is answered during a Hold";
}

}  // namespace
}  // namespace sb::decision

// The meta question, groups, conflicts, the final question and what follows from it.
#include <gtest/gtest.h>

#include "decision/brief.hpp"
#include "decision/chain/test_driver.hpp"

namespace sb::decision {
namespace {

using testing::ChainConversation;
using testing::ChainText;
using testing::Ids;

// Five options decided by one letter each.
ChainConversation decided(const ChainText& text, const std::string& letters, int cap = 4) {
  ChainConversation chat(text.of(static_cast<int>(letters.size())), cap);
  for (const char letter : letters) chat.type(std::string(1, letter));
  return chat;
}

const ChainText kE3NeedsE1{.extra = {{"E3", "requires: [E1]"}}};

TEST(ReqSplit2, EveryOptionEndsWithThePersonsAnswer) {
  auto chat = decided({}, "ABCAB");
  chat.choose("ship");
  EXPECT_EQ(chat.event(), "DONE");
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"defer","E3":"cut","E4":"include","E5":"defer"})");
  EXPECT_EQ(chat.waived(), "[]");
}

TEST(ReqSplit27, NoFinalWhileAnOptionIsUndecidedOrHeld) {
  ChainConversation chat(ChainText{}.of(5), 4);
  chat.type_all({"A", "D", "E5", "A"});
  EXPECT_EQ(chat.label(), "D3.2");
  chat.type_all({"A", "A"});
  EXPECT_EQ(chat.label(), "D3.4");
  chat.type("A");
  EXPECT_EQ(chat.label(), "D3.final");
}

TEST(ReqSplit28, AnIncludedOptionWithoutItsRequirementIsAConflict) {
  for (const auto* letters : {"CAAAA", "BAAAA"}) {
    const auto chat = decided(kE3NeedsE1, letters);
    EXPECT_EQ(chat.prompt().kind, DecisionKind::kConflict) << letters;
  }
  EXPECT_EQ(decided(kE3NeedsE1, "CABAA").prompt().kind, DecisionKind::kFinal);
}

TEST(ReqSplit29, AnIncoherentSetIsNeverShipped) {
  auto chat = decided(kE3NeedsE1, "CAAAA");
  EXPECT_EQ(chat.option_ids(), (Ids{"keep", "cut", "waive"}));
  EXPECT_EQ(chat.label(), "D3.final");
}

TEST(ReqSplit30, AConflictHasThreeResolutions) {
  auto keep = decided(kE3NeedsE1, "CAAAA");
  EXPECT_TRUE(keep.says("E3 is in but needs E1, which you cut: what now?")) << keep.output();
  keep.choose("keep").choose("ship");
  EXPECT_EQ(keep.values(), R"({"E1":"include","E2":"include","E3":"include","E4":"include","E5":"include"})");
  auto cut = decided(kE3NeedsE1, "CAAAA");
  cut.choose("cut").choose("ship");
  EXPECT_EQ(cut.values(), R"({"E1":"cut","E2":"include","E3":"cut","E4":"include","E5":"include"})");
  auto broken = decided(kE3NeedsE1, "CAAAA");
  broken.choose("waive");
  EXPECT_TRUE(broken.says("Broken on purpose: E3 without E1.")) << broken.output();
  broken.choose("ship");
  EXPECT_EQ(broken.values(), R"({"E1":"cut","E2":"include","E3":"include","E4":"include","E5":"include"})");
  EXPECT_EQ(broken.waived(), R"([["E3","E1"]])");
}

TEST(ReqSplit30, OfTwoConflictingOptionsEitherOneStaysOrBoth) {
  const ChainText text{.extra = {{"E5", "conflicts: [E2]"}}};
  auto chat = decided(text, "AAAAA");
  EXPECT_EQ(chat.option_ids(), (Ids{"keep-first", "keep-second", "waive"}));
  chat.choose("keep-second").choose("ship");
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"cut","E3":"include","E4":"include","E5":"include"})");
  auto both = decided(text, "AAAAA");
  both.choose("waive").choose("ship");
  EXPECT_EQ(both.waived(), R"([["E2","E5"]])");
}

TEST(ReqSplit31, TheFinalOffersShipReviseAndCutMore) {
  const auto chat = decided({}, "AAAAA");
  EXPECT_EQ(chat.option_ids(), (Ids{"ship", "revise", "cut-more"}));
  EXPECT_TRUE(chat.output().ends_with("A) Ship this scope (recommended)\nB) Revise one option\nC) Cut more"))
      << chat.output();
}

TEST(ReqSplit32, TheFinalQuestionListsTheWholeSet) {
  const auto chat = decided({}, "ABCAB");
  EXPECT_TRUE(
      chat.says("In: E1 (Option 1), E4 (Option 4). Deferred: E2 (Option 2), E5 (Option 5). Cut: E3 (Option 3)."))
      << chat.output();
}

TEST(ReqSplit33, ReviseAsksWhichAndThenThatOne) {
  auto chat = decided({}, "AAAAA");
  chat.choose("revise");
  EXPECT_EQ(chat.option_ids(), (Ids{"E1", "E2", "E3", "more"}));
  chat.choose("more");
  EXPECT_EQ(chat.option_ids(), (Ids{"E4", "E5", "back"}));
  chat.choose("E5");
  EXPECT_EQ(chat.label(), "D3.revise-5");
}

TEST(ReqSplit34, ReviseAsksNoOtherChild) {
  auto chat = decided({}, "AAAAA");
  chat.choose("revise").choose("E2").type("C");
  EXPECT_EQ(chat.label(), "D3.final");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kFinal);
}

TEST(ReqSplit35, AfterARevisionTheSetIsCheckedAndConfirmedAgain) {
  auto chat = decided(kE3NeedsE1, "AAAAA");
  chat.choose("revise").choose("E1").type("C");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kConflict);
  chat.choose("cut");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kFinal);
  chat.choose("revise").choose("E2").type("B").choose("ship");
  EXPECT_EQ(chat.values(), R"({"E1":"cut","E2":"defer","E3":"cut","E4":"include","E5":"include"})");
}

TEST(ReqSplit39, TheMetaQuestionHasThreeOutcomes) {
  ChainConversation chat(ChainText{}.of(7), 4);
  EXPECT_EQ(chat.label(), "D3.0");
  EXPECT_EQ(chat.option_ids(), (Ids{"split", "narrow", "groups"}));
}

TEST(ReqSplit40, TheFullSplitIsRecommendedOnlyForIndependentOptions) {
  EXPECT_TRUE(ChainConversation(ChainText{}.of(7), 4).prompt().options[0].recommended);
  for (const auto& text : {ChainText{.extra = {{"E2", "requires: [E1]"}}},
                           ChainText{.extra = {{"E2", "conflicts: [E1]"}}}, ChainText{.relation = "unknown"}}) {
    const auto prompt = ChainConversation(text.of(7), 4).prompt();
    EXPECT_FALSE(prompt.options[0].recommended);
    EXPECT_TRUE(prompt.options[1].recommended);
    EXPECT_FALSE(prompt.options[2].recommended);
  }
}

TEST(ReqSplit41, TheMetaQuestionIsAQuestionOfTheChain) {
  ChainConversation chat(ChainText{}.of(7), 4);
  EXPECT_TRUE(
      chat.output().starts_with("D3.0 — Ask 7 questions, one per option? <gstack-qid:plan-ceo-review-split-meta>"))
      << chat.output();
  EXPECT_EQ(chat.type("let us talk first").event(), "HOLD");
  EXPECT_EQ(chat.type("continue").label(), "D3.0");
}

TEST(ReqSplit42, ProceedAsksEveryChild) {
  ChainConversation chat(ChainText{}.of(7), 4);
  chat.choose("split");
  for (int k = 1; k <= 7; ++k) {
    EXPECT_EQ(chat.label(), "D3." + std::to_string(k));
    chat.type("A");
  }
  EXPECT_EQ(chat.label(), "D3.final");
}

TEST(ReqSplit43, AGroupHasAtMostTheCap) {
  ChainConversation chat(ChainText{}.of(9), 4);
  chat.choose("groups");
  EXPECT_EQ(chat.option_ids(), (Ids{"E1", "E2", "E3", "E4"}));
  EXPECT_EQ(chat.prompt().select.mode, SelectMode::kMany);
  chat.type("A,C");
  EXPECT_EQ(chat.option_ids(), (Ids{"E5", "E6", "E7", "E8"}));
  chat.type("none");
  EXPECT_EQ(chat.option_ids(), (Ids{"E9", "none-of-these"}));
  chat.type("A");
  EXPECT_EQ(chat.option_ids(), (Ids{"defer-all", "cut-all", "one-by-one"}));
}

TEST(ReqSplit44, ASmallerSetIsProposedAndNothingLeavesUnapproved) {
  const ChainText text{.extra = {{"E2", "recommend: {choice: cut, reason: nobody asked}"},
                                 {"E5", "recommend: {choice: defer, reason: too early}"}}};
  ChainConversation chat(text.of(7), 4);
  chat.choose("narrow");
  EXPECT_TRUE(chat.says("E2 (Option 2): cut (nobody asked); E5 (Option 5): defer (too early)")) << chat.output();
  chat.choose("ask-each");
  for (int k = 1; k <= 7; ++k) {
    EXPECT_EQ(chat.label(), "D3." + std::to_string(k));
    chat.type("A");
  }
}

TEST(ReqSplit56, WorkedExampleOfFivePlatforms) {
  const std::string yaml = R"(chain: chat-integrations
skill: plan-ceo-review
number: 3
relation: independent
profile: gstack
options:
  - {key: E1, label: Slack DM bot, eli10: Two weeks., recommend: {choice: include, reason: about 40 % of requests}}
  - {key: E2, label: Discord guild bot, eli10: Three weeks., recommend: {choice: defer, reason: about 15 % of requests}}
  - {key: E3, label: Microsoft Teams, eli10: Four weeks., recommend: {choice: defer, reason: about 5 % of requests}}
  - {key: E4, label: Telegram, eli10: One week., recommend: {choice: include, reason: 8 % of requests for one week}}
  - {key: E5, label: Mattermost, eli10: Two weeks., recommend: {choice: defer, reason: about 3 % of requests}}
)";
  ChainConversation chat(yaml, 4);
  std::vector<std::string> labels;
  for (const auto* letter : {"A", "B", "B", "A", "B"}) {
    labels.push_back(chat.label());
    chat.type(letter);
  }
  labels.push_back(chat.label());
  EXPECT_EQ(labels, (Ids{"D3.1", "D3.2", "D3.3", "D3.4", "D3.5", "D3.final"}));
  EXPECT_EQ(chat.output(),
            "D3.final — Ship this scope? <gstack-qid:plan-ceo-review-split-final>\n"
            "ELI10: In: E1 (Slack DM bot), E4 (Telegram). Deferred: E2 (Discord guild bot), E3 (Microsoft Teams), E5 "
            "(Mattermost).\n"
            "Recommendation: A because every option has your decision and the set is consistent\n"
            "Note: options differ in kind, not coverage — no completeness score.\n"
            "A) Ship this scope (recommended)\nB) Revise one option\nC) Cut more");
  chat.type("A");
  EXPECT_EQ(chat.event(), "DONE");
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"defer","E3":"defer","E4":"include","E5":"defer"})");
}

TEST(AmbS2, TheLastOptionOfABatchCanBeReachedAndChosen) {
  ChainConversation chat(ChainText{.relation = "alternatives"}.of(9), 4);
  chat.choose("more").choose("more").choose("E9");
  EXPECT_EQ(chat.event(), "DONE");
  EXPECT_NE(chat.values().find(R"("E9":"include")"), std::string::npos);
  EXPECT_NE(chat.values().find(R"("E1":"cut")"), std::string::npos);
}

TEST(AmbS3, UnselectedOptionsAreAskedAndNeverCutBySilence) {
  ChainConversation chat(ChainText{}.of(9), 4);
  chat.choose("groups").type_all({"A,B", "A", "B"});
  EXPECT_EQ(chat.option_ids(), (Ids{"defer-all", "cut-all", "one-by-one"}));
  EXPECT_TRUE(chat.says("E3, E4, E6, E7, E8, E9")) << chat.output();
  ChainConversation deferred = ChainConversation(ChainText{}.of(9), 4);
  deferred.choose("groups").type_all({"A,B", "A", "B"}).choose("defer-all");
  EXPECT_EQ(deferred.label(), "D3.final");
  deferred.choose("ship");
  EXPECT_NE(deferred.values().find(R"("E9":"defer")"), std::string::npos);
  chat.choose("one-by-one");
  for (const auto* label : {"D3.3", "D3.4", "D3.6", "D3.7", "D3.8", "D3.9", "D3.final"}) {
    EXPECT_EQ(chat.label(), label);
    chat.type("A");
  }
}

TEST(AmbS3, ASingleQuestionAsksForTheRestToo) {
  ChainConversation chat(ChainText{}.of(4), 4);
  EXPECT_EQ(chat.label(), "D3");
  chat.type("A,C");
  EXPECT_EQ(chat.option_ids(), (Ids{"defer-all", "cut-all", "one-by-one"}));
  chat.choose("cut-all");
  EXPECT_EQ(chat.event(), "DONE");
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"cut","E3":"include","E4":"cut"})");
  ChainConversation all(ChainText{}.of(4), 4);
  EXPECT_EQ(all.type("A,B,C,D").event(), "DONE");
  ChainConversation one_by_one(ChainText{}.of(4), 4);
  one_by_one.type("none").choose("one-by-one");
  EXPECT_EQ(one_by_one.label(), "D3.1");
}

TEST(AmbS3, ASingleQuestionIsCheckedForConflictsToo) {
  ChainConversation chat(ChainText{.extra = {{"E2", "requires: [E1]"}}}.of(3), 4);
  chat.type("B").choose("cut-all");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kConflict);
  chat.choose("keep").choose("ship");
  EXPECT_EQ(chat.values(), R"({"E1":"include","E2":"include","E3":"cut"})");
}

TEST(AmbS7, ThePickerAcceptsATypedNumberOnAnyPage) {
  for (const auto* typed : {"3.2", "D3.2", "E2"}) {
    auto chat = decided({}, "AAAAA");
    chat.choose("revise").choose("more").type(typed);
    EXPECT_EQ(chat.label(), "D3.revise-2") << typed;
  }
  auto chat = decided({}, "AAAAA");
  chat.choose("revise").choose("more").choose("back");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kFinal);
}

TEST(AmbS6, EveryRevisionOfAnOptionHasTheSameLabel) {
  auto chat = decided({}, "AAAAA");
  chat.choose("revise").choose("E2").type("B").choose("revise").choose("E2");
  EXPECT_EQ(chat.label(), "D3.revise-2");
}

TEST(AmbS9, OnlyIncludeOrShippedSatisfiesARequirement) {
  EXPECT_EQ(decided(kE3NeedsE1, "BAAAA").prompt().kind, DecisionKind::kConflict);
  EXPECT_EQ(decided(kE3NeedsE1, "AAAAA").prompt().kind, DecisionKind::kFinal);
  const ChainText shipped{.extra = {{"E3", "requires: [E1]"}, {"E1", "shipped: true"}}};
  EXPECT_EQ(decided(shipped, "CAAAA").prompt().kind, DecisionKind::kFinal);
}

TEST(AmbS10, AnEmptySetCanBeClosedAndNothingIsLeftToCut) {
  auto chat = decided({}, "CCBCC");
  EXPECT_EQ(chat.option_ids(), (Ids{"close", "revise"}));
  EXPECT_TRUE(chat.says("A) Close with nothing in scope\nB) Revise one option (recommended)")) << chat.output();
  chat.choose("close");
  EXPECT_EQ(chat.values(), R"({"E1":"cut","E2":"cut","E3":"defer","E4":"cut","E5":"cut"})");
}

TEST(AmbS10, CutMoreEndsInTheEmptySet) {
  auto chat = decided({}, "ACCCC");
  chat.choose("cut-more");
  EXPECT_EQ(chat.option_ids(), (Ids{"E1", "back"}));
  chat.choose("E1");
  EXPECT_EQ(chat.option_ids(), (Ids{"close", "revise"}));
}

TEST(AmbS12, SurvivorsKeepTheirNumbersAndTheirQuestions) {
  const ChainText text{.extra = {{"E1", "recommend: {choice: cut, reason: r}"},
                                 {"E2", "recommend: {choice: defer, reason: r}"},
                                 {"E3", "recommend: {choice: cut, reason: r}"},
                                 {"E5", "recommend: {choice: cut, reason: r}"}}};
  ChainConversation chat(text.of(7), 4);
  chat.choose("narrow").choose("approve");
  for (const auto* label : {"D3.4", "D3.6", "D3.7", "D3.final"}) {
    EXPECT_EQ(chat.label(), label);
    chat.type("A");
  }
  EXPECT_EQ(chat.values(),
            R"({"E1":"cut","E2":"defer","E3":"cut","E4":"include","E5":"cut","E6":"include","E7":"include"})");
}

TEST(AmbS12, WithNothingToNarrowTheProposalKeepsAllAndSaysSo) {
  ChainConversation chat(ChainText{}.of(7), 4);
  chat.choose("narrow");
  EXPECT_EQ(chat.option_ids(), (Ids{"ask-each", "groups", "hold"}));
  EXPECT_TRUE(chat.says("There is nothing to narrow, so the proposal keeps all of them: E1 (Option 1), E2"))
      << chat.output();
  EXPECT_EQ(chat.turn().state.dispositions, Dispositions(7));
  EXPECT_EQ(ChainConversation(chat).choose("ask-each").label(), "D3.1");
  EXPECT_EQ(ChainConversation(chat).choose("groups").option_ids(), (Ids{"E1", "E2", "E3", "E4"}));
  EXPECT_EQ(chat.choose("hold").event(), "HOLD");
  EXPECT_EQ(chat.type("continue").option_ids(), (Ids{"ask-each", "groups", "hold"}));
  EXPECT_EQ(chat.type("why?").type("E2").label(), "D3.2");
  EXPECT_EQ(chat.type("A").label(), "D3.1");
}

TEST(ReqSplit40, TheMetaQuestionsRecommendationIsAccepted) {
  for (const auto& text : {ChainText{.extra = {{"E2", "requires: [E1]"}}}, ChainText{.relation = "unknown"}}) {
    ChainConversation chat(text.of(7), 4);
    for (const auto& option : chat.prompt().options) {
      if (!option.recommended) continue;
      EXPECT_NE(ChainConversation(chat).choose(option.id).turn().question_id, chat.turn().question_id);
    }
  }
}

TEST(AmbS12, TheProposalCanBeHeld) {
  ChainConversation chat(ChainText{.choice = "cut"}.of(7), 4);
  chat.choose("narrow").choose("hold");
  EXPECT_EQ(chat.event(), "HOLD");
  chat.type("continue");
  EXPECT_EQ(chat.option_ids(), (Ids{"approve", "ask-each", "hold"}));
}

const ChainText kCycle{.extra = {{"E1", "requires: [E2]"}, {"E2", "requires: [E3]"}, {"E3", "requires: [E1]"}}};

TEST(AmbS15, ACycleIsAllOrNoneAndItsMembersSaySo) {
  ChainConversation chat(kCycle.of(5), 4);
  EXPECT_TRUE(chat.says("Goes together with E2 (Option 2), E3 (Option 3): all of them or none.")) << chat.output();
  auto keep = decided(kCycle, "ACBAA");
  EXPECT_EQ(keep.option_ids(), (Ids{"keep", "cut", "waive"}));
  EXPECT_TRUE(keep.says("In: E1 (Option 1). Out: E2 (Option 2), E3 (Option 3).")) << keep.output();
  keep.choose("keep").choose("ship");
  EXPECT_EQ(keep.values(), R"({"E1":"include","E2":"include","E3":"include","E4":"include","E5":"include"})");
  auto cut = decided(kCycle, "AACAA");
  cut.choose("cut").choose("ship");
  EXPECT_EQ(cut.values(), R"({"E1":"cut","E2":"cut","E3":"cut","E4":"include","E5":"include"})");
  auto waived = decided(kCycle, "AACAA");
  waived.choose("waive");
  EXPECT_EQ(waived.prompt().kind, DecisionKind::kFinal);
}

TEST(AmbS15, ConflictsApplyInBothDirections) {
  for (const auto& text :
       {ChainText{.extra = {{"E1", "conflicts: [E2]"}}}, ChainText{.extra = {{"E2", "conflicts: [E1]"}}}}) {
    EXPECT_EQ(decided(text, "AAAAA").prompt().kind, DecisionKind::kConflict);
  }
}

TEST(AmbS15, RequirementAndConflictOnOnePairIsADefinitionError) {
  EXPECT_FALSE(testing::parse_chain(
      ChainText{.extra = {{"E1", "requires: [E2]"}, {"E2", "requires: [E3]"}, {"E3", "conflicts: [E1]"}}}.of(5)));
}

TEST(AmbS16, ConflictsAreAskedOneByOneInOrder) {
  const ChainText text{.extra = {{"E5", "requires: [E1]"}, {"E4", "requires: [E2, E1]"}}};
  auto chat = decided(text, "CCAAA");
  EXPECT_EQ(chat.turn().question_id, "plan-ceo-review-split-conflict-e4-e1");
  chat.choose("waive");
  EXPECT_EQ(chat.turn().question_id, "plan-ceo-review-split-conflict-e4-e2");
  chat.choose("waive");
  EXPECT_EQ(chat.turn().question_id, "plan-ceo-review-split-conflict-e5-e1");
  chat.choose("keep");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kFinal);
  chat.choose("ship");
  EXPECT_EQ(chat.waived(), R"([["E4","E2"]])") << "E4 has E1 after all";
}

TEST(AmbS16, APairThatReopensIsAskedThreeTimesAndThenBlocksShip) {
  const ChainText text{.extra = {{"E3", "requires: [E1]"}, {"E1", "conflicts: [E2]"}}};
  auto chat = decided(text, "CAAAA");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chat.turn().question_id, "plan-ceo-review-split-conflict-e3-e1");
    chat.choose("keep");
    EXPECT_EQ(chat.turn().question_id, "plan-ceo-review-split-conflict-e1-e2");
    chat.choose("keep-second");
  }
  EXPECT_EQ(chat.option_ids(), (Ids{"waive", "revise", "cut-more"}));
  EXPECT_TRUE(chat.says("Not consistent yet: E3 without E1.")) << chat.output();
  chat.choose("waive");
  EXPECT_EQ(chat.option_ids(), (Ids{"ship", "revise", "cut-more"}));
  chat.choose("ship");
  EXPECT_EQ(chat.waived(), R"([["E3","E1"]])");
}

TEST(AmbS16, AWaivedPairIsNotAskedAgain) {
  auto chat = decided(kE3NeedsE1, "CAAAA");
  chat.choose("waive").choose("revise").choose("E2").type("C");
  EXPECT_EQ(chat.prompt().kind, DecisionKind::kFinal);
}

TEST(ChainFinal, FreeTextHoldsEveryKindOfQuestion) {
  auto conflict = decided(kE3NeedsE1, "CAAAA");
  EXPECT_EQ(conflict.type("hm, not sure about that").event(), "HOLD");
  EXPECT_EQ(conflict.type("continue").prompt().kind, DecisionKind::kConflict);
  auto final = decided({}, "AAAAA");
  EXPECT_EQ(final.type("wait for the review").event(), "HOLD");
  EXPECT_EQ(final.type("E3").label(), "D3.revise-3");
  EXPECT_EQ(final.type("C").label(), "D3.final");
}

TEST(ChainFinal, ANamedOptionDoesNotSkipTheMetaQuestion) {
  ChainConversation chat(ChainText{}.of(7), 4);
  chat.type_all({"hold on a moment", "E5", "A"});
  EXPECT_EQ(chat.label(), "D3.0");
}

TEST(ChainFinal, AnEndedChainAcceptsNoInput) {
  auto chat = decided({}, "AAAAA");
  chat.choose("ship");
  EXPECT_FALSE(load_chain(chat.model(), save_chain(chat.turn().state, "n", {}), {}));
}

TEST(ChainFinal, AnExpiredChainIsRejectedWhenTheTimeIsGiven) {
  ChainConversation chat(ChainText{.head = "expires: 2026-11-15T08:00:00Z\n"}.of(5), 4);
  const auto blob = save_chain(chat.turn().state, "n", {});
  const auto at = *parse_rfc3339("2026-11-15T08:00:00Z");
  EXPECT_TRUE(load_chain(chat.model(), blob, {}));
  EXPECT_TRUE(load_chain(chat.model(), blob, {.key = std::nullopt, .now = at - 1}));
  EXPECT_FALSE(load_chain(chat.model(), blob, {.key = std::nullopt, .now = at}));
}

TEST(ChainFinal, UnderInteractionItIsTheConfirmation) {
  ChainConversation chat(ChainText{.profile = "interaction"}.of(8));
  chat.type_all({"1,2", "3", "2"});
  EXPECT_TRUE(chat.output().starts_with("Summary:\n- E1: included\n")) << chat.output();
  EXPECT_TRUE(chat.output().ends_with("\n\n1) Confirm\n2) Restart\n3) Edit specific step")) << chat.output();
  chat.type("1");
  EXPECT_EQ(chat.event(), "DONE");
}

TEST(ChainFinal, InRussianTheAnchorsStay) {
  ChainConversation chat(ChainText{.head = "locale: ru\n"}.of(5), 4);
  EXPECT_TRUE(chat.says("\nA) Include — взять в этот объём (recommended)\n")) << chat.output();
  EXPECT_TRUE(chat.says("\nNote: options differ in kind"));
  chat.type("a");
  EXPECT_TRUE(chat.output().starts_with("Ответьте одной буквой")) << chat.output();
}

}  // namespace
}  // namespace sb::decision

#include "decision/classify.hpp"

#include <gtest/gtest.h>

namespace sb::decision {
namespace {

const std::vector<std::string> kLabels = {"Postgres", "Да", "Keep it"};
const std::vector<std::string> kPending = {"branch", "env"};
const std::vector<std::string> kCommands = {"abort", "cancel"};

InputContext question(SelectMode mode) {
  InputContext out;
  out.option_count = 3;
  out.select = {mode, 1, mode == SelectMode::kMany ? 3 : 1};
  out.labels = kLabels;
  out.pending_keys = kPending;
  out.commands = kCommands;
  return out;
}

// "SELECTION 1,3", "INVALID shape", "FREE_TEXT", "CANCEL", "COMPACT"
std::string read(std::string_view input, SelectMode mode) {
  const Input result = classify(input, question(mode));
  if (const auto* selection = std::get_if<Selection>(&result)) {
    std::string out = "SELECTION";
    for (std::size_t i = 0; i < selection->ordinals.size(); ++i) {
      out += (i == 0 ? " " : ",") + std::to_string(selection->ordinals[i]);
    }
    return out;
  }
  if (const auto* invalid = std::get_if<Invalid>(&result)) return "INVALID " + std::string(to_string(invalid->reason));
  if (std::holds_alternative<CancelCommand>(result)) return "CANCEL";
  return std::holds_alternative<CompactAnswer>(result) ? "COMPACT" : "FREE_TEXT";
}

std::string one(std::string_view input) {
  return read(input, SelectMode::kOne);
}
std::string many(std::string_view input) {
  return read(input, SelectMode::kMany);
}
void both(std::string_view input, std::string_view expected) {
  EXPECT_EQ(one(input), expected) << input;
  EXPECT_EQ(many(input), expected) << input;
}

TEST(ReqInt19, OneNumberSelectsOneOption) {
  both("1", "SELECTION 1");
  both("3", "SELECTION 3");
  for (const char* bad : {"0", "02", "+2", "2.0", " 2", "2 "}) both(bad, "INVALID shape");
  both("4", "INVALID range");
  both("999", "INVALID range");
}

TEST(ReqInt20, SeveralNumbersAreJoinedByCommasWithoutSpaces) {
  EXPECT_EQ(many("1,3"), "SELECTION 1,3");
  EXPECT_EQ(many("3,1"), "SELECTION 3,1");
  EXPECT_EQ(many("1,1"), "INVALID duplicate");
  EXPECT_EQ(many("1,4"), "INVALID range");
  EXPECT_EQ(one("1,3"), "INVALID arity");
  EXPECT_EQ(one("1,1"), "INVALID arity");
  for (const char* bad : {"1,", ",1", "1,,3", "1;3", "1-3", "1 3"}) both(bad, "INVALID shape");
}

TEST(ReqInt21, AbortCancels) {
  both("abort", "CANCEL");
}
TEST(ReqInt22, CancelCancels) {
  both("cancel", "CANCEL");
}

TEST(Amb6, NearCommandsAreRejectedAndNeverPassedThrough) {
  for (const char* near : {"Abort", "CANCEL", "cancel!", "cancel.", " cancel", "cancel\u200b", "ｃａｎｃｅｌ"}) {
    both(near, "INVALID near-command");
  }
  InputContext folding = question(SelectMode::kOne);
  folding.command_case_fold = true;
  EXPECT_TRUE(std::holds_alternative<CancelCommand>(classify("Abort", folding)));
}

TEST(ReqInt23, OtherTextIsFreeText) {
  for (const char* text : {"3 replicas", "version 2", "use port 8080", "2 but only after lunch", "please abort",
                           "отмена", "x=5 and y=3", "what does option 2 do to my data?"}) {
    both(text, "FREE_TEXT");
  }
}

TEST(ReqInt24, OptionTwoIsRejected) {
  both("option 2", "INVALID shape");
}
TEST(ReqInt25, IChooseOneIsRejected) {
  both("I choose 1", "INVALID shape");
  both("выбираю 1", "INVALID shape");
  both("Я выбираю первый вариант", "INVALID shape");
}
TEST(ReqInt26, ProbablyThreeIsRejected) {
  both("probably 3", "INVALID shape");
  both("наверное 3", "INVALID shape");
  both("давай 2", "INVALID shape");
}
TEST(ReqInt27, SpacesBetweenNumbersAreRejected) {
  for (const char* bad : {"1, 3", "1 ,3", "1,\u00a03", "1,\t3"}) both(bad, "INVALID shape");
}
TEST(ReqInt28, EmptyInputIsRejected) {
  for (const char* empty : {"", " ", "\t\n", "\u200b", "\ufeff\u00a0"}) both(empty, "INVALID empty");
}

TEST(ReqInt50, OnlyExactMatchesCount) {
  for (const char* bad : {"(1)", "1)", "#1", "1.", "01", "1.0", "-1", "1\t", "1\n", "8080"}) both(bad, "INVALID shape");
}

TEST(ReqInt51, InputIsNotInterpreted) {
  for (const char* bad : {"１", "１，３", "١", "①", "1️⃣", "1\u200b", "Ⅱ", "№2", "№ 2", "one", "один", "первый",
                          "the second one", "Да", "да", "keep it", "KEEP  IT", "postgres"}) {
    both(bad, "INVALID shape");
  }
}

TEST(Amb1, TheLexiconIsVersionedData) {
  EXPECT_EQ(choosing_version(), "2");
}

TEST(Amb3, TheNumberOfChoicesIsDeclared) {
  InputContext bounded = question(SelectMode::kMany);
  bounded.select.min = 2;
  bounded.select.max = 2;
  EXPECT_EQ(classify("1", bounded), Input(Invalid{InvalidReason::kArity}));
  EXPECT_EQ(classify("1,2", bounded), Input(Selection{{1, 2}}));
  EXPECT_EQ(classify("1,2,3", bounded), Input(Invalid{InvalidReason::kArity}));
}

TEST(ReqInt39, CompactFieldsAreKeysAndNumbersJoinedBySingleSpaces) {
  both("branch=2", "COMPACT");
  both("branch=2 env=1", "COMPACT");
  both("branch=2 foo=1", "COMPACT");  // only the unknown field is rejected
  both("branch=2  env=1", "FREE_TEXT");
  both("foo=2", "FREE_TEXT");  // names no pending step
  both("Branch=2", "FREE_TEXT");
}

TEST(Amb27, WithoutAFlowCommandsAreOrdinaryText) {
  InputContext none = question(SelectMode::kOne);
  none.commands = {};
  EXPECT_EQ(classify("abort", none), Input(FreeText{}));
}

TEST(Classify, InvalidUtf8AndHugeInput) {
  both("\xff\xfe", "INVALID encoding");
  both(std::string_view("1\0", 2), "FREE_TEXT");
  both(std::string(1 << 20, 'x'), "FREE_TEXT");
  both(std::string(1 << 20, '1'), "FREE_TEXT");
  both(std::string(300, ' ') + "cancel", "INVALID near-command");
  both(std::string(400, ',') + "1", "INVALID shape");
}

}  // namespace
}  // namespace sb::decision

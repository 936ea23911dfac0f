#include "inbox/question/answer_command.hpp"

#include <gmock/gmock.h>

#include "decision/testing.hpp"

namespace sb::inbox {
namespace {

using decision::declared;
using testing::HasSubstr;

std::string command(const std::string& yaml) {
  return answer_command("d-1", declared(yaml));
}

bool is_consumed(const std::string& yaml, const std::string& typed) {
  const auto declaration = declared(yaml);
  const Question question = question_of(declaration);
  const auto given = parse_choice(question, numbers_to_ids(declaration, typed));
  return given && check_answer(question, *given);
}

TEST(AnswerCommand, EveryOfferedChoiceIsAccepted) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"{decision: env, instruction: Which?, options: [staging, live]}", "staging|live"},
      {"{decision: env, instruction: Go?, options: [{id: yes, label: 'Yes'}, {id: not-yet, label: Not yet}]}",
       "yes|not-yet"},
      {"{decision: env, instruction: Which?, options: [{id: x, label: The first}, {id: y, label: The other}]}", "1|2"},
      {R"({decision: move, profile: gstack, instruction: How?, options: [{id: once, label: Move the whole table in one
        night}, {id: parts, label: In parts}]})",
       "A|B"},
      {"{decision: env, instruction: How many?, options: [{id: '2', label: Two}, {id: '1', label: One}]}", ""},
  };
  for (const auto& [yaml, choices] : table) {
    EXPECT_EQ(command(yaml), "signalbox inbox answer d-1" + (choices.empty() ? "" : " " + choices));
    for (std::size_t at = 0; at < choices.size();) {
      const std::size_t end = std::min(choices.find('|', at), choices.size());
      EXPECT_TRUE(is_consumed(yaml, choices.substr(at, end - at))) << yaml;
      at = end + 1;
    }
  }
}

TEST(AnswerCommand, OtherQuestionsAreAskedByTheCommandItself) {
  struct Case {
    std::string yaml, hint, typed;
  };
  const std::vector<Case> table{
      {"{decision: env, instruction: Which?, select: many, options: [x, y]}", "by commas: x,y", "x,y"},
      {"{decision: env, instruction: Which?, select: many, options: [x, y]}", "by commas: x,y", "1,2"},
      {"{decision: name, instruction: What name?, select: text}", "Type the text", "Ada"},
      {"{flow: f, steps: [{key: a, instruction: One?, options: [x, y]}, {key: b, instruction: Two?, options: [z, w]}]}",
       "Type a=x|y,b=z|w", "a=x,b=w"},
      {"{chain: c, options: [{key: E1, label: One, eli10: A., recommend: {choice: include, reason: r}}, {key: E2, "
       "label: Two, eli10: B., recommend: {choice: cut, reason: r}}]}",
       "Type E1=include|defer|cut,E2=include|defer|cut", "E1=include,E2=cut"},
      {"{decision: env, instruction: Which?, options: [a1, a2, a3, a4, a5, a6, a7, a8, a9]}", "Type one of: a1, a2",
       "a9"},
  };
  for (const Case& one : table) {
    EXPECT_EQ(command(one.yaml), "signalbox inbox answer d-1");
    EXPECT_THAT(answer_hint(question_of(declared(one.yaml))), HasSubstr(one.hint));
    EXPECT_TRUE(is_consumed(one.yaml, one.typed)) << one.yaml;
  }
}

TEST(AnswerCommand, NumbersAndLettersCountOverAllPages) {
  const auto nine =
      declared("{decision: env, instruction: Which?, select: many, options: [a1, a2, a3, a4, a5, a6, a7, a8, a9]}");
  EXPECT_EQ(numbers_to_ids(nine, "1,9"), "a1,a9");
  EXPECT_EQ(numbers_to_ids(nine, "h,I"), "a8,a9");
  EXPECT_THAT(question_of(nine).text, HasSubstr("  9) a9"));
}

TEST(AnswerCommand, AnAmbiguousNumberIsNotAccepted) {
  const std::string counts =
      "{decision: n, instruction: How many?, options: [{id: '2', label: Two}, {id: '1', label: One}]}";
  EXPECT_EQ(numbers_to_ids(declared(counts), "1"), "1");
  const std::string plain = "{decision: env, instruction: Which?, options: [x, y]}";
  for (const char* typed : {"0", "3", "99999999999999999999", "-1", "1 ", "", ",", "01x"}) {
    EXPECT_EQ(numbers_to_ids(declared(plain), typed), typed);
  }
}

}  // namespace
}  // namespace sb::inbox

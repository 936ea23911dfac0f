#include "decision/lint/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>

#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "decision/lint/lexicon.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LintContext context_of(const std::string& json) {
  const auto document = parse_document("context", json, Syntax::kJson);
  EXPECT_TRUE(document.has_value()) << json;
  auto context = read_lint_context(*document);
  EXPECT_TRUE(context.has_value()) << json << ": " << (context ? "" : context.error().front().to_string());
  return context.value_or(LintContext{});
}

std::vector<std::string> rules(const std::vector<Finding>& findings) {
  std::set<std::string> ids;
  for (const Finding& finding : findings) ids.insert(std::string(finding.rule));
  return {ids.begin(), ids.end()};
}

std::vector<std::string> lint_rules(std::string_view text, const std::string& context = "{}") {
  return rules(lint(text, context_of(context)));
}

bool blocks(std::string_view text, const std::string& context = "{}") {
  return has_blocking(lint(text, context_of(context)));
}

std::vector<Value> read_rows(const std::string& path) {
  std::vector<Value> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    auto row = parse_json(line);
    EXPECT_TRUE(row.has_value()) << path << ": " << line;
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

std::string data_path(const std::string& name) {
  return std::string(SB_SOURCE_DIR) + "/tests/data/" + name;
}

// Every row of a file of labelled samples gives exactly its rules.
void expect_labels(const std::vector<Value>& rows) {
  for (const Value& row : rows) {
    std::vector<std::string> expected;
    for (const Value& id : row["expect"].items()) expected.push_back(id.as_string());
    std::sort(expected.begin(), expected.end());
    const std::string context = row.find("context") ? to_json(row["context"]) : "{}";
    const auto findings = lint(row["text"].as_string(), context_of(context));
    EXPECT_EQ(rules(findings), expected) << to_json(row);
    if (const Value* blocking = row.find("blocking")) {
      EXPECT_EQ(has_blocking(findings), blocking->as_bool()) << to_json(row);
    }
  }
}

TEST(Lint, AgreesWithOurSamples) {
  const auto rows = read_rows(data_path("lint-samples.jsonl"));
  ASSERT_GE(rows.size(), 250u);
  expect_labels(rows);
}

TEST(Lint, AgreesWithTheSharedSamplesIfPresent) {
  const char* given = std::getenv("SIGNALBOX_LINT_SAMPLES");
  const std::string path = given ? given : std::string(SB_SOURCE_DIR) + "/../shared/samples/lint-samples.jsonl";
  if (!std::ifstream(path)) GTEST_SKIP() << "there is no " << path;
  const auto rows = read_rows(path);
  EXPECT_FALSE(rows.empty()) << path;
  expect_labels(rows);
}

TEST(Lint, HasASampleForEveryRule) {
  std::set<std::string> seen;
  for (const Value& row : read_rows(data_path("lint-samples.jsonl"))) {
    for (const Value& id : row["expect"].items()) seen.insert(id.as_string());
  }
  for (const RuleText& rule : rule_texts()) EXPECT_TRUE(seen.contains(std::string(rule.id))) << rule.id;
  EXPECT_EQ(seen.size(), rule_texts().size());
}

TEST(Lint, BlocksNoneOfTheOrdinaryReplies) {
  std::size_t count = 0;
  for (const char* file : {"ordinary-replies.jsonl", "ordinary-replies-2.jsonl", "ordinary-replies-3.jsonl",
                           "ordinary-replies-4.jsonl", "ordinary-replies-5.jsonl"}) {
    for (const Value& row : read_rows(data_path(file))) {
      ++count;
      const std::string& text = row["text"].as_string();
      for (const char* context : {R"({"scope":"out"})", R"({"scope":"out","profile":"gstack"})"}) {
        for (const Finding& finding : lint(text, context_of(context))) {
          EXPECT_EQ(finding.severity, Severity::kAdvise) << finding.rule << ": " << text;
        }
      }
      for (const Finding& finding : lint(text, {})) EXPECT_NE(finding.rule, "INT023-PROSE-APPROVAL") << text;
    }
  }
  EXPECT_GE(count, 640u);
}

TEST(Lint, FindsRequestsForLeaveInScopeAndOut) {
  const auto rows = read_rows(data_path("approvals.jsonl"));
  ASSERT_GE(rows.size(), 20u);
  for (const Value& row : rows) {
    const std::string& text = row["text"].as_string();
    EXPECT_TRUE(blocks(text, R"({"scope":"out"})")) << text;
    EXPECT_TRUE(blocks(text)) << text;
  }
}

TEST(Lint, FindsOffersHoweverTheyArePhrased) {
  const auto rows = read_rows(data_path("offers.jsonl"));
  ASSERT_GE(rows.size(), 80u);
  for (const Value& row : rows) {
    EXPECT_TRUE(blocks(row["text"].as_string(), R"({"scope":"out"})")) << row["text"].as_string();
  }
}

TEST(Lint, ReportsTheBytesAndTheLexicon) {
  const std::string text = "Ё-моё. Если хотите, добавлю тесты. Конец.";
  const auto findings = lint(text, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(text.substr(findings[0].start, findings[0].end - findings[0].start), "Если хотите, добавлю тесты.");
  EXPECT_THAT(std::string(findings[0].lexicon), testing::StartsWith("ru-"));
  EXPECT_TRUE(lint("1) a\n2) b", {})[0].lexicon.empty());
}

TEST(Lint, EveryPatternCompilesAndEveryLexiconHasAVersion) {
  using namespace linting;
  const auto all = Lexicons::built_in().of(kGroupSets - 1);
  ASSERT_EQ(all.size(), 13u);
  for (const Lexicon* lexicon : all) {
    EXPECT_THAT(lexicon->version, testing::StartsWith(lexicon->language + "-"));
    EXPECT_EQ(lexicon->blocks, lexicon->language == "en" || lexicon->language == "ru");
    for (const auto& phrase : lexicon->phrases) {
      phrase->find.matches("x");
      phrase->unless.matches("x");
    }
    for (const LazyPattern* list :
         {&lexicon->labels, &lexicon->label_lines, &lexicon->others, &lexicon->recommended, &lexicon->summaries,
          &lexicon->abbreviations, &lexicon->drop_verbs, &lexicon->option_caps}) {
      list->matches("x");
    }
  }
}

TEST(Lint, FindsEveryChoiceLeftToTheReader) {
  for (const char* text :
       {"I can do X or Y, up to you.", "It's up to you.", "Your call: rebase or merge.", "It's your call.",
        "Please confirm before I continue.", "Выберите: да/нет", "Choose: yes/no"}) {
    EXPECT_TRUE(blocks(text, R"({"scope":"out"})")) << text;
    EXPECT_TRUE(blocks(text)) << text;
  }
  for (const char* text : {"May I delete the old branch?", "How about I rename it?", "Option 1 or option 2?",
                           "Plan A or B?", "Как лучше поступить?", "Как быть дальше?"}) {
    EXPECT_TRUE(blocks(std::string("The tests pass. ") + text, R"({"scope":"out"})")) << text;
    EXPECT_FALSE(lint_rules(text).empty()) << text;
  }
}

TEST(Lint, IgnoresDescriptionsOfChoices) {
  for (const char* text :
       {"The editor you use is up to you.", "Your call stack is deep: 300 frames or more.",
        "The script asks you to confirm before it continues.", "Users may delete the old branch.",
        "Q: Do you want me to cache this? A: No, decided in #44.", "**Q:** Shall I cache it?\n**A:** No.",
        "Вопрос: хотите, чтобы я удалил ветку? Ответ: нет.", "Дайте знать — так называется рассылка.",
        "Как быть с кэшем, описано в README.", "Option 1 or option 2 both pass."}) {
    EXPECT_FALSE(blocks(text, R"({"scope":"out"})")) << text;
  }
  EXPECT_TRUE(blocks("Q: Do you want me to cache this?", R"({"scope":"out"})"));
}

TEST(ReqInt64, FreeTextOffersAmongTheOptionsAreFound) {
  for (const char* option : {"or type your own", "Any other", "Any other option", "Specify", "Please specify",
                             "Любой другой вариант", "Или введите свой вариант"}) {
    const auto found = lint_rules(std::string("Which branch?\n\n1) main\n2) ") + option);
    EXPECT_THAT(found, testing::Contains("INT012-OTHER")) << option;
  }
  EXPECT_THAT(lint_rules("Which branch?\n\n1) Specify the branch\n2) None"), IsEmpty());
}

// Repeating a trigger must not hide anything: neither repeated passages nor required words next to it.
TEST(Lint, FindsTheOfferAfterARepeatedTrigger) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "if you want ";
  EXPECT_FALSE(blocks(text, R"({"scope":"out"})"));
  EXPECT_TRUE(blocks(text + ". If you want, I can add tests.", R"({"scope":"out"})"));
  EXPECT_TRUE(blocks(text + "this, I'll add tests.", R"({"scope":"out"})"));
}

TEST(Lint, FindsTalkOfDroppingBeforeABrief) {
  const std::string brief = "D3 — Cache?\nELI10: It is faster.\nA) Redis\nB) Files\nNet: speed.";
  const std::string context = R"({"profile":"gstack"})";
  const auto found = lint_rules("I dropped two options to stay within the cap.\n\n" + brief, context);
  EXPECT_THAT(found, testing::Contains("GS009-DROP-NARRATION"));
  EXPECT_THAT(lint_rules(brief, context), testing::Not(testing::Contains("GS009-DROP-NARRATION")));
}

TEST(ReqInt27, OurRetryLinesPassWithoutACatalogue) {
  const std::string block = "\n\nDeploy now?\n\n1) Yes\n2) No";
  const auto at = [](int attempt) { return R"({"phase":"retry","attempt":)" + std::to_string(attempt) + "}"; };
  for (std::string_view locale : {"en", "ru"}) {
    for (const char* format : {"1 / 2", "1 / 2 / 1,2", "1 / 2 / 1,3", "1 / 2 / abort / cancel"}) {
      const auto second = text_with(locale, "retry.2", "format", format);
      const auto third = text_with(locale, "retry.3", "format", format);
      EXPECT_THAT(lint_rules(second + block, at(2)), IsEmpty()) << second;
      EXPECT_THAT(lint_rules(third + block, at(3)), IsEmpty()) << third;
      EXPECT_THAT(lint_rules(second + block, at(1)), ElementsAre("INT061-RETRY-FRAME")) << second;
    }
    EXPECT_THAT(lint_rules(std::string(text(locale, "retry.1")) + block, at(1)), IsEmpty());
    for (int attempt = 1; attempt <= 3; ++attempt) {
      EXPECT_THAT(lint_rules(std::string(text(locale, "retry.near_command")) + block, at(attempt)), IsEmpty());
      EXPECT_THAT(lint_rules(text_with(locale, "rejected", "fields", "env, branch") + block, at(attempt)), IsEmpty());
    }
  }
  EXPECT_THAT(lint_rules("Sorry, try again." + block, at(1)), ElementsAre("INT061-RETRY-FRAME"));
  EXPECT_THAT(lint_rules("Invalid input. Format: A or B" + block, at(2)), ElementsAre("INT061-RETRY-FRAME"));
}

TEST(ReqInt27, ACustomCatalogueLeavesRejectionsAndCommandsToOurs) {
  const std::string block = "\n\nDeploy now?\n\n1) Yes\n2) No";
  const std::string context = R"({"phase":"retry","attempt":1,"errors":{"1":"Неверно."}})";
  EXPECT_THAT(lint_rules("Неверно." + block, context), IsEmpty());
  EXPECT_THAT(lint_rules("Отклонено: env" + block, context), IsEmpty());
  EXPECT_THAT(lint_rules("Недопустимый ввод. Чтобы остановить: abort / cancel" + block, context), IsEmpty());
  EXPECT_THAT(lint_rules("Недопустимый ввод. Формат: 1 / 2 / abort / cancel" + block, context), IsEmpty());
  EXPECT_THAT(lint_rules("Недопустимый ввод." + block, context), ElementsAre("INT061-RETRY-FRAME"));
  EXPECT_THAT(lint_rules("Rejected: env" + block, context), ElementsAre("INT061-RETRY-FRAME"));
}

// Rules about a model's text. Each test shows the rule met and broken.
TEST(ReqInt1, AQuestionOfAnyKindMustBeABlock) {
  EXPECT_THAT(lint_rules("Deploy now?"), ElementsAre("INT021-QUESTION-NO-BLOCK"));
  EXPECT_THAT(lint_rules("Deploy now?\n\n1) Yes\n2) No"), IsEmpty());
}
TEST(ReqInt2, WithoutAContextTheRulesApply) {
  EXPECT_THAT(lint_rules("Hello!\n\nDeploy?\n\n1) Yes\n2) No"), ElementsAre("INT001-TEXT-BEFORE"));
}
TEST(ReqInt3, ToolOutputIsNotLinted) {
  EXPECT_THAT(lint_rules("Let me know if you want to proceed", R"({"channel":"tool"})"), IsEmpty());
}
TEST(ReqInt4, ConversationalHabitsAreViolations) {
  EXPECT_TRUE(blocks("Thanks for asking!\n\nDeploy?\n\n1) Yes\n2) No"));
}
TEST(ReqInt5, AWarningComesBeforeTheQuestionAndNotInIt) {
  EXPECT_THAT(lint_rules("This deletes all rows.\n\nDrop the table?\n\n1) Keep it\n2) Drop it"),
              ElementsAre("INT001-TEXT-BEFORE"));
  EXPECT_FALSE(blocks("This deletes all rows.", R"({"scope":"out"})"));
}
TEST(ReqInt6, OptionsAreNumberedWithAParenthesis) {
  EXPECT_THAT(lint_rules("Which?\n\n1. a\n2. b"), ElementsAre("INT010-NUMBERING"));
}
TEST(ReqInt7, TheFirstCharacterBelongsToTheInstruction) {
  EXPECT_THAT(lint_rules("\xEF\xBB\xBFWhich?\n\n1) a\n2) b"), ElementsAre("INT002-LEADING-NOISE"));
  EXPECT_THAT(lint_rules("¿Cuál?\n\n1) a\n2) b"), IsEmpty());
}
TEST(ReqInt8, TheInstructionIsOneSentence) {
  EXPECT_THAT(lint_rules("It is late. Stop?\n\n1) Yes\n2) No"), ElementsAre("INT005-NOT-ONE-SENTENCE"));
  EXPECT_THAT(lint_rules("Use v0.2.9, e.g. Docker?\n\n1) Yes\n2) No"), IsEmpty());
}
TEST(ReqInt9, FifteenWordsAndNotSixteen) {
  const std::string fifteen = "a b c d e f g h i j k l m n o";
  EXPECT_THAT(lint_rules(fifteen + "\n\n1) x\n2) y"), IsEmpty());
  EXPECT_THAT(lint_rules(fifteen + " p\n\n1) x\n2) y"), ElementsAre("INT006-INSTRUCTION-LONG"));
}
TEST(ReqInt10, SevenOptionsAndNotEight) {
  const std::string seven = "Which?\n\n1) a\n2) b\n3) c\n4) d\n5) e\n6) f\n7) g";
  EXPECT_THAT(lint_rules(seven), IsEmpty());
  EXPECT_THAT(lint_rules(seven + "\n8) h"), ElementsAre("INT008-TOO-MANY-OPTIONS"));
}
TEST(ReqInt11, FiveWordsPerOptionAndNotSix) {
  EXPECT_THAT(lint_rules("Which?\n\n1) a b c d e\n2) y"), IsEmpty());
  EXPECT_THAT(lint_rules("Which?\n\n1) a b c d e f\n2) y"), ElementsAre("INT007-OPTION-LONG"));
}
TEST(ReqInt12, ExactlyOneBlankLine) {
  EXPECT_THAT(lint_rules("Which?\n1) a\n2) b"), ElementsAre("INT009-BLANK-LINE"));
  EXPECT_THAT(lint_rules("Which?\n\n\n1) a\n2) b"), ElementsAre("INT009-BLANK-LINE"));
}
TEST(ReqInt13, NothingPrecedesTheInstruction) {
  EXPECT_THAT(lint_rules("The tests pass.\n\nPush?\n\n1) Yes\n2) No"), ElementsAre("INT001-TEXT-BEFORE"));
}
TEST(ReqInt14, NothingFollowsTheLastOption) {
  EXPECT_THAT(lint_rules("Push?\n\n1) Yes\n2) No\n\nReply with a number."), ElementsAre("INT003-TEXT-AFTER"));
  EXPECT_THAT(lint_rules("Push?\n\n1) Yes\n2) No\n"), IsEmpty());
}
TEST(ReqInt15, NoLabels) {
  EXPECT_THAT(lint_rules("Choose:\n\n1) a\n2) b"), ElementsAre("INT011-LABEL"));
  EXPECT_THAT(lint_rules("Выберите:\n\n1) a\n2) b"), ElementsAre("INT011-LABEL"));
}
TEST(ReqInt16, NoExplanations) {
  EXPECT_THAT(lint_rules("Which?\n\n1) Postgres — scales\n2) SQLite"), ElementsAre("INT013-EXPLANATION"));
}
TEST(ReqInt17, NoSoftOffers) {
  EXPECT_TRUE(blocks("If you'd like, I can push it."));
}
TEST(ReqInt18, NoOtherOption) {
  EXPECT_THAT(lint_rules("Which?\n\n1) a\n2) Other"), ElementsAre("INT012-OTHER"));
}
TEST(ReqInt44, ProseAfterAnInputBlocks) {
  EXPECT_TRUE(blocks("I've switched the branch for you.", R"({"phase":"post_input"})"));
}
TEST(ReqInt45, ThePlanIsNotAnnounced) {
  EXPECT_THAT(lint_rules("I'll switch to main.", R"({"phase":"post_input"})"), ElementsAre("INT030-NARRATION"));
  EXPECT_THAT(lint_rules("Перехожу на main.", R"({"phase":"post_input"})"), ElementsAre("INT030-NARRATION"));
}
TEST(ReqInt46, RunningStepsAreNotNarrated) {
  EXPECT_THAT(lint_rules("Running tests...", R"({"phase":"post_input"})"), ElementsAre("INT031-STATUS"));
}
TEST(ReqInt47, NoFreeSummaryButAResultMayReadLikeOne) {
  EXPECT_THAT(lint_rules("I've updated it.", R"({"phase":"post_input"})"), ElementsAre("INT032-FREE-SUMMARY"));
  EXPECT_THAT(lint_rules("I've updated it.", R"({"phase":"result"})"), IsEmpty());
}
TEST(ReqInt48, NothingBetweenTheInputAndTheNextBlock) {
  EXPECT_TRUE(blocks("Great choice!\n\nWhich environment?\n\n1) test\n2) prod", R"({"phase":"post_input"})"));
}
TEST(ReqInt49, TheNextBlockOrAResultIsFine) {
  EXPECT_THAT(lint_rules("Which environment?\n\n1) test\n2) prod", R"({"phase":"post_input"})"), IsEmpty());
  EXPECT_THAT(lint_rules("deployed 4f2c9aa to test", R"({"phase":"post_input"})"), IsEmpty());
}
TEST(ReqInt58, AnOfferWithoutABlockBlocks) {
  EXPECT_TRUE(blocks("Happy to add tests."));
}
TEST(ReqInt59, AnOfferCountsInAnyLanguageUnlessQuoted) {
  EXPECT_THAT(lint_rules("Если хочешь, могу продолжить."), ElementsAre("INT020-SOFT-OFFER"));
  EXPECT_THAT(lint_rules("İstersen devam edebilirim."), ElementsAre("INT020-SOFT-OFFER"));
  EXPECT_THAT(lint_rules("Текст: «Если хочешь, могу продолжить»."), IsEmpty());
}
TEST(ReqInt60, OneOptionIsNotAChoice) {
  EXPECT_THAT(lint_rules("Push?\n\n1) Yes"), ElementsAre("INT016-SINGLE-OPTION"));
}
TEST(ReqInt61, OtherIsProhibitedAndNoneIsNot) {
  EXPECT_THAT(lint_rules("Что?\n\n1) a\n2) Другое"), ElementsAre("INT012-OTHER"));
  EXPECT_THAT(lint_rules("Which?\n\n1) a\n2) None"), IsEmpty());
}
TEST(ReqInt62, EveryDeclaredOptionIsShown) {
  EXPECT_THAT(lint_rules("Which?\n\n1) a\n2) b", R"({"declared":["a","b","c"]})"),
              ElementsAre("INT051-OPTION-DROPPED"));
}
TEST(ReqInt63, APageIsNotATrim) {
  EXPECT_THAT(lint_rules("Which?\n\n1) a\n2) b\n3) More options", R"({"declared":["a","b","c","d"]})"), IsEmpty());
}
TEST(ReqInt64, FreeTextIsNeverOffered) {
  EXPECT_THAT(lint_rules("Which?\n\n1) a\n2) Type your own answer"), ElementsAre("INT012-OTHER"));
}
TEST(ReqInt65, ReasoningIsFoundBeforeABlockToo) {
  EXPECT_THAT(lint_rules("I think a is safer.\n\nWhich?\n\n1) a\n2) b"),
              ElementsAre("INT001-TEXT-BEFORE", "INT033-REASONING"));
}
TEST(ReqInt66, ThinkTagsAreReasoning) {
  EXPECT_THAT(lint_rules("<think>a or b</think>", R"({"phase":"post_input"})"), ElementsAre("INT033-REASONING"));
}
TEST(ReqInt70, ABrokenTextIsReported) {
  EXPECT_TRUE(blocks("1) a\n2) b"));
  EXPECT_FALSE(blocks("Which?\n\n1) a\n2) b"));
}
TEST(ReqInt71, TheVerdictDependsOnlyOnTextAndContext) {
  const std::string text = "Если хотите, добавлю.\n\nWhich?\n\n1) a\n2) Other";
  const auto first = lint(text, {});
  for (int i = 0; i < 60; ++i) {
    const auto again = lint(text, {});
    ASSERT_EQ(rules(again), rules(first));
    ASSERT_EQ(again[0].start, first[0].start);
  }
}
TEST(Amb10, AConfirmationIsASeparateProduction) {
  const std::string text = "Summary:\n- a: b\n\n1) Confirm\n2) Restart\n3) Edit specific step";
  EXPECT_THAT(lint_rules(text), IsEmpty());
  std::string words;
  for (int i = 0; i < 81; ++i) words += "w ";
  EXPECT_THAT(lint_rules("Summary:\n- a: " + words + "\n\n1) Confirm\n2) Restart\n3) Edit specific step"),
              ElementsAre("INT060-CONFIRMATION"));
}
TEST(Amb17, AWarningInsideTheBlockIsAnExplanation) {
  EXPECT_THAT(lint_rules("Drop it?\n\n1) Keep\n2) Drop (cannot be undone)"), ElementsAre("INT013-EXPLANATION"));
}
TEST(Amb22, SendingBackIsBounded) {
  EXPECT_TRUE(may_reject_again(0));
  EXPECT_TRUE(may_reject_again(2));
  EXPECT_FALSE(may_reject_again(3));
}
TEST(Amb32, AQuestionToolsPayloadIsCheckedByContent) {
  const std::string question = R"({"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"Other"}]}]})";
  EXPECT_THAT(lint_rules(question, R"({"channel":"question"})"), ElementsAre("INT012-OTHER"));
  EXPECT_THAT(lint_rules("Which?\n1. a\n2. b", R"({"channel":"question"})"), IsEmpty());
}

TEST(LintSeverity, ProseRulesBlockOnlyAfterAnInputOrUnderAnOpenPrompt) {
  EXPECT_FALSE(blocks("I'll do it."));
  EXPECT_TRUE(blocks("I'll do it.", R"({"phase":"post_input"})"));
  EXPECT_TRUE(blocks("I'll do it.", R"({"prompt_open":true,"scope":"out"})"));
}
TEST(LintSeverity, OutOfScopeOnlyThreeRulesBlock) {
  EXPECT_FALSE(blocks("Options:\n- a\n- Other\n\\u0434 Which?", R"({"scope":"out"})"));
  EXPECT_TRUE(blocks("Want me to go on?", R"({"scope":"out"})"));
  EXPECT_TRUE(blocks("Go on? (y/n)", R"({"scope":"out"})"));
  EXPECT_TRUE(blocks("- a\n- b", R"({"scope":"out","declared":["a","b","c"]})"));
}
TEST(LintSeverity, BlockingOnlyOmitsAdvice) {
  LintContext context;
  context.blocking_only = true;
  EXPECT_THAT(lint("Soll ich das tun? I'll do it.", context), IsEmpty());
  EXPECT_THAT(rules(lint("Let me know if it works.", context)), ElementsAre("INT020-SOFT-OFFER"));
}

TEST(LintContextFile, AnUnknownKeyNamesTheNearest) {
  const auto document = parse_document("c.json", R"({"scop": "in"})", Syntax::kJson);
  const auto context = read_lint_context(*document);
  ASSERT_FALSE(context.has_value());
  EXPECT_THAT(context.error().front().to_string(), HasSubstr("scope"));
}
TEST(LintContextFile, EveryFaultIsReported) {
  for (const char* bad :
       {R"({"scope":"side"})", R"({"phase":1})", R"({"declared":"a"})", R"({"declared":[{"id":"a"}]})",
        R"({"attempt":-1})", R"({"errors":{"one":"x"}})", R"({"errors":[]})", R"({"gs":"quiz"})",
        R"({"gs":{"chain":[{}]}})", R"({"gs":{"cap":0}})", R"({"profile":"mine"})", "[]"}) {
    const auto document = parse_document("c.json", bad, Syntax::kJson);
    ASSERT_TRUE(document.has_value()) << bad;
    EXPECT_FALSE(read_lint_context(*document).has_value()) << bad;
  }
}

TEST(LintHostile, InvalidUtf8GivesAResult) {
  EXPECT_THAT(lint("", {}), IsEmpty());
  EXPECT_THAT(rules(lint("Let me know if \xFF\xFE\x80 it works.", {})), ElementsAre("INT020-SOFT-OFFER"));
  EXPECT_THAT(rules(lint(std::string_view("Let me know if\0 it works.", 26), {})), ElementsAre("INT020-SOFT-OFFER"));
  for (const char* text :
       {"\xE2", "`", "\"", "\xE2\x80", "1) ", "1)", "D", "D1.", "<gstack-qid:", ">", "```", "\n\n\n"}) {
    for (const char* context : {"{}", R"({"profile":"gstack"})", R"({"channel":"question"})", R"({"phase":"confirm"})",
                                R"({"phase":"retry"})", R"({"phase":"event"})", R"({"scope":"out"})"}) {
      for (const Finding& finding : lint(text, context_of(context))) EXPECT_LE(finding.end, std::string(text).size());
    }
  }
}
TEST(LintHostile, LongTextsAreCheap) {
  for (const std::string& piece :
       {std::string("`a "), std::string("\"a "), std::string("if you want i "), std::string("ok? "),
        std::string("1) a\n"), std::string("«"), std::string("- a\n")}) {
    std::string text;
    while (text.size() < (1u << 17)) text += piece;
    EXPECT_LE(lint(text, {}).size(), 1000u);
    EXPECT_LE(lint(text, context_of(R"({"scope":"out"})")).size(), 1000u);
  }
}
TEST(LintHostile, RandomPiecesStayWithinTheText) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> pieces = {"Which?",
                                           "\n",
                                           "\n\n",
                                           "1) ",
                                           "2) ",
                                           "a",
                                           "Другое",
                                           "`",
                                           "```\n",
                                           "\"",
                                           "«",
                                           "»",
                                           "> ",
                                           "- ",
                                           "Let me know if",
                                           "если хотите, добавлю",
                                           "\xFF",
                                           "。",
                                           "？",
                                           "(y/n)",
                                           "D3.1 — ",
                                           "ELI10:",
                                           "A) ",
                                           "\u2705",
                                           "STEP_ABORT",
                                           "Summary:\n",
                                           "- a: b\n",
                                           "\\u0434"};
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 14); n > 0; --n) text += pieces[random() % pieces.size()];
    LintContext context;
    context.scope = random() % 3 ? LintScope::kIn : LintScope::kOut;
    context.phase = static_cast<LintPhase>(random() % 6);
    if (random() % 3 == 0) context.profile = "gstack";
    for (const Finding& finding : lint(text, context)) {
      ASSERT_LE(finding.start, finding.end) << text;
      ASSERT_LE(finding.end, text.size()) << text;
    }
  }
}

}  // namespace
}  // namespace sb::decision

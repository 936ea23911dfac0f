// The output for each host, what it loses, and what is rejected.
#include "decision/render/render.hpp"

#include <gmock/gmock.h>

#include "base/text/unicode.hpp"
#include "decision/testing.hpp"
#include "decision/text_block.hpp"

namespace sb::decision {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Result<Rendered> try_render(const std::string& yaml, const Host& host, RenderOptions options = {},
                            std::size_t page = 0) {
  const Declaration declaration = declared(yaml);
  const auto prompts =
      prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(host, declaration.profile));
  return render(prompts.at(page), declaration.profile, host, options);
}

Rendered rendered(const std::string& yaml, const Host& host, RenderOptions options = {}) {
  auto result = try_render(yaml, host, std::move(options));
  if (!result) {
    ADD_FAILURE() << result.error().to_string();
    std::abort();
  }
  return std::move(*result);
}

const Value& question_of(const Rendered& shown, std::size_t index = 0) {
  return shown.payload["questions"].items().at(index);
}

constexpr const char* kPlain = R"(
decision: branch
instruction: Which branch should be released?
options:
  - {id: main, label: Main, description: The trunk., recommended: true}
  - {id: hotfix, label: Hotfix, description: The patch line.}
)";
constexpr const char* kOneWay = R"(
decision: drop-table
instruction: "Drop the table users_old?"
door: one-way
irreversible_note: The rows cannot be restored after the nightly backup rotates.
options: [{id: keep, label: Keep it, recommended: true}, {id: drop, label: Drop it}]
)";
constexpr const char* kExplained = R"(
decision: cache
label: D3
profile: gstack
question_id: review-cache
header: Cache
instruction: Which cache?
sections:
  eli10: Where pages wait.
  stakes: Slow pages.
  recommendation: {choice: redis, reason: it is there already}
  net: Redis unless it must go.
options:
  - {id: redis, label: Redis, recommended: true, description: In use today., pros: [known], cons: [one more server], preview: {format: text, content: redis-cli}}
  - {id: none, label: No cache, description: Nothing to run., completeness: 3}
)";

// Under `interaction` tools get empty descriptions, no mark and the declared order.
TEST(ReqInt3, ToolsGetTheContentInTheirOwnFormat) {
  const Rendered shown = rendered(kPlain, hosts::kAskUserQuestion, {.nonce = "abc"});
  const Value& question = question_of(shown);
  EXPECT_EQ(question["question"], Value("Which branch should be released? <sb:abc>"));
  EXPECT_EQ(question["multiSelect"], Value(false));
  EXPECT_EQ(to_json(question["options"]), R"([{"label":"Main","description":""},{"label":"Hotfix","description":""}])");
  EXPECT_THAT(shown.omitted_fields, testing::ElementsAre("description", "recommended"));
}

TEST(ReqInt31, OneQuestionPerCall) {
  for (const Host* host : {&hosts::kAskUserQuestion, &hosts::kRequestUserInput}) {
    EXPECT_EQ(rendered(kPlain, *host).payload["questions"].size(), 1u);
  }
}

TEST(ReqInt62, EveryDeclaredOptionIsOnSomePage) {
  const std::string yaml = "decision: d\ninstruction: Which?\noptions: [a1, a2, a3, a4, a5, a6, a7, a8, a9]\n";
  for (const Host* host : hosts::kAll) {
    const Declaration declaration = declared(yaml);
    std::string shown;
    for (const Prompt& prompt : prompts_of(*declaration.decision(), declaration.profile, declaration.hash,
                                           cap_of(*host, declaration.profile))) {
      shown += render(prompt, declaration.profile, *host)->bytes();
    }
    for (const Option& option : declaration.decision()->options) EXPECT_THAT(shown, HasSubstr(option.label));
  }
}

TEST(ReqInt63, MoreOptionsThanAHostAllowsAreRejectedNotTrimmed) {
  const Declaration declaration = declared("decision: d\ninstruction: Which?\noptions: [a1, a2, a3, a4, a5]\n");
  const auto prompts = prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
  ASSERT_EQ(prompts.size(), 1u);
  for (const Host* host : {&hosts::kAskUserQuestion, &hosts::kRequestUserInput}) {
    const auto refused = render(prompts[0], declaration.profile, *host);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(render(prompts[0], declaration.profile, hosts::kText));
}

TEST(ReqInt68, OrderIsTheDeclaredOne) {
  const std::string yaml =
      "decision: d\nprofile: gstack\nlabel: D2.1\ninstruction: Which?\n"
      "options: [{id: a, label: First}, {id: b, label: Second, recommended: true}]\n";
  for (const Host* host : hosts::kAll) {
    const std::string bytes = rendered(yaml, *host).bytes();
    EXPECT_LT(bytes.find("First"), bytes.find("Second")) << host->name;
  }
}

TEST(ReqInt69, TheRenderHashIsTheSameWhenAskedAgain) {
  for (const Host* host : hosts::kAll) {
    const Rendered first = rendered(kPlain, *host, {.nonce = "one"});
    const Rendered again = rendered(kPlain, *host, {.nonce = "two"});
    EXPECT_EQ(first.render_hash, again.render_hash);
    EXPECT_EQ(first.render_hash.size(), 64u);
    const Rendered other = rendered(std::string(kPlain) + "  - {id: x, label: Edge}\n", *host);
    EXPECT_NE(first.render_hash, other.render_hash);
  }
}

// Context and warnings are sent before the block, never inside it.
TEST(Amb17, TheBlockContainsNothingElse) {
  const std::string yaml = std::string(kPlain) + "sections: {context: We freeze tonight., safety_notice: Tell ops.}\n";
  const Rendered shown = rendered(yaml, hosts::kText, {.shows_before = true});
  EXPECT_EQ(shown.text, "Which branch should be released?\n\n1) Main\n2) Hotfix");
  EXPECT_EQ(shown.before, "We freeze tonight.\n\nTell ops.");
  EXPECT_THAT(shown.omitted_fields, Not(Contains("sections.context")));
  EXPECT_THAT(rendered(yaml, hosts::kText).omitted_fields, Contains("sections.context"));
  EXPECT_THAT(rendered(yaml, hosts::kText).omitted_fields, Contains("sections.safety_notice"));
}

TEST(Amb32, ContentRulesApplyInToolCalls) {
  const Rendered shown = rendered(kPlain, hosts::kAskUserQuestion);
  EXPECT_THAT(shown.bytes(), Not(HasSubstr("recommended")));
  EXPECT_THAT(shown.bytes(), Not(HasSubstr("Other")));
}

TEST(OneWay, IsRenderedOnlyWhereItsNoteIsShown) {
  constexpr const char* note = "The rows cannot be restored after the nightly backup rotates.";
  for (const Host* host : {&hosts::kBrief, &hosts::kAskUserQuestion, &hosts::kElicitation}) {
    EXPECT_THAT(rendered(kOneWay, *host).bytes(), HasSubstr(note)) << host->name;
  }
  for (const Host* host : {&hosts::kText, &hosts::kRequestUserInput}) {
    const auto refused = try_render(kOneWay, *host);
    ASSERT_FALSE(refused) << host->name;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_FALSE(refused.error().remedy.empty());
  }
  const Rendered apart = rendered(kOneWay, hosts::kText, {.shows_before = true});
  EXPECT_EQ(apart.before, note);
  EXPECT_TRUE(parse_block(apart.text));
}

// A search for its words would have found the note, because the question contains them too.
TEST(OneWay, ANoteWithTheWordsOfTheQuestionDoesNotCountAsShown) {
  const std::string yaml =
      "decision: drop\ninstruction: \"Drop the table users_old?\"\ndoor: one-way\nirreversible_note: Drop the table\n"
      "options: [Keep it, Drop it]\n";
  for (const Host* host : {&hosts::kText, &hosts::kRequestUserInput}) {
    EXPECT_FALSE(try_render(yaml, *host)) << host->name;
  }
  for (const Host* host : {&hosts::kBrief, &hosts::kAskUserQuestion, &hosts::kElicitation}) {
    const Rendered shown = rendered(yaml, *host);
    EXPECT_THAT(shown.shape.questions.at(0).text, testing::ContainsRegex("users_old.*\n.*Drop the table"));
    EXPECT_THAT(shown.omitted_fields, Not(Contains("irreversible_note")));
  }
}

TEST(Lossy, AFieldWithTheWordsOfAnotherIsStillReported) {
  const std::string yaml =
      "decision: d\nlabel: D1\nheader: keep\ntitle: Which\ninstruction: Which one shall we keep in D1?\n"
      "sections: {context: one, safety_notice: keep}\n"
      "options: [{id: a, label: First one, description: First}, {id: b, label: Second one}]\n";
  EXPECT_THAT(rendered(yaml, hosts::kText).omitted_fields,
              testing::ElementsAre("decision_label", "header", "title", "sections.context", "sections.safety_notice",
                                   "description"));
  EXPECT_THAT(rendered(yaml, hosts::kAskUserQuestion).omitted_fields,
              testing::ElementsAre("title", "sections.context", "description"));
  EXPECT_THAT(rendered(yaml, hosts::kRequestUserInput).omitted_fields,
              testing::ElementsAre("title", "sections.context", "description"));
}

TEST(Secrets, OnlyByUrlOrInALocalPrompt) {
  const std::string text = "decision: t\nkind: secret\nselect: text\ninstruction: Enter the token.\n";
  const std::string url =
      text.substr(0, text.find("select")) + "select: url\nurl: https://example.org/t\ninstruction: Enter the token.\n";
  for (const Host* host : hosts::kAll) {
    EXPECT_FALSE(try_render(text, *host)) << host->name;
    EXPECT_EQ(try_render(url, *host).has_value(), host == &hosts::kElicitation) << host->name;
  }
  EXPECT_TRUE(try_render(text, hosts::kText, {.is_local = true}));
  const Rendered shown = rendered(url, hosts::kElicitation, {.nonce = "abc"});
  EXPECT_EQ(shown.payload["mode"], Value("url"));
  EXPECT_EQ(shown.payload["url"], Value("https://example.org/t"));
  EXPECT_EQ(shown.payload["elicitationId"], Value("abc"));
}

TEST(Gstack, AToolQuestionCarriesTheWholeBrief) {
  const Rendered shown = rendered(kExplained, hosts::kAskUserQuestion, {.nonce = "abc"});
  const std::string question = question_of(shown)["question"].as_string();
  EXPECT_EQ(question.substr(0, question.find('\n')), "D3 — Which cache? <gstack-qid:review-cache> <sb:abc>");
  for (const char* part : {"ELI10: Where pages wait.", "Stakes if we pick wrong: Slow pages.", "it is there already",
                           "Net: Redis unless it must go."}) {
    EXPECT_THAT(question, HasSubstr(part));
  }
  const Value& option = question_of(shown)["options"].items()[0];
  EXPECT_EQ(option["label"], Value("Redis (recommended)"));
  EXPECT_EQ(option["description"], Value("In use today."));
  EXPECT_EQ(option["preview"], Value("redis-cli"));
  EXPECT_EQ(question_of(shown)["header"], Value("Cache"));
  EXPECT_THAT(shown.omitted_fields, testing::IsEmpty());
}

TEST(Gstack, FieldsAHostCannotShowAreReported) {
  const Rendered shown = rendered(kExplained, hosts::kRequestUserInput);
  EXPECT_THAT(shown.omitted_fields, testing::UnorderedElementsAre("pros", "cons", "completeness", "preview"));
  const std::string question = question_of(shown)["question"].as_string();
  for (const char* part : {"Where pages wait.", "Slow pages.", "Recommended: Redis — ", "Redis unless it must go."}) {
    EXPECT_THAT(question, HasSubstr(part));
  }
  EXPECT_THAT(rendered(kExplained, hosts::kElicitation).omitted_fields, testing::ElementsAre("preview"));
}

// The chip holds 12 characters; a longer label goes into the question.
TEST(ReqSplit16, TheLabelIsTheHeaderIfItFits) {
  const auto with_label = [](const std::string& label) {
    return rendered("decision: d\nlabel: " + label + "\ninstruction: Which?\noptions: [a1, a2]\n",
                    hosts::kAskUserQuestion);
  };
  EXPECT_EQ(question_of(with_label("D3.2"))["header"], Value("D3.2"));
  EXPECT_EQ(question_of(with_label("D3.2"))["question"], Value("Which?"));
  const Value long_one = question_of(with_label("D10.revise-10"));
  EXPECT_LE(count_code_points(long_one["header"].as_string()), 12u);
  EXPECT_EQ(long_one["question"], Value("D10.revise-10 — Which?"));
}

TEST(ReqSplit36, UpToTheCapIsOneQuestion) {
  const std::string yaml = "decision: d\nprofile: gstack\ninstruction: Which?\noptions: [a1, a2, a3, a4]\n";
  EXPECT_EQ(question_of(rendered(yaml, hosts::kAskUserQuestion))["options"].size(), 4u);
}

// Cap minus one and "more" while pages remain.
TEST(AmbS2, PagesEndWithMore) {
  const std::string yaml = "decision: d\ninstruction: Which?\noptions: [a1, a2, a3, a4, a5]\n";
  const Rendered first = rendered(yaml, hosts::kAskUserQuestion);
  ASSERT_EQ(question_of(first)["options"].size(), 4u);
  EXPECT_EQ(question_of(first)["options"].items()[3]["label"], Value("More options"));
  const auto second = try_render(yaml, hosts::kAskUserQuestion, {}, 1);
  EXPECT_EQ(question_of(*second)["options"].size(), 2u);
}

TEST(Elicitation, HasNoDefaultForAChoice) {
  const Rendered shown = rendered(
      "decision: d\nprofile: gstack\ninstruction: Which?\nselect: many\nmin: 1\nmax: 2\n"
      "options: [{id: a, label: First, recommended: true}, {id: b, label: Second}, {id: c, label: Third}]\n",
      hosts::kElicitation);
  const Value& choices = shown.payload["requestedSchema"]["properties"]["choices"];
  EXPECT_EQ(choices["minItems"], Value(1));
  EXPECT_EQ(choices["maxItems"], Value(2));
  EXPECT_EQ(to_json(choices["items"]["anyOf"].items()[0]), R"json({"const":"a","title":"First (recommended)"})json");
  EXPECT_THAT(shown.bytes(), Not(HasSubstr("\"default\"")));
}

TEST(Markers, AForeignMarkerInATextIsRejected) {
  for (const char* instruction : {"Is this <sb:other> fine?", "Is this <gstack-qid:ship> fine?"}) {
    const auto refused = try_render("decision: d\ninstruction: " + std::string(instruction) + "\noptions: [a1, a2]\n",
                                    hosts::kAskUserQuestion);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(nonces_in("a <sb:one> b <sb:two2> <sb:> <sb:x y> <sb:open"), (std::vector<std::string>{"one", "two2"}));
}

TEST(TextHost, AcceptsWhatTheGrammarCanExpress) {
  const std::string yaml =
      "decision: d\nprofile: gstack\nlabel: D2.1\ninstruction: Which?\noptions: [a1, one two three four five six]\n";
  EXPECT_FALSE(try_render(yaml, hosts::kText));
  EXPECT_TRUE(try_render(yaml, hosts::kBrief));
}

}  // namespace
}  // namespace sb::decision

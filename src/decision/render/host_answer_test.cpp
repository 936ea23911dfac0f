// Host answers, mapped to ids or to one of the ways of not answering.
#include "decision/render/host_answer.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "decision/render/render.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

Rendered rendered(const std::string& yaml, const Host& host, std::string nonce = "n0nce", std::size_t page = 0) {
  const Declaration declaration = declared(yaml);
  const auto prompts =
      prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(host, declaration.profile));
  return render(prompts.at(page), declaration.profile, host, {.nonce = std::move(nonce), .is_local = true}).value();
}

Value json(std::string_view text) {
  return parse_json(text).value();
}

std::string read(const Rendered& shown, const Value& given) {
  const HostAnswer answer = parse_answer(shown.shape, given);
  std::string text(to_string(answer.result));
  for (const std::string& id : answer.option_ids) text += " " + id;
  if (!answer.text.empty()) text += " \"" + answer.text + "\"";
  if (!answer.reason.empty()) text += " (" + answer.reason + ")";
  if (!answer.notes.empty()) text += " [" + answer.notes + "]";
  return text;
}

constexpr const char* kColour = R"(
decision: colour
instruction: Which colour should I use?
options: [{id: r, label: Red}, {id: b, label: Blue}]
)";
constexpr const char* kToppings = R"(
decision: toppings
instruction: Which toppings?
select: many
options: [{id: h, label: Ham}, {id: c, label: Cheese}, {id: o, label: Olives}]
)";

Value answers(const Rendered& shown, std::string_view answer) {
  const std::string question = shown.payload["questions"].items()[0]["question"].as_string();
  return Value::object({{"answers", Value::object({{question, answer}})}});
}

// The shape of a recorded PostToolUse event.
TEST(HostAnswerClaude, ReadsTheMapByQuestionText) {
  const Rendered shown = rendered(kColour, hosts::kAskUserQuestion);
  Value response = answers(shown, "Red");
  response.set("questions", shown.payload["questions"]);
  EXPECT_EQ(read(shown, response), "selected r");
  EXPECT_EQ(read(shown, json(R"({"answers":{"which   COLOUR should I use? <sb:n0nce>":"Blue"}})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"answers":{"rephrased <sb:n0nce>":"Blue"}})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"questions":[{}],"answers":{"rephrased":"Blue"}})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"answers":{"another question":"Blue"}})")), "empty");
}

TEST(HostAnswerClaude, ReadsTheOtherShapes) {
  const Rendered shown = rendered(kColour, hosts::kAskUserQuestion);
  EXPECT_EQ(read(shown, json(R"({"answers":[{"option_label":"Red"}]})")), "selected r");
  EXPECT_EQ(read(shown, json(R"({"answers":[{"choice":"Blue"}]})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"answers":[{"label":"Red","free_text":"but dark"}]})")), "free_text \"but dark\"");
  EXPECT_EQ(read(shown, json(R"({"questions":[{"question":"x <sb:n0nce>","user_answer":"Red"}]})")), "selected r");
}

// AMB-30 and rule 3 of the object: six ways of not answering, distinguished, none of them consent.
TEST(Amb30, NonAnswersAreDistinguished) {
  const Rendered shown = rendered(kColour, hosts::kAskUserQuestion);
  const std::string question = shown.payload["questions"].items()[0]["question"].as_string();
  const auto annotated = [&](const char* kind) {
    return Value::object({{"answers", Value::object()},
                          {"annotations", Value::object({{question, Value::object({{"unanswered", kind}})}})}});
  };
  EXPECT_EQ(read(shown, annotated("dismissed")), "dismissed");
  EXPECT_EQ(read(shown, annotated("skipped")), "skipped");
  EXPECT_EQ(read(shown, annotated("replied_in_chat")), "dismissed");
  EXPECT_EQ(read(shown, json(R"({"answers":{}})")), "empty");
  EXPECT_EQ(read(shown, answers(shown, "")), "empty");
  EXPECT_EQ(read(shown, Value()), "empty");
  Value away = answers(shown, "Red");
  away.set("afkTimeoutMs", 60'000);
  EXPECT_EQ(read(shown, away), "timed_out");
  const Rendered form = rendered(kColour, hosts::kElicitation);
  EXPECT_EQ(read(form, json(R"({"action":"decline"})")), "declined");
  EXPECT_EQ(read(form, json(R"({"action":"cancel"})")), "cancelled");
  EXPECT_EQ(read(form, json(R"({"action":"accept","content":{}})")), "empty");
  EXPECT_EQ(read(form, json(R"({"action":"accept"})")), "empty");
}

TEST(HostAnswerClaude, TextInsteadOfAChoiceIsFreeText) {
  const Rendered shown = rendered(kColour, hosts::kAskUserQuestion);
  EXPECT_EQ(read(shown, answers(shown, "red")), "free_text \"red\"");
  EXPECT_EQ(read(shown, answers(shown, "Green, please")), "free_text \"Green, please\"");
  Value both = answers(shown, "Red");
  both.set("response", "wait, why?");
  EXPECT_EQ(read(shown, both), "free_text \"wait, why?\"");
}

TEST(HostAnswerClaude, NotesAreReadWithTheChoice) {
  const Rendered shown = rendered(kColour, hosts::kAskUserQuestion);
  const std::string question = shown.payload["questions"].items()[0]["question"].as_string();
  Value response = answers(shown, "Red");
  response.set("annotations", Value::object({{question, Value::object({{"notes", "dark"}})}}));
  EXPECT_EQ(read(shown, response), "selected r [dark]");
}

TEST(HostAnswerClaude, JoinedLabelsAreReadInShownOrder) {
  const Rendered shown = rendered(kToppings, hosts::kAskUserQuestion);
  EXPECT_EQ(read(shown, answers(shown, "Olives, Ham")), "selected h o");
  EXPECT_EQ(read(shown, answers(shown, "Ham,Cheese")), "selected h c");
  EXPECT_EQ(read(shown, answers(shown, "Ham, Ham")), "free_text \"Ham, Ham\"");
  EXPECT_EQ(read(shown, answers(shown, "Ham, Basil")), "free_text \"Ham, Basil\"");
}

TEST(HostAnswerClaude, LabelsWithCommasAreDistinguished) {
  const Rendered shown = rendered(R"(
decision: sets
instruction: Which sets?
select: many
options: [{id: one, label: a}, {id: both, label: "a, b"}, {id: two, label: b}]
)",
                                  hosts::kAskUserQuestion);
  EXPECT_EQ(read(shown, answers(shown, "1) a, 3) b")), "selected one two");
  EXPECT_EQ(read(shown, answers(shown, "2) a, b")), "selected both");
  EXPECT_EQ(read(shown, answers(shown, "1) a, 2) a, b, 3) b")), "selected one both two");
}

TEST(HostAnswerClaude, TheMarkMayBeMissing) {
  const Rendered shown = rendered(R"(
decision: keep
profile: gstack
instruction: Keep it?
options: [{id: keep, label: Keep it, recommended: true}, {id: drop, label: Drop it}]
)",
                                  hosts::kAskUserQuestion);
  EXPECT_EQ(read(shown, answers(shown, "Keep it (recommended)")), "selected keep");
  EXPECT_EQ(read(shown, answers(shown, "Keep it (Recommended)")), "selected keep");
  EXPECT_EQ(read(shown, answers(shown, "Keep it")), "selected keep");
}

TEST(HostAnswerCodex, ReadsTheMapById) {
  const Rendered shown = rendered(kColour, hosts::kRequestUserInput);
  EXPECT_EQ(read(shown, json(R"({"answers":{"colour":{"answers":["Red"]}}})")), "selected r");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["Blue"]}})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["Green"]}})")), "free_text \"Green\"");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":[]}})")), "empty");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["Red","Blue"]}})")), "invalid (arity)");
  EXPECT_EQ(read(shown, json("{}")), "empty");
}

// What is typed next to a choice is a note; next to Codex's own entry it is the answer.
TEST(HostAnswerCodex, TypedTextIsANoteOrFreeText) {
  const Rendered shown = rendered(kColour, hosts::kRequestUserInput);
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["Red","user_note: dark"]}})")), "selected r [dark]");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["None of the above","user_note: why?"]}})")),
            "free_text \"why?\"");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["user_note: why?"]}})")), "free_text \"why?\"");
  EXPECT_EQ(read(shown, json(R"({"colour":{"answers":["None of the above"]}})")), "free_text \"None of the above\"");
  const Rendered rows = rendered(kToppings, hosts::kRequestUserInput);
  EXPECT_EQ(read(rows, json(R"({"toppings_1":{"answers":["Yes","user_note: thin"]},"toppings_2":{"answers":["No"]},
                                "toppings_3":{"answers":["Yes"]}})")),
            "selected h o [thin]");
  EXPECT_EQ(read(rows, json(R"({"toppings_1":{"answers":["None of the above","user_note: none"]}})")),
            "free_text \"none\"");
}

// It has no multi-select: one row per option, and a missing row is neither yes nor no.
TEST(HostAnswerCodex, ManyIsAskedRowByRow) {
  const Rendered shown = rendered(kToppings, hosts::kRequestUserInput);
  EXPECT_EQ(read(shown, json(R"({"toppings_1":{"answers":["Yes"]},"toppings_2":{"answers":["No"]},
                                 "toppings_3":{"answers":["Yes"]}})")),
            "selected h o");
  EXPECT_EQ(read(shown, json(R"({"toppings_1":{"answers":["Yes"]}})")), "invalid (arity)");
  EXPECT_EQ(read(shown, json(R"({"toppings_1":{"answers":["No"]},"toppings_2":{"answers":["No"]},
                                 "toppings_3":{"answers":["No"]}})")),
            "invalid (arity)");
}

TEST(HostAnswerElicitation, ReadsIds) {
  const Rendered shown = rendered(kColour, hosts::kElicitation);
  EXPECT_EQ(read(shown, json(R"({"action":"accept","content":{"choice":"b"}})")), "selected b");
  EXPECT_EQ(read(shown, json(R"({"action":"accept","content":{"choice":"Blue"}})")),
            "invalid (choice: is not one of the options)");
  EXPECT_EQ(read(shown, json(R"({"action":"accept","content":{"choice":"b","x":1}})")),
            "invalid (x: is not a field of this form)");
  EXPECT_EQ(read(shown, json(R"({"action":"perhaps"})")), "invalid (the answer does not fit the question)");
  const Rendered many = rendered(kToppings, hosts::kElicitation);
  EXPECT_EQ(read(many, json(R"({"action":"accept","content":{"choices":["o","h"]}})")), "selected h o");
  EXPECT_EQ(read(many, json(R"({"action":"accept","content":{"choices":["o","o"]}})")), "invalid (duplicate)");
  EXPECT_EQ(read(many, json(R"({"action":"accept","content":{"choices":[]}})")), "empty");
  EXPECT_EQ(read(many, json(R"({"action":"accept","content":{"choices":"o"}})")), "invalid (choices: must be a list)");
}

TEST(HostAnswerElicitation, FormsAreValidatedFieldByField) {
  const Rendered shown = rendered(R"(
decision: account
instruction: Who are you?
select: form
fields:
  - {key: name, required: true, minimum: 2, maximum: 5}
  - {key: mail, format: email}
  - {key: born, format: date}
  - {key: site, format: uri}
  - {key: at, format: date-time}
  - {key: age, type: integer, minimum: 1, maximum: 100}
  - {key: ok, type: boolean}
)",
                                  hosts::kElicitation);
  const auto filled = [&](std::string_view content) {
    return read(shown, json(R"({"action":"accept","content":)" + std::string(content) + "}"));
  };
  EXPECT_EQ(filled(R"({"name":"Ada","mail":"a@b.c","born":"1815-12-10","site":"https://a.b","at":"2026-11-15T08:00:00Z",
                       "age":36,"ok":true})"),
            "filled");
  EXPECT_EQ(filled(R"({"age":36})"), "invalid (name: is missing)");
  EXPECT_EQ(filled(R"({"name":"A"})"), "invalid (name: needs at least 2 characters)");
  EXPECT_EQ(filled(R"({"name":"Adaline"})"), "invalid (name: may have at most 5 characters)");
  EXPECT_EQ(filled(R"({"name":"Ада"})"), "filled");
  EXPECT_EQ(filled(R"({"name":7})"), "invalid (name: must be text)");
  EXPECT_EQ(filled(R"({"name":"Ada","mail":"nobody"})"), "invalid (mail: is not an e-mail address)");
  EXPECT_EQ(filled(R"({"name":"Ada","born":"2026-02-30"})"), "invalid (born: is not a date such as 2026-11-15)");
  EXPECT_EQ(filled(R"({"name":"Ada","site":"no uri"})"), "invalid (site: is not a URI)");
  EXPECT_EQ(filled(R"({"name":"Ada","at":"noon"})"), "invalid (at: is not a time such as 2026-11-15T08:00:00Z)");
  EXPECT_EQ(filled(R"({"name":"Ada","age":1.5})"), "invalid (age: must be a whole number)");
  EXPECT_EQ(filled(R"({"name":"Ada","age":101})"), "invalid (age: must be at most 100)");
  EXPECT_EQ(filled(R"({"name":"Ada","ok":"yes"})"), "invalid (ok: must be true or false)");
  EXPECT_EQ(filled(R"({"name":"Ada","more":1})"), "invalid (more: is not a field of this form)");
}

TEST(HostAnswerElicitation, OpeningAUrlIsNotCompletion) {
  const Rendered shown = rendered(R"(
decision: token
instruction: Enter the token.
select: url
secret: true
url: https://example.org/token
)",
                                  hosts::kElicitation);
  EXPECT_EQ(read(shown, json(R"({"action":"accept"})")), "opened");
  EXPECT_EQ(read(shown, json(R"({"action":"decline"})")), "declined");
}

TEST(HostAnswerText, LinesAreClassified) {
  const Rendered shown = rendered(kColour, hosts::kText);
  EXPECT_EQ(read(shown, "2"), "selected b");
  EXPECT_EQ(read(shown, "3"), "invalid (range)");
  EXPECT_EQ(read(shown, "Red"), "invalid (shape)");
  EXPECT_EQ(read(shown, "1,2"), "invalid (arity)");
  EXPECT_EQ(read(shown, "abort"), "cancelled");
  EXPECT_EQ(read(shown, " "), "empty");
  EXPECT_EQ(read(shown, "use port 8080"), "free_text \"use port 8080\"");
  EXPECT_EQ(read(rendered(kToppings, hosts::kText), "3,1"), "selected h o");
}

// AMB-S22: a reply may name the brief it answers.
TEST(AmbS22, LettersAndLabelsOfABrief) {
  const Rendered shown = rendered(R"(
decision: bot
label: D3.2
profile: gstack
instruction: Build the bot?
options: [{id: include, label: Include}, {id: defer, label: Defer}, {id: cut, label: Cut}]
)",
                                  hosts::kBrief);
  EXPECT_EQ(read(shown, "B"), "selected defer");
  EXPECT_EQ(read(shown, "3.2: B"), "selected defer");
  EXPECT_EQ(read(shown, "D3.2: C"), "selected cut");
  EXPECT_EQ(read(shown, "3.1: B"), "invalid (other_brief)");
  EXPECT_EQ(read(shown, "b"), "invalid (shape)");
  EXPECT_EQ(read(shown, "B)"), "invalid (shape)");
  EXPECT_EQ(read(shown, "Defer"), "invalid (shape)");
  EXPECT_EQ(read(shown, "D"), "invalid (range)");
  EXPECT_EQ(read(shown, "A,B"), "invalid (arity)");
  EXPECT_EQ(read(shown, "ok"), "free_text \"ok\"");
  EXPECT_EQ(read(shown, "sure"), "free_text \"sure\"");
  EXPECT_EQ(read(shown, "note: B is better"), "free_text \"note: B is better\"");
  EXPECT_EQ(read(shown, ""), "empty");
}

TEST(HostAnswer, ThePagersOwnOptionIsNotAnAnswer) {
  const std::string yaml = "decision: many\ninstruction: Which one?\noptions: [a1, a2, a3, a4, a5, a6, a7, a8]\n";
  for (const Host* host : {&hosts::kAskUserQuestion, &hosts::kText}) {
    const Rendered shown = rendered(yaml, *host);
    const Value more = host == &hosts::kText ? Value("7") : answers(shown, "More options");
    EXPECT_EQ(read(shown, more), "more");
  }
  EXPECT_EQ(read(rendered("decision: many\nselect: many\ninstruction: Which?\noptions: [a1, a2, a3, a4, a5]\n",
                          hosts::kAskUserQuestion),
                 json(R"({"answers":{"Which? <sb:n0nce>":"None of these"}})")),
            "none");
}

TEST(HostAnswer, HostileAnswersAreNotAnswers) {
  for (const Host* host : hosts::kAll) {
    const Rendered shown = rendered(kColour, *host);
    for (const char* text : {"[]", "7", "true", R"({"answers":7})", R"({"answers":[7,null]})", R"({"action":[]})",
                             R"({"annotations":[],"answers":null})", R"({"answers":{"colour":{"answers":[{}]}}})"}) {
      EXPECT_FALSE(parse_answer(shown.shape, json(text)).is_answer()) << host->name << " " << text;
    }
    EXPECT_FALSE(parse_answer(shown.shape, Value("\xff\xfe")).is_answer());
    EXPECT_FALSE(
        parse_answer(shown.shape, Value::object({{"answers", Value::object({{"\xff", "\xff"}})}})).is_answer());
  }
}

TEST(AnswerShape, DamagedShapesAreRejected) {
  const Value good = to_value(rendered(kToppings, hosts::kAskUserQuestion).shape);
  ASSERT_TRUE(shape_from_value(good));
  for (const Value::Member& member : good.members()) {
    if (member.name == "has_none" || member.name == "requested_schema") continue;
    Value bad = good;
    bad.set(member.name, 7.5);
    EXPECT_FALSE(shape_from_value(bad)) << member.name;
  }
  EXPECT_FALSE(shape_from_value(Value()));
}

}  // namespace
}  // namespace sb::decision

// Over random declarations and revisions: every option can be reached through the form and is returned as its id.
//
// SB_SEED reproduces a run, SB_CASES sets how many cases there are.
#include "mcp/asking/decision_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "decision/render/random_declarations.hpp"
#include "decision/testing.hpp"

namespace sb::mcp {
namespace {

using decision::declared;
using decision::Dice;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = FormAnswer::Kind;

Value accept(Value content) {
  return Value::object({{"action", "accept"}, {"content", std::move(content)}});
}

Result<DecisionForm> made_of(const decision::Declaration& declaration, const DecisionForm::Options& options = {}) {
  return DecisionForm::of(decision::Walk::at(declaration, Value(), 0).value(), inbox::question_of(declaration),
                          options);
}

DecisionForm form_of(const decision::Declaration& declaration, DecisionForm::Options options = {}) {
  auto form = made_of(declaration, options);
  EXPECT_TRUE(form) << form.error().to_string();
  return std::move(*form);
}

Value random_decision(Dice& dice, const std::string& profile) {
  const int count = decision::random_count(dice);
  Value made = Value::object({{"decision", "which"},
                              {"profile", profile},
                              {"instruction", "Which of these?"},
                              {"options", decision::random_options(dice, count, false)}});
  if (dice.one_in(3)) {
    made.set("select", "many");
    if (dice.one_in(3)) made.set("min", dice.between(1, std::min(count, 3)));
  }
  return made;
}

// The options of a client's list: value and title each.
std::vector<std::pair<std::string, std::string>> entries_of(const Value& property) {
  std::vector<std::pair<std::string, std::string>> all;
  const Value& listed = property.find("oneOf") != nullptr ? property["oneOf"] : property["items"]["anyOf"];
  if (listed.is_array()) {
    for (const Value& entry : listed.items()) all.emplace_back(entry["const"].as_string(), entry["title"].as_string());
  } else if (property["enum"].is_array()) {
    for (std::size_t i = 0; i < property["enum"].size(); ++i) {
      all.emplace_back(property["enum"].items()[i].as_string(), property["enumNames"].items()[i].as_string());
    }
  }
  return all;
}

// Content that chooses these ids of a part and, elsewhere, as little as required.
Value content_choosing(const Value& properties, const std::string& part, const std::set<std::string>& ids) {
  Value content = Value::object();
  for (const Value::Member& field : properties.members()) {
    const bool is_part =
        part.empty() || field.name == part || field.name.starts_with(part + ":p") || field.name.starts_with(part + ":");
    if (field.value.string_at("type") == "boolean") {
      content.set(field.name, ids.contains(field.name.substr(field.name.rfind(':') + 1)));
      continue;
    }
    Value chosen = Value::array();
    std::string one;
    const auto entries = entries_of(field.value);
    for (const auto& [value, title] : entries) {
      if (is_part && ids.contains(value)) chosen.push_back(one = value);
    }
    if (field.value.string_at("type") == "array") {
      if (!is_part && chosen.size() == 0) chosen.push_back(entries.front().first);
      content.set(field.name, std::move(chosen));
    } else {
      content.set(field.name, one.empty() ? entries.front().first : one);
    }
  }
  return content;
}

// Ids to choose together with `id` to reach the required number.
std::set<std::string> ids_with(const decision::Decision& decision, const std::string& id) {
  std::set<std::string> ids{id};
  const auto least =
      static_cast<std::size_t>(decision.select.mode == decision::SelectMode::kMany ? decision.select.min : 1);
  for (const decision::Option& option : decision.options) {
    if (ids.size() >= least) break;
    ids.insert(option.id);
  }
  return ids;
}

void expect_reachable(const decision::Declaration& declaration, const decision::Decision& decision,
                      const inbox::Question& question, Revision revision, const std::string& id) {
  const std::set<std::string> wanted = ids_with(decision, id);
  for (int page = 1; page <= 60; ++page) {
    const auto form = made_of(declaration, {.revision = revision, .page = page});
    ASSERT_TRUE(form) << id << ": " << form.error().to_string();
    const Value params = form->params();
    const Value& properties = params["requestedSchema"]["properties"];
    const FormAnswer answer = [&] {
      if (decision.select.mode == decision::SelectMode::kMany) {
        return form->read(accept(content_choosing(properties, "", wanted)));
      }
      const auto entries = entries_of(properties["choice"]);
      const bool is_here = std::ranges::any_of(entries, [&](const auto& entry) { return entry.first == id; });
      return form->read(accept(Value::object({{"choice", is_here ? id : entries.back().first}})));
    }();
    if (answer.kind == Kind::kMore) continue;
    ASSERT_EQ(answer.kind, Kind::kAnswered) << answer.problem << "\n" << to_json(params);
    const auto checked = inbox::check_answer(question, answer.given);
    ASSERT_TRUE(checked) << checked.error().to_string();
    EXPECT_EQ(std::set<std::string>(checked->options.begin(), checked->options.end()), wanted);
    return;
  }
  FAIL() << id << " was on no page";
}

TEST(DecisionForm, EveryOptionIsReachableAndReturnedAsItsId) {
  const std::uint64_t seed = decision::from_environment("SB_SEED", 4);
  const std::uint64_t cases = decision::wanted_cases() / 25;
  const decision::Profiles profiles = decision::all_profiles();
  Dice dice(seed);
  for (std::uint64_t i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    const auto declaration = decision::declared_from(random_decision(dice, dice.of(profiles.ids())), profiles);
    SCOPED_TRACE(fmt::format("SB_SEED={} case {}", seed, i));
    const inbox::Question question = inbox::question_of(declaration);
    const Revision revision = dice.one_in(3) ? Revision::k2025_06_18 : Revision::k2025_11_25;
    const decision::Decision& one = *declaration.decision();
    expect_reachable(declaration, one, question, revision, dice.of(one.options).id);
  }
}

TEST(DecisionForm, ShowsOnlyTheQuestionIfThereIsNoMore) {
  const auto form =
      form_of(declared("{decision: env, instruction: Which environment?, options: [staging, production]}"));
  EXPECT_EQ(form.params()["message"].as_string(), "Which environment?");
  EXPECT_EQ(form.params().string_at("mode"), "form");
  EXPECT_EQ(form.params().find("_meta"), nullptr);
}

TEST(DecisionForm, ShowsTheFullTextIfTheRendererWouldOmitSomething) {
  const auto form =
      form_of(declared("{decision: env, instruction: Which?, options: [{id: a, label: A1, description: The first}, "
                       "{id: b, label: B1}]}"));
  EXPECT_THAT(form.params()["message"].as_string(), HasSubstr("The first"));
}

TEST(DecisionForm, NothingIsPreselected) {
  const auto form = form_of(declared(
      "{decision: env, profile: gstack, instruction: Which?, options: [{id: a, label: A1, recommended: true}, b]}"));
  EXPECT_EQ(to_json(form.params()).find("\"default\""), std::string::npos);
}

TEST(DecisionForm, TypedConfirmationIsAField) {
  const auto form = form_of(declared(
      "{decision: drop, instruction: Drop it?, options: [keep, drop], typed_confirmation: DROP, door: one-way, "
      "irreversible_note: Gone for good.}"));
  EXPECT_EQ(form.read(accept(Value::object({{"choice", "drop"}}))).kind, Kind::kInvalid);
  EXPECT_EQ(form.read(accept(Value::object({{"choice", "drop"}, {"confirmation", "drop"}}))).kind, Kind::kInvalid);
  EXPECT_EQ(form.read(accept(Value::object({{"choice", "drop"}, {"confirmation", "DROP"}}))).kind, Kind::kAnswered);
}

TEST(DecisionForm, DistinguishesTheWaysOfNotAnswering) {
  const auto form = form_of(declared("{decision: env, instruction: Which?, options: [a, b], select: many}"));
  EXPECT_EQ(form.read(Value::object({{"action", "decline"}})).kind, Kind::kDeclined);
  EXPECT_EQ(form.read(Value::object({{"action", "cancel"}})).kind, Kind::kCancelled);
  EXPECT_EQ(form.read(accept({})).kind, Kind::kEmpty);
  EXPECT_EQ(form.read(accept(Value::object())).kind, Kind::kEmpty);
  EXPECT_EQ(form.read(Value::object({{"action", "accept"}})).kind, Kind::kEmpty);
  EXPECT_EQ(form.read(accept(Value::object({{"choices", Value::array()}}))).kind, Kind::kEmpty);
}

TEST(DecisionForm, AQuestionOnAWebPageIsLeftToTheInbox) {
  const auto form =
      made_of(declared("{decision: page, instruction: Sign in, select: url, url: \"https://a.example/\"}"));
  ASSERT_FALSE(form);
  EXPECT_EQ(form.error().code, ErrorCode::kUnsupported);
}

// Clients of that revision show a checkbox per option, sorted by key; some send true for one without a default.
TEST(DecisionForm, CheckboxesKeepTheirOrderAndStartUnchecked) {
  const auto form = form_of(declared("{decision: env, instruction: Which?, select: many, options: [staging, canary]}"),
                            {.revision = Revision::k2025_06_18});
  const Value params = form.params();
  const Value& rows = params["requestedSchema"]["properties"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.members()[0].name, "choices:01:staging");
  for (const Value::Member& row : rows.members()) EXPECT_EQ(row.value["default"], Value(false));
}

TEST(DecisionForm, TheFirstThreeLinesSayWhatWhyAndWhere) {
  const auto form = form_of(
      declared(
          "{decision: env, profile: gstack, instruction: Which?, sections: {eli10: 'Two servers, and much more to "
          "say about them than fits.', recommendation: {choice: a, reason: it is empty}}, options: [{id: a, label: "
          "First, recommended: true, description: Here}, {id: b, label: Second}]}"),
      {.decision_id = "d-1"});
  const std::string message = form.params()["message"].as_string();
  EXPECT_THAT(message, testing::StartsWith(
                           "D1 — Which?\nRecommended: First: it is empty\nAll of it: signalbox inbox show d-1\n\n"));
  EXPECT_THAT(message, HasSubstr("Two servers"));
}

TEST(DecisionForm, ARussianQuestionHasARussianForm) {
  const auto form = form_of(declared("{decision: env, instruction: Что выбрать?, options: [первое, второе]}"));
  EXPECT_EQ(form.params()["requestedSchema"]["properties"]["choice"].string_at("title"), "Ваш выбор");
  EXPECT_THAT(form.params("нет")["message"].as_string(), testing::StartsWith("Не принято: нет."));
}

TEST(DecisionForm, AChainIsShownPromptByPromptWithoutMarkers) {
  const auto form = form_of(declared(
      "{chain: c, skill: s, number: 2, options: [{key: A, label: One, eli10: First., recommend: {choice: "
      "include, reason: r}}, {key: B, label: Two, eli10: E, recommend: {choice: cut, reason: r}}, {key: C, "
      "label: Three, eli10: E, recommend: {choice: cut, reason: r}}, {key: D, label: Four, eli10: E, recommend: "
      "{choice: cut, reason: r}}, {key: E, label: Five, eli10: E, recommend: {choice: cut, reason: r}}]}"));
  const Value params = form.params();
  const std::string message = params["message"].as_string();
  EXPECT_THAT(message, testing::StartsWith("D2.1 — What about One?\n"));
  EXPECT_EQ(message.find("gstack-qid"), std::string::npos);
  EXPECT_EQ(message.find("completeness score"), std::string::npos);
  const FormAnswer answer = form.read(accept(Value::object({{"choice", "hold"}})));
  ASSERT_EQ(answer.kind, Kind::kAnswered) << answer.problem;
  EXPECT_THAT(answer.host.option_ids, ElementsAre("hold"));
}

std::vector<std::string> titles_in(const Value& params) {
  std::vector<std::string> titles;
  for (const Value::Member& field : params["requestedSchema"]["properties"].members()) {
    if (field.value.string_at("type") == "boolean") titles.push_back(field.value.string_at("title").value_or(""));
    for (const auto& [id, title] : entries_of(field.value)) titles.push_back(title);
  }
  return titles;
}

// As in `inbox show` and `inbox answer`.
TEST(DecisionForm, OptionsAreNumberedOverAllPagesInEveryRevision) {
  const auto eight =
      declared("{decision: env, instruction: Which?, select: many, options: [a1, a2, a3, a4, a5, a6, a7, a8]}");
  const std::vector<std::string> all{"1) a1", "2) a2", "3) a3", "4) a4", "5) a5", "6) a6", "7) a7", "8) a8"};
  for (const Revision revision : {Revision::k2025_06_18, Revision::k2025_11_25}) {
    const Value params = form_of(eight, {.revision = revision}).params();
    EXPECT_EQ(titles_in(params), all);
    const auto& fields = params["requestedSchema"]["properties"].members();
    EXPECT_TRUE(std::ranges::is_sorted(fields, {}, &Value::Member::name)) << to_json(params);
  }
  const auto one = declared("{decision: env, instruction: Which?, options: [a1, a2, a3, a4, a5, a6, a7, a8]}");
  EXPECT_EQ(titles_in(form_of(one, {.page = 1}).params()).back(), "More options");
  EXPECT_THAT(titles_in(form_of(one, {.page = 2}).params()),
              ElementsAre("Back to the previous options", "7) a7", "8) a8"));
}

TEST(DecisionForm, ALaterPageHasAWayBackAndItsNumber) {
  const auto one = declared("{decision: env, instruction: Which?, options: [a1, a2, a3, a4, a5, a6, a7, a8]}");
  const auto titled = [](const DecisionForm& form) {
    return form.params()["requestedSchema"]["properties"]["choice"].string_at("title");
  };
  const auto first = form_of(one, {.page = 1}), second = form_of(one, {.page = 2});
  EXPECT_EQ(titled(first), "Your choice (page 1)");
  EXPECT_EQ(titled(second), "Your choice (page 2)");
  const Value back = Value::object({{"choice", kPreviousPage}});
  EXPECT_EQ(second.read(accept(back)).kind, Kind::kBack);
  EXPECT_EQ(first.read(accept(back)).kind, Kind::kInvalid);
  // An option of that name is what it says.
  const auto named =
      form_of(declared("{decision: env, instruction: Which?, options: [a1, a2, a3, a4, a5, a6, a7, previous-page]}"),
              {.page = 2});
  EXPECT_EQ(named.read(accept(back)).kind, Kind::kAnswered);
}

TEST(DecisionForm, TheFormLeavesTheCountToUs) {
  const auto form =
      form_of(declared("{decision: env, instruction: Which?, select: many, min: 2, options: [a1, a2, a3]}"));
  EXPECT_EQ(form.params()["requestedSchema"]["properties"]["choices"].find("minItems"), nullptr);
  const auto choosing = [&](const Value& ids) { return form.read(accept(Value::object({{"choices", ids}}))).kind; };
  EXPECT_EQ(choosing(Value::array({"a1"})), Kind::kInvalid);
  EXPECT_EQ(choosing(Value::array()), Kind::kEmpty);
  EXPECT_EQ(choosing(Value::array({"a1", "a3"})), Kind::kAnswered);
}

TEST(DecisionForm, APageMayBeLeftEmptyButNotAllOfThem) {
  const auto form = form_of(
      declared("{decision: env, instruction: Which?, select: many, options: [a1, a2, a3, a4, a5, a6, a7, a8]}"));
  const FormAnswer answer = form.read(accept(Value::object({{"choices:p02", Value::array({"a8"})}})));
  ASSERT_EQ(answer.kind, Kind::kAnswered) << answer.problem;
  EXPECT_THAT(answer.given.options, ElementsAre("a8"));
  const Value nothing = Value::object({{"choices", Value::array()}, {"choices:p02", Value::array()}});
  EXPECT_EQ(form.read(accept(nothing)).kind, Kind::kEmpty);
}

}  // namespace
}  // namespace sb::mcp

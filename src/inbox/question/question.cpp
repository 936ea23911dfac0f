#include "inbox/question/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/document/stored_reader.hpp"
#include "base/text/printable.hpp"
#include "decision/brief.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/texts.hpp"

namespace sb::inbox {
namespace {

using decision::Chain;
using decision::Decision;
using decision::Field;
using decision::Flow;
using decision::SelectMode;

constexpr std::array kShapes{std::pair{QuestionShape::kDecision, "decision"}, std::pair{QuestionShape::kFlow, "flow"},
                             std::pair{QuestionShape::kChain, "chain"}};
constexpr std::array kModes{std::pair{SelectMode::kOne, "one"}, std::pair{SelectMode::kMany, "many"},
                            std::pair{SelectMode::kText, "text"}, std::pair{SelectMode::kForm, "form"},
                            std::pair{SelectMode::kUrl, "url"}};
constexpr std::array kTypes{std::pair{Field::Type::kString, "string"}, std::pair{Field::Type::kInteger, "integer"},
                            std::pair{Field::Type::kNumber, "number"}, std::pair{Field::Type::kBoolean, "boolean"}};

template <class Table, class E>
const char* name_in(const Table& table, E wanted) {
  return std::ranges::find(table, wanted, [](const auto& row) { return row.first; })->second;
}

// For StoredReader::word.
template <class Table>
auto value_in(const Table& table) {
  return [&table](std::string_view name) {
    for (const auto& [value, known] : table) {
      if (name == known) return std::optional(value);
    }
    return std::optional<std::remove_cvref_t<decltype(table.front().first)>>();
  };
}

Part part_of(const Decision& decision) {
  Part part;
  part.select = decision.select;
  part.fields = decision.fields;
  part.title = decision.title;
  for (const decision::Option& option : decision.options) {
    part.options.push_back({option.id, option.label, option.safe});
  }
  return part;
}

Part part_of(const decision::ChainOption& option) {
  Part part;
  part.key = option.key;
  part.title = option.label;
  part.required_keys = option.required_keys;
  part.conflicting_keys = option.conflicting_keys;
  part.shipped = option.shipped;
  for (const decision::Bucket bucket : {decision::Bucket::kInclude, decision::Bucket::kDefer, decision::Bucket::kCut}) {
    const std::string name(decision::to_string(bucket));
    part.options.push_back({.id = name, .label = name});
  }
  return part;
}

void add_section(std::string& text, std::string_view prefix, std::string_view paragraph) {
  if (!paragraph.empty())
    text += fmt::format("\n{}{}\n", prefix, prefix.empty() ? quoted(paragraph) : continued(paragraph));
}

// Each with its number or letter, its id and its label: all three are accepted as an answer.
void add_options(std::string& text, const Decision& decision, const decision::Profile& profile) {
  const bool marks_recommended = profile.recommended == decision::RecommendedMark::kSuffix;
  std::size_t width = 0;
  for (const decision::Option& option : decision.options) width = std::max(width, option.id.size());
  if (!decision.options.empty()) text += "\n";
  for (std::size_t i = 0; i < decision.options.size(); ++i) {
    const decision::Option& option = decision.options[i];
    const std::string mark = decision::ordinal_mark(profile.ordinals, i);
    text += fmt::format("  {}{:<{}}  {}{}\n", mark, option.id, width, continued(option.label),
                        option.recommended && marks_recommended ? decision::kRecommendedSuffix : "");
    if (!option.description.empty()) {
      text += fmt::format("  {:<{}}  {}\n", "", mark.size() + width, continued(option.description));
    }
  }
}

std::string how_to_answer(const Decision& decision) {
  const std::string& locale = decision.locale;
  switch (decision.select.mode) {
    case SelectMode::kOne:
      return std::string(decision::text(locale, "inbox.one"));
    case SelectMode::kMany:
      return decision::text_with(locale, "inbox.many", "counts",
                                 fmt::format("{}–{}", decision.select.min, decision.select.max));
    case SelectMode::kText:
      return std::string(decision::text(locale, "inbox.text"));
    case SelectMode::kUrl:
      return decision::text_with(locale, "inbox.url", "url", continued(decision.url));
    case SelectMode::kForm:
      break;
  }
  std::string text(decision::text(locale, "inbox.form"));
  for (const Field& field : decision.fields) {
    text += fmt::format("\n  {}  {}{}", field.key, continued(field.title),
                        field.required ? "" : decision::text(locale, "inbox.optional"));
  }
  return text;
}

std::string text_of(const Decision& decision, const decision::Profile& profile) {
  const auto named = [&](std::string_view key) { return std::string(decision::text(decision.locale, key)) + " "; };
  std::string text = continued(decision.instruction) + "\n";
  add_section(text, "", decision.sections.context);
  add_section(text, "", decision.sections.eli10);
  add_section(text, named("inbox.stakes"), decision.sections.stakes);
  if (decision.sections.kind_note != decision::kKindNote) add_section(text, "", decision.sections.kind_note);
  add_section(text, "", decision.sections.safety_notice);
  add_section(text, named("brief.one_way"), decision.irreversible_note);
  add_section(text, named("inbox.digest"), decision.digest);
  add_options(text, decision, profile);
  if (const auto& recommendation = decision.sections.recommendation) {
    add_section(text, decision::text(decision.locale, "form.recommended"),
                fmt::format("{}{}{}", recommendation->choice,
                            recommendation->choice.empty() || recommendation->reason.empty() ? "" : " — ",
                            recommendation->reason));
  }
  text += fmt::format("\n{}\n", how_to_answer(decision));
  add_section(text, named("inbox.net"), decision.sections.net);
  return text;
}

std::string text_of(const Chain& chain) {
  const auto said = [&](std::string_view key) { return decision::text(chain.locale, key); };
  std::string text =
      chain.instruction.empty() ? fmt::format("{}\n", said("inbox.chain")) : continued(chain.instruction) + "\n";
  for (const decision::ChainOption& option : chain.options) {
    text += fmt::format("\n{}  {}\n", option.key, continued(option.label));
    if (!option.eli10.empty()) text += fmt::format("{}\n", quoted(option.eli10));
    if (!option.description.empty()) text += fmt::format("{}\n", quoted(option.description));
    if (option.recommended) {
      text += fmt::format("  {}{}{}{}\n", said("form.recommended"), to_string(*option.recommended),
                          option.reason.empty() ? "" : " — ", continued(option.reason));
    }
    for (const std::string& key : option.required_keys) {
      text += fmt::format("  {}\n", decision::text_with(chain.locale, "inbox.needs", "other", key));
    }
    for (const std::string& key : option.conflicting_keys) {
      text += fmt::format("  {}\n", decision::text_with(chain.locale, "inbox.clashes", "other", key));
    }
  }
  return text + fmt::format("\n{}\n", said("inbox.buckets"));
}

Value field_value(const Field& field) {
  Value value = Value::object({{"key", field.key},
                               {"title", field.title},
                               {"format", field.format},
                               {"type", name_in(kTypes, field.type)},
                               {"required", field.required}});
  if (field.minimum) value.set("minimum", *field.minimum);
  if (field.maximum) value.set("maximum", *field.maximum);
  return value;
}

Result<Field> field_from(const Value& value) {
  StoredReader stored(value, "a field of a stored question");
  Field field;
  field.key = stored.string("key");
  field.title = stored.string("title");
  field.format = stored.string("format");
  field.type = stored.word("type", value_in(kTypes));
  field.required = stored.boolean("required");
  SB_TRY(stored.done());
  if (value["minimum"].is_number()) field.minimum = value["minimum"].as_number();
  if (value["maximum"].is_number()) field.maximum = value["maximum"].as_number();
  return field;
}

Value part_value(const Part& part) {
  Value value = Value::object({{"key", part.key},
                               {"title", part.title},
                               {"select", name_in(kModes, part.select.mode)},
                               {"min", part.select.min},
                               {"max", part.select.max}});
  Value options = Value::array();
  for (const Choice& choice : part.options) {
    options.push_back(to_value(choice));
  }
  value.set("options", std::move(options));
  Value fields = Value::array();
  for (const Field& field : part.fields) fields.push_back(field_value(field));
  if (fields.size() > 0) value.set("fields", std::move(fields));
  if (!part.required_keys.empty()) value.set("requires", Value::array(part.required_keys));
  if (!part.conflicting_keys.empty()) value.set("conflicts", Value::array(part.conflicting_keys));
  if (part.shipped) value.set("shipped", true);
  return value;
}

Result<Part> part_from(const Value& value) {
  StoredReader stored(value, "a part of a stored question");
  Part part;
  part.key = stored.string("key");
  part.title = stored.string("title");
  part.select.mode = stored.word("select", value_in(kModes));
  part.select.min = stored.small("min");
  part.select.max = stored.small("max");
  for (const Value& option : stored.array("options").items()) part.options.push_back(SB_TRY(choice_from(option)));
  for (const Value& field : stored.optional_array("fields").items()) part.fields.push_back(SB_TRY(field_from(field)));
  part.required_keys = stored.strings("requires");
  part.conflicting_keys = stored.strings("conflicts");
  part.shipped = stored.has("shipped");
  SB_TRY(stored.done());
  return part;
}

}  // namespace

const Choice* Part::find(std::string_view id) const {
  const auto found = std::ranges::find(options, id, &Choice::id);
  return found == options.end() ? nullptr : &*found;
}

bool Part::has_safe() const {
  return std::ranges::any_of(options, &Choice::safe);
}

const Part* Question::find(std::string_view key) const {
  const auto found = std::ranges::find(parts, key, &Part::key);
  return found == parts.end() ? nullptr : &*found;
}

Question question_of(const decision::Declaration& declaration) {
  Question question;
  if (const Decision* decision = declaration.decision()) {
    question.id = decision->id;
    question.text = text_of(*decision, declaration.profile);
    question.default_ids = decision->default_ids;
    question.typed_confirmation = decision->typed_confirmation;
    question.parts.push_back(part_of(*decision));
  } else if (const Flow* flow = declaration.flow()) {
    question.shape = QuestionShape::kFlow;
    question.id = flow->id;
    for (const decision::FlowStep& step : flow->steps) {
      question.text += fmt::format("{}[{}] {}", question.text.empty() ? "" : "\n", step.key(),
                                   text_of(step.decision, declaration.profile));
      question.parts.push_back(part_of(step.decision));
      question.parts.back().key = step.key();
      question.parts.back().title = step.title;
    }
  } else if (const Chain* chain = declaration.chain()) {
    question.shape = QuestionShape::kChain;
    question.id = chain->id;
    question.text = text_of(*chain);
    for (const decision::ChainOption& option : chain->options) question.parts.push_back(part_of(option));
  }
  question.text = printable(question.text);
  return question;
}

Value to_value(const Question& question) {
  Value parts = Value::array();
  for (const Part& part : question.parts) parts.push_back(part_value(part));
  Value value = Value::object({{"shape", name_in(kShapes, question.shape)},
                               {"id", question.id},
                               {"text", question.text},
                               {"parts", std::move(parts)},
                               {"default", Value::array(question.default_ids)}});
  if (!question.typed_confirmation.empty()) value.set("typed_confirmation", question.typed_confirmation);
  return value;
}

Value to_value(const Choice& choice) {
  Value value = Value::object({{"id", choice.id}, {"label", choice.label}});
  if (choice.safe) value.set("safe", true);
  return value;
}

Result<Choice> choice_from(const Value& value) {
  StoredReader stored(value, "an option of a stored question");
  Choice choice{.id = stored.string("id"), .label = stored.string("label"), .safe = stored.optional_boolean("safe")};
  SB_TRY(stored.done());
  return choice;
}

Result<Question> question_from(const Value& value) {
  StoredReader stored(value, "a stored question");
  Question question;
  question.shape = stored.word("shape", value_in(kShapes));
  question.id = stored.string("id");
  question.text = stored.string("text");
  for (const Value& part : stored.array("parts").items()) question.parts.push_back(SB_TRY(part_from(part)));
  question.default_ids = stored.strings("default");
  question.typed_confirmation = stored.optional_string("typed_confirmation");
  SB_TRY(stored.done());
  return question;
}

}  // namespace sb::inbox

// Parses an answer to a question and checks it against the declaration.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/document/reader.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/prompt.hpp"
#include "inbox/question/question.hpp"

namespace sb::inbox {
namespace {

using decision::Field;
using decision::SelectMode;

constexpr std::string_view kAccept = "accept";  // the only answer to a url question
constexpr std::string_view kText = "text";

std::unexpected<Error> no_answer() {
  return fail(ErrorCode::kInvalid, "the answer is empty");
}

std::string where(const Part& part) {
  return part.key.empty() ? std::string() : part.key + ": ";
}

std::string ids_of(const Part& part) {
  std::vector<std::string> ids;
  for (const Choice& choice : part.options) ids.push_back(choice.id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

std::unexpected<Error> unknown_option(const Part& part, const std::string& id) {
  std::vector<std::string> known;
  for (const Choice& choice : part.options) known.push_back(choice.id);
  const std::string nearest = nearest_name(id, known);
  return fail(ErrorCode::kInvalid, fmt::format("{}there is no option {}", where(part), quote_json(id)),
              nearest.empty() ? fmt::format("Choose from: {}", ids_of(part))
                              : fmt::format("Did you mean \"{}\"? Choose from: {}", nearest, ids_of(part)));
}

Status check_count(const Part& part, std::size_t count) {
  const auto min = static_cast<std::size_t>(part.select.mode == SelectMode::kOne ? 1 : part.select.min);
  const auto max = static_cast<std::size_t>(part.select.mode == SelectMode::kOne ? 1 : part.select.max);
  if (count >= min && count <= max) return {};
  const std::string wanted = min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
  return fail(ErrorCode::kInvalid, fmt::format("{}{} chosen; choose {}", where(part), count, wanted),
              fmt::format("Choose from: {}", ids_of(part)));
}

// The chosen ids in declared order.
Result<std::vector<std::string>> check_options(const Part& part, const std::vector<std::string>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (part.find(given[i]) == nullptr) return unknown_option(part, given[i]);
    if (std::find(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(i), given[i]) !=
        given.begin() + static_cast<std::ptrdiff_t>(i)) {
      return fail(ErrorCode::kInvalid, fmt::format("{}{} is chosen twice", where(part), quote_json(given[i])));
    }
  }
  SB_TRY(check_count(part, given.size()));
  if (decision::is_contradictory(given)) {
    return fail(ErrorCode::kInvalid, where(part) + "none cannot be combined with other options", "Choose none alone");
  }
  std::vector<std::string> ordered;
  for (const Choice& choice : part.options) {
    if (std::ranges::find(given, choice.id) != given.end()) ordered.push_back(choice.id);
  }
  return ordered;
}

std::unexpected<Error> bad_field(const Field& field, std::string_view problem) {
  return fail(ErrorCode::kInvalid, fmt::format("field {} {}", quote_json(field.key), problem));
}

Status check_number(const Field& field, double number) {
  if (field.type == Field::Type::kInteger && number != std::floor(number)) return bad_field(field, "is not an integer");
  if (field.minimum && number < *field.minimum) return bad_field(field, fmt::format("is below {}", *field.minimum));
  if (field.maximum && number > *field.maximum) return bad_field(field, fmt::format("is above {}", *field.maximum));
  return {};
}

bool has_format(std::string_view text, std::string_view format) {
  if (format == "email") {
    const std::size_t at = text.find('@');
    return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.find(' ') == std::string_view::npos;
  }
  if (format == "uri") return text.find(':') != std::string_view::npos && text.find(' ') == std::string_view::npos;
  if (format == "date") return text.size() == 10 && parse_rfc3339(std::string(text) + "T00:00:00Z").has_value();
  if (format == "date-time") return parse_rfc3339(text).has_value();
  return true;
}

Status check_text(const Field& field, std::string_view text) {
  if (is_blank(text)) return bad_field(field, "is empty");
  const auto length = static_cast<double>(count_code_points(text));
  if (field.minimum && length < *field.minimum) return bad_field(field, "is too short");
  if (field.maximum && length > *field.maximum) return bad_field(field, "is too long");
  if (!has_format(text, field.format)) return bad_field(field, fmt::format("is not a valid {}", field.format));
  return {};
}

// Forms arrive as JSON from hosts and as words from a command line; a word is converted if it parses as the field's
// type.
Result<Value> check_field(const Field& field, const Value& given) {
  if (field.type == Field::Type::kString) {
    if (!given.is_string() || !is_utf8(given.as_string())) return bad_field(field, "is not a string");
    SB_TRY(check_text(field, given.as_string()));
    return given;
  }
  if (field.type == Field::Type::kBoolean) {
    if (given.is_bool()) return given;
    if (given.is_string() && (given.as_string() == "true" || given.as_string() == "false")) {
      return Value(given.as_string() == "true");
    }
    return bad_field(field, "is neither true nor false");
  }
  double number = 0;
  if (given.is_number()) {
    number = given.as_number();
  } else if (given.is_string()) {
    const std::string& text = given.as_string();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return bad_field(field, "is not a number");
  } else {
    return bad_field(field, "is not a number");
  }
  if (!std::isfinite(number) || std::abs(number) > 9e15) return bad_field(field, "is not a number in range");
  SB_TRY(check_number(field, number));
  if (field.type == Field::Type::kInteger) return Value(static_cast<std::int64_t>(number));
  return Value(number);
}

Result<Value> check_form(const Part& part, const Value& values) {
  Value result = Value::object();
  std::vector<std::string> known;
  for (const Field& field : part.fields) {
    known.push_back(field.key);
    const Value* given = values.find(field.key);
    if (given != nullptr && !given->is_null()) {
      result.set(field.key, SB_TRY(check_field(field, *given)));
    } else if (field.required) {
      return bad_field(field, "is missing");
    }
  }
  for (const Value::Member& member : values.members()) {
    if (std::ranges::find(known, member.name) == known.end()) {
      const std::string nearest = nearest_name(member.name, known);
      return fail(ErrorCode::kInvalid, fmt::format("there is no field {}", quote_json(member.name)),
                  nearest.empty() ? std::string() : fmt::format("Did you mean \"{}\"?", nearest));
    }
  }
  if (result.size() == 0) return no_answer();
  return result;
}

// A part's answer in `values`: ids for a choice, the text, or the fields.
Result<Value> check_part(const Part& part, const Value& given) {
  switch (part.select.mode) {
    case SelectMode::kText:
      if (!given.is_string() || !is_utf8(given.as_string()) || is_blank(given.as_string())) return no_answer();
      return given;
    case SelectMode::kForm:
      if (!given.is_object()) return no_answer();
      return check_form(part, given);
    case SelectMode::kUrl:
      if (!given.is_string() || given.as_string() != kAccept) return no_answer();
      return given;
    case SelectMode::kOne:
    case SelectMode::kMany:
      break;
  }
  std::vector<std::string> ids;
  if (given.is_string()) ids.push_back(given.as_string());
  if (given.is_array()) {
    for (const Value& id : given.items()) {
      if (!id.is_string()) return fail(ErrorCode::kInvalid, where(part) + "an option id must be a string");
      ids.push_back(id.as_string());
    }
  }
  if (ids.empty() && part.select.min > 0) return fail(ErrorCode::kInvalid, where(part) + "the answer is empty");
  std::vector<std::string> ordered = SB_TRY(check_options(part, ids));
  if (part.select.mode == SelectMode::kOne) return Value(ordered.front());
  return Value::array(std::move(ordered));
}

bool is_included(const Question& question, const Value& values, const std::string& key) {
  const Part* part = question.find(key);
  if (part != nullptr && part->shipped) return true;
  const Value* value = values.find(key);
  return value != nullptr && value->is_string() && value->as_string() == "include";
}

// Hold answers nothing: it stops the whole chain at one option.
Status check_bucket(const Part& part, const Value& given) {
  if (!given.is_string() || part.find(given.as_string()) != nullptr) return {};
  const std::string& word = given.as_string();
  const std::string hold = fmt::format("{}=hold", part.key);
  if (word == "hold") {
    return fail(ErrorCode::kInvalid, fmt::format("{} cannot be given together with other answers", hold),
                fmt::format("Answer {} alone, to stop and discuss it, or choose from: {}", hold, ids_of(part)));
  }
  Error unknown = unknown_option(part, word).error();
  unknown.remedy += fmt::format("; or {} alone, to stop and discuss it", hold);
  return std::unexpected(std::move(unknown));
}

Result<AnswerInput> check_parts(const Question& question, const AnswerInput& given) {
  if (given.values.size() == 0) return no_answer();
  AnswerInput result;
  std::vector<std::string> known;
  for (const Part& part : question.parts) {
    known.push_back(part.key);
    const Value* value = given.values.find(part.key);
    if (question.shape == QuestionShape::kChain && value != nullptr) SB_TRY(check_bucket(part, *value));
    if (value == nullptr) return fail(ErrorCode::kInvalid, fmt::format("{} is not answered", quote_json(part.key)));
    result.values.set(part.key, SB_TRY(check_part(part, *value)));
  }
  for (const Value::Member& member : given.values.members()) {
    if (std::ranges::find(known, member.name) != known.end()) continue;
    return fail(ErrorCode::kInvalid, fmt::format("there is no {} in this question", quote_json(member.name)),
                fmt::format("Answer these: {}", fmt::join(known, ", ")));
  }
  return result;
}

// Splits on commas; a doubled comma is a literal one.
std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      pieces.back().push_back(text[i]);
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      pieces.back().push_back(text[i++]);
    } else {
      pieces.emplace_back();
    }
  }
  return pieces;
}

// A chain's answer, matching each key as declared, since a key may contain `,` or `=`; nothing when one is unknown.
std::optional<AnswerInput> parse_buckets(const Question& question, std::string_view text) {
  AnswerInput given;
  for (;;) {
    const Part* named = nullptr;
    for (const Part& part : question.parts) {
      const bool is_named = text.starts_with(part.key) && text.substr(part.key.size()).starts_with('=');
      if (is_named && (named == nullptr || part.key.size() > named->key.size())) named = &part;
    }
    if (named == nullptr || given.values.find(named->key) != nullptr) return std::nullopt;
    text.remove_prefix(named->key.size() + 1);
    const std::size_t comma = text.find(',');
    given.values.set(named->key, Value(text.substr(0, comma)));
    if (comma == std::string_view::npos) return given;
    text.remove_prefix(comma + 1);
  }
}

Result<AnswerInput> parse_pairs(const Question& question, std::string_view text, bool is_form) {
  AnswerInput given;
  for (const std::string& pair : split_fields(text)) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not key=value", quote_json(pair)),
                  fmt::format("Answer {} as key=value,key=value", quote_json(question.id)));
    }
    const std::string key = pair.substr(0, equals);
    const std::string value = pair.substr(equals + 1);
    if (given.values.find(key) != nullptr) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is answered twice", quote_json(key)));
    }
    const Part* part = is_form ? nullptr : question.find(key);
    if (part != nullptr && part->select.mode == SelectMode::kMany) {
      std::vector<std::string> ids;
      for (const std::string_view id : split(value, '+')) {
        if (!id.empty()) ids.emplace_back(id);
      }
      given.values.set(key, Value::array(std::move(ids)));
    } else {
      given.values.set(key, Value(value));
    }
  }
  return given;
}

}  // namespace

Result<AnswerInput> check_answer(const Question& question, const AnswerInput& given) {
  if (!given.values.is_object()) return fail(ErrorCode::kInvalid, "the values of an answer must be an object");
  if (question.shape != QuestionShape::kDecision) {
    if (!given.options.empty()) return fail(ErrorCode::kInvalid, "answer this by key", "Answer as key=option");
    return check_parts(question, given);
  }
  const Part& part = question.parts.front();
  AnswerInput result;
  switch (part.select.mode) {
    case SelectMode::kText:
      result.values.set(kText, SB_TRY(check_part(part, given.values[kText])));
      return result;
    case SelectMode::kForm:
      result.values = SB_TRY(check_form(part, given.values));
      return result;
    case SelectMode::kUrl:
      if (given.options != std::vector<std::string>{std::string(kAccept)}) {
        return fail(ErrorCode::kInvalid, "answer this on the linked page", "Then answer: accept");
      }
      result.options = given.options;
      return result;
    case SelectMode::kOne:
    case SelectMode::kMany:
      break;
  }
  if (given.options.empty() && part.select.min > 0) return no_answer();
  result.options = SB_TRY(check_options(part, given.options));
  return result;
}

Status check_dependencies(const Question& question, const AnswerInput& given) {
  const Value& values = given.values;
  for (const Part& part : question.parts) {
    if (part.shipped || !is_included(question, values, part.key)) continue;
    for (const std::string& key : part.required_keys) {
      if (is_included(question, values, key)) continue;
      return fail(ErrorCode::kInvalid, fmt::format("{} is included but requires {}, which is not", part.key, key),
                  fmt::format("Include {} too, cut {}, or leave it broken on purpose: add --waive", key, part.key));
    }
    for (const std::string& key : part.conflicting_keys) {
      if (!is_included(question, values, key)) continue;
      return fail(ErrorCode::kInvalid, fmt::format("{} and {} cannot both be included", part.key, key),
                  "Cut one of them, or leave both on purpose: add --waive");
    }
  }
  return {};
}

Value broken_dependencies(const Question& question, const AnswerInput& given) {
  Value broken = Value::array();
  for (const Part& part : question.parts) {
    if (part.shipped || !is_included(question, given.values, part.key)) continue;
    for (const std::string& key : part.required_keys) {
      if (!is_included(question, given.values, key)) broken.push_back(Value::array({part.key, key}));
    }
    for (const std::string& key : part.conflicting_keys) {
      const bool is_first = broken.items().end() == std::ranges::find(broken.items(), Value::array({key, part.key}));
      if (is_included(question, given.values, key) && is_first) broken.push_back(Value::array({part.key, key}));
    }
  }
  return broken;
}

Result<AnswerInput> parse_choice(const Question& question, std::string_view text) {
  if (is_utf8(text) && is_blank(text)) return no_answer();
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, "the answer is not UTF-8");
  if (question.shape == QuestionShape::kChain) {
    if (auto given = parse_buckets(question, text)) return std::move(*given);
  }
  if (question.shape != QuestionShape::kDecision) return parse_pairs(question, text, false);
  AnswerInput given;
  const SelectMode mode = question.parts.front().select.mode;
  if (mode == SelectMode::kForm) return parse_pairs(question, text, true);
  if (mode == SelectMode::kText) {
    given.values.set(kText, Value(text));
    return given;
  }
  for (const std::string_view id : split(text, ',')) {
    if (id.empty()) return fail(ErrorCode::kInvalid, "there is nothing between two commas");
    given.options.emplace_back(id);
  }
  return given;
}

}  // namespace sb::inbox

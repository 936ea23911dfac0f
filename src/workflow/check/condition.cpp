#include "workflow/check/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

using Operator = Condition::Operator;

struct Comparing {
  std::string_view name;
  Operator op;
  enum class Takes { kAnything, kNumber, kList, kText } takes;
  std::string_view words;
};

// In order of precedence: the first one found counts.
constexpr std::array<Comparing, 11> kComparing = {{
    {"equals", Operator::kEquals, Comparing::Takes::kAnything, "is"},
    {"not_equals", Operator::kNotEquals, Comparing::Takes::kAnything, "is not"},
    {"gt", Operator::kGt, Comparing::Takes::kNumber, ">"},
    {"gte", Operator::kGte, Comparing::Takes::kNumber, ">="},
    {"lt", Operator::kLt, Comparing::Takes::kNumber, "<"},
    {"lte", Operator::kLte, Comparing::Takes::kNumber, "<="},
    {"in", Operator::kIn, Comparing::Takes::kList, "is one of"},
    {"contains", Operator::kContains, Comparing::Takes::kText, "contains"},
    {"startsWith", Operator::kStartsWith, Comparing::Takes::kText, "starts with"},
    {"endsWith", Operator::kEndsWith, Comparing::Takes::kText, "ends with"},
    {"matches", Operator::kMatches, Comparing::Takes::kText, "matches"},
}};

constexpr std::array<std::pair<std::string_view, Operator>, 3> kJoining = {
    {{"and", Operator::kAnd}, {"or", Operator::kOr}, {"not", Operator::kNot}}};

enum class OperatorKind { kPlain, kComparison, kComposition };

// Nothing for a number that is not an operator.
constexpr std::optional<OperatorKind> kind_of(Operator op) {
  switch (op) {
    case Operator::kTrue:
    case Operator::kVar:
      return OperatorKind::kPlain;
    case Operator::kEquals:
    case Operator::kNotEquals:
    case Operator::kGt:
    case Operator::kGte:
    case Operator::kLt:
    case Operator::kLte:
    case Operator::kIn:
    case Operator::kContains:
    case Operator::kStartsWith:
    case Operator::kEndsWith:
    case Operator::kMatches:
      return OperatorKind::kComparison;
    case Operator::kAnd:
    case Operator::kOr:
    case Operator::kNot:
      return OperatorKind::kComposition;
  }
  return std::nullopt;
}

// Each operator has exactly the rows that its kind needs.
consteval bool tables_are_complete() {
  for (int number = 0; number < 256; ++number) {
    const auto op = static_cast<Operator>(number);
    const auto kind = kind_of(op);
    if (std::ranges::count(kComparing, op, &Comparing::op) != (kind == OperatorKind::kComparison)) return false;
    const auto compositions = std::ranges::count_if(kJoining, [&](const auto& row) { return row.second == op; });
    if (compositions != (kind == OperatorKind::kComposition)) return false;
  }
  return true;
}
static_assert(tables_are_complete(), "an operator has no row in kComparing or kJoining, or two");

bool fits(const Reader& reader, Comparing::Takes takes) {
  switch (takes) {
    case Comparing::Takes::kAnything:
      return true;
    case Comparing::Takes::kNumber:
      return reader.number().has_value();
    case Comparing::Takes::kText:
      return reader.string().has_value();
    case Comparing::Takes::kList:
      if (reader.value().is_array()) return true;
      reader.fault(fmt::format("`in` takes a list, found {}", kind_name(reader.value().kind())), "Write a list");
      return false;
  }
  return false;
}

// Nothing, and a fault, if an operand has the wrong kind, even of an operator that does not count.
bool read_comparison(Fields& fields, Condition& into) {
  bool is_well = true;
  bool is_found = false;
  for (const Comparing& known : kComparing) {
    const auto reader = fields.get(known.name);
    if (!reader) continue;
    if (!fits(*reader, known.takes)) {
      is_well = false;
      continue;
    }
    std::optional<Pattern> pattern;
    if (known.op == Operator::kMatches) {
      auto compiled = Pattern::compile(reader->value().as_string(), Pattern::kIgnoreCase | Pattern::kJavaScript);
      if (!compiled) {
        reader->fault(compiled.error().message, compiled.error().remedy, compiled.error().code);
        is_well = false;
        continue;
      }
      pattern = std::move(*compiled);
    }
    if (std::exchange(is_found, true)) continue;
    into.op = known.op;
    into.operand = reader->value();
    into.pattern = std::move(pattern);
  }
  return is_well;
}

std::optional<Condition> read_condition_at(const Reader& reader, int depth);

bool read_parts(Fields& fields, Condition& into, int depth) {
  bool is_well = true;
  bool is_found = false;
  for (const auto& [name, op] : kJoining) {
    const auto reader = fields.get(name);
    if (!reader) continue;
    if (op != Operator::kNot && !reader->value().is_array()) is_well = false;
    std::vector<Condition> parts;
    const std::vector<Reader> readers = op == Operator::kNot ? std::vector<Reader>{*reader} : reader->items();
    for (const Reader& part : readers) {
      auto condition = read_condition_at(part, depth + 1);
      if (condition) {
        parts.push_back(std::move(*condition));
      } else {
        is_well = false;
      }
    }
    if (into.op == Operator::kTrue && !std::exchange(is_found, true)) {
      into.op = op;
      into.parts = std::move(parts);
    }
  }
  return is_well;
}

std::optional<Condition> read_condition_at(const Reader& reader, int depth) {
  if (depth > limits::kDocumentDepth) {
    reader.fault(fmt::format("the condition nests deeper than {} levels", limits::kDocumentDepth), "Flatten it",
                 ErrorCode::kLimit);
    return std::nullopt;
  }
  if (!reader.value().is_object()) {
    reader.fault(fmt::format("expected a condition, found {}", kind_name(reader.value().kind())),
                 "Write one such as {var: size, gt: 3}");
    return std::nullopt;
  }
  Fields fields = reader.fields();
  Condition condition;
  bool is_well = true;
  const auto var = fields.get("var");
  if (var) {
    const auto name = var->string();
    is_well = name.has_value();
    if (name && name->empty()) {
      var->fault("`var` is empty", "Name a context key");
      is_well = false;
    }
    condition.op = Operator::kVar;
    condition.var = name.value_or("");
  }
  Condition comparison;
  is_well = read_comparison(fields, comparison) && is_well;
  if (comparison.op != Operator::kTrue && !var) {
    reader.fault("a comparison without `var` does not say which context key to compare", "Add var:");
    is_well = false;
  } else if (comparison.op != Operator::kTrue) {
    comparison.var = std::move(condition.var);
    condition = std::move(comparison);
  }
  is_well = read_parts(fields, condition, depth) && is_well;
  is_well = fields.finish() && is_well;
  if (!is_well) return std::nullopt;
  return condition;
}

// Trims white space at both ends, as ECMAScript does.
std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const char32_t c = next_code_point(text, at);
    if (is_space(c) || c == 0xFEFF) continue;
    begin = std::min(begin, before);
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view{};
}

std::string folded(std::string_view text) {
  return is_utf8(text) ? case_fold(trimmed(text)) : std::string(text);
}

// A value as text, as the format defines it: lists joined by commas, empty for null.
std::string as_text(const Value* value) {
  if (!value || value->is_null()) return {};
  if (value->is_string()) return value->as_string();
  if (!value->is_array()) return to_canonical_json(*value);
  std::string text;
  for (std::size_t i = 0; i < value->size(); ++i) {
    if (i > 0) text += ',';
    text += as_text(&value->items()[i]);
  }
  return text;
}

// A text as a number; an empty one is 0, as in WorkRail.
std::optional<double> as_number(std::string_view text) {
  if (!is_utf8(text)) return std::nullopt;
  text = trimmed(text);
  if (text.empty()) return 0;
  if (text.front() == '+') text.remove_prefix(1);
  const bool is_numeric = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!is_numeric || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool means(const Value& value, bool expected) {
  if (value.is_number()) return value.as_number() == (expected ? 1 : 0);
  if (!value.is_string()) return false;
  const std::string word = folded(value.as_string());
  return expected ? word == "true" || word == "yes" || word == "1" : word == "false" || word == "no" || word == "0";
}

void collect_keys(const Condition& condition, std::vector<std::string>& into) {
  if (!condition.var.empty() && std::ranges::find(into, condition.var) == into.end()) into.push_back(condition.var);
  for (const Condition& part : condition.parts) collect_keys(part, into);
}

// A value shortened for a record: a long one would be stored again for each skipped step.
Value glimpse(const Value* value) {
  constexpr std::size_t kMost = 256;
  if (!value) return {};
  if (!value->is_string() && !value->is_array() && !value->is_object()) return *value;
  const std::string text = value->is_string() ? value->as_string() : to_json(*value);
  if (text.size() <= kMost) return *value;
  return std::string(utf8_prefix(text, kMost)) + "…";
}

bool is_joining(Operator op) {
  return op == Operator::kAnd || op == Operator::kOr;
}

std::string operand_text(const Value& operand) {
  if (!operand.is_array()) return operand.is_null() ? "unset" : to_json(operand);
  std::string text;
  for (const Value& item : operand.items()) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_json(item));
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::optional<Condition> read_condition(const Reader& reader) {
  return read_condition_at(reader, 0);
}

const Value* look_up(const Value& context, std::string_view path) {
  const Value* at = &context;
  while (true) {
    if (const Value* found = at->find(path)) return found;
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return nullptr;
    at = at->find(path.substr(0, dot));
    if (!at) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

std::optional<bool> bound_holds(Operator op, double number, double limit) {
  switch (op) {
    case Operator::kGt:
      return number > limit;
    case Operator::kGte:
      return number >= limit;
    case Operator::kLt:
      return number < limit;
    case Operator::kLte:
      return number <= limit;
    case Operator::kTrue:
    case Operator::kVar:
    case Operator::kEquals:
    case Operator::kNotEquals:
    case Operator::kIn:
    case Operator::kContains:
    case Operator::kStartsWith:
    case Operator::kEndsWith:
    case Operator::kMatches:
    case Operator::kAnd:
    case Operator::kOr:
    case Operator::kNot:
      return std::nullopt;
  }
  return std::nullopt;
}

bool holds(const Condition& condition, const Value& context) {
  const auto part_holds = [&](const Condition& part) { return holds(part, context); };
  const auto value = [&] { return look_up(context, condition.var); };
  const auto text = [&] { return folded(as_text(value())); };
  const auto wanted_text = [&] { return folded(condition.operand.as_string()); };
  switch (condition.op) {
    case Operator::kTrue:
      return true;
    case Operator::kVar:
      return is_truthy(value());
    case Operator::kEquals:
      return leniently_equal(value(), condition.operand);
    case Operator::kNotEquals:
      return !leniently_equal(value(), condition.operand);
    case Operator::kGt:
    case Operator::kGte:
    case Operator::kLt:
    case Operator::kLte: {
      const Value* number = value();
      return number && number->is_number() &&
             bound_holds(condition.op, number->as_number(), condition.operand.as_number()) == true;
    }
    case Operator::kIn:
      return std::ranges::any_of(condition.operand.items(),
                                 [found = value()](const Value& item) { return leniently_equal(found, item); });
    case Operator::kContains:
      return text().contains(wanted_text());
    case Operator::kStartsWith:
      return text().starts_with(wanted_text());
    case Operator::kEndsWith:
      return text().ends_with(wanted_text());
    case Operator::kMatches: {
      const std::string whole = as_text(value());
      return is_utf8(whole) && condition.pattern->matches(trimmed(whole)).value_or(false);
    }
    case Operator::kAnd:
      return std::ranges::all_of(condition.parts, part_holds);
    case Operator::kOr:
      return std::ranges::any_of(condition.parts, part_holds);
    case Operator::kNot:
      return std::ranges::none_of(condition.parts, part_holds);
  }
  return false;
}

Value observed_values(const Condition& condition, const Value& context) {
  Value seen = Value::object();
  for (const std::string& key : keys_of(condition)) seen.set(key, glimpse(look_up(context, key)));
  return seen;
}

std::vector<std::string> keys_of(const Condition& condition) {
  std::vector<std::string> keys;
  collect_keys(condition, keys);
  return keys;
}

std::string to_text(const Condition& condition) {
  if (condition.op == Operator::kTrue) return "always";
  if (condition.op == Operator::kVar) return condition.var + " is set and not false";
  if (condition.op == Operator::kNot) return fmt::format("not ({})", to_text(condition.parts.front()));
  if (is_joining(condition.op)) {
    if (condition.parts.empty()) return condition.op == Operator::kAnd ? "always" : "never";
    std::string text;
    for (const Condition& part : condition.parts) {
      if (!text.empty()) text += condition.op == Operator::kAnd ? " and " : " or ";
      const bool needs_brackets = is_joining(part.op) && part.parts.size() > 1 && condition.parts.size() > 1;
      text += needs_brackets ? fmt::format("({})", to_text(part)) : to_text(part);
    }
    return text;
  }
  const auto known = std::ranges::find(kComparing, condition.op, &Comparing::op);
  return fmt::format("{} {} {}", condition.var, known->words, operand_text(condition.operand));
}

bool is_truthy(const Value* value) {
  if (!value) return false;
  switch (value->kind()) {
    case Value::Kind::kNull:
      return false;
    case Value::Kind::kBool:
      return value->as_bool();
    case Value::Kind::kInteger:
    case Value::Kind::kNumber:
      return value->as_number() != 0;
    case Value::Kind::kString:
      return !value->as_string().empty();
    case Value::Kind::kArray:
    case Value::Kind::kObject:
      return true;
  }
  return false;
}

bool leniently_equal(const Value* value, const Value& expected) {
  const bool is_set = value && !value->is_null();
  if (!is_set || expected.is_null()) return !is_set && expected.is_null();
  if (value->is_string() && expected.is_string()) return folded(value->as_string()) == folded(expected.as_string());
  if (value->is_bool() && expected.is_bool()) return value->as_bool() == expected.as_bool();
  if (expected.is_bool()) return means(*value, expected.as_bool());
  if (value->is_bool()) return means(expected, value->as_bool());
  if (value->is_number() && expected.is_number()) return value->as_number() == expected.as_number();
  if (value->is_string() && expected.is_number()) return as_number(value->as_string()) == expected.as_number();
  if (value->is_number() && expected.is_string()) return as_number(expected.as_string()) == value->as_number();
  return *value == expected;
}

}  // namespace sb::workflow

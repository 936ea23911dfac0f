#include "workflow/check/criteria.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

using Type = Criteria::Type;

constexpr std::array<std::pair<std::string_view, Type>, 4> kRuleTypes = {
    {{"contains", Type::kContains}, {"regex", Type::kRegex}, {"length", Type::kLength}, {"schema", Type::kSchema}}};
constexpr std::array<std::pair<std::string_view, Type>, 3> kCompositions = {
    {{"and", Type::kAnd}, {"or", Type::kOr}, {"not", Type::kNot}}};

// JavaScript's flags: i and m as they are, s and y become part of the pattern, the others do not affect a test.
std::optional<Pattern> read_pattern(const Reader& pattern, const std::optional<Reader>& flags) {
  std::string expression = pattern.value().as_string();
  unsigned options = Pattern::kJavaScript;
  for (const char flag : flags ? flags->string().value_or("") : "") {
    if (flag == 'i') {
      options |= Pattern::kIgnoreCase;
    } else if (flag == 'm') {
      options |= Pattern::kMultiLine;
    } else if (flag == 's') {
      expression.insert(0, "(?s)");
    } else if (flag == 'y') {
      expression = fmt::format("\\A(?:{})", expression);
    } else if (std::string_view("dguv").find(flag) == std::string_view::npos) {
      flags->fault(fmt::format("unknown flag \"{}\"", flag), "Use i, m or s");
      return std::nullopt;
    }
  }
  auto compiled = Pattern::compile(expression, options);
  if (compiled) return std::move(*compiled);
  pattern.fault(compiled.error().message, compiled.error().remedy, compiled.error().code);
  return std::nullopt;
}

std::shared_ptr<const JsonSchema> read_schema(const Reader& reader) {
  auto schema = JsonSchema::compile(reader.value());
  if (schema) return std::make_shared<const JsonSchema>(std::move(*schema));
  const std::string& where = schema.error().location.pointer;
  reader.fault(where.empty() ? schema.error().message : fmt::format("{}: {}", where, schema.error().message),
               schema.error().remedy, schema.error().code);
  return nullptr;
}

// What a rule of this type requires; false, and a fault, if it is missing or wrong.
bool read_demands(Fields& fields, Criteria& rule) {
  const auto value = fields.get("value"), pattern = fields.get("pattern"), flags = fields.get("flags");
  const auto min = fields.get("min"), max = fields.get("max"), schema = fields.get("schema");
  const auto lacks = [&](std::string_view name) {
    fields.self().fault(fmt::format("a rule of this type needs `{}`", name), fmt::format("Add {}:", name));
    return false;
  };
  switch (rule.type) {
    case Type::kContains: {
      if (!value) return lacks("value");
      auto text = value->string();
      if (text) rule.value = std::move(*text);
      return text.has_value();
    }
    case Type::kRegex:
      if (!pattern) return lacks("pattern");
      if (!pattern->string()) return false;
      rule.value = pattern->value().as_string();
      rule.pattern = read_pattern(*pattern, flags);
      return rule.pattern.has_value();
    case Type::kLength:
      if (!min && !max) return lacks("min` or `max");
      if (min) rule.min = min->number();
      if (max) rule.max = max->number();
      if (rule.min && rule.max && *rule.min > *rule.max) {
        min->fault(fmt::format("min {} is more than max {}", *rule.min, *rule.max), "Swap them");
        return false;
      }
      return rule.min.has_value() == min.has_value() && rule.max.has_value() == max.has_value();
    case Type::kSchema:
      if (!schema) return lacks("schema");
      rule.schema = read_schema(*schema);
      return rule.schema != nullptr;
    case Type::kAnd:
    case Type::kOr:
    case Type::kNot:
      break;
  }
  SB_ASSERT(!"a composition is not read as a rule");
  return false;
}

std::optional<Criteria> read_rule(Fields& fields) {
  Criteria rule;
  const auto type = fields.choice<Type>("type", kRuleTypes, Need::kRequired);
  const auto message = fields.string("message", Need::kRequired);
  const auto condition = fields.get("condition");
  if (type) rule.type = *type;
  bool is_well = type && message && read_demands(fields, rule);
  // After a wrong type these have not been read.
  for (const char* name : {"value", "pattern", "flags", "min", "max", "schema"}) fields.get(name);
  if (condition) {
    rule.condition = read_condition(*condition);
    is_well = is_well && rule.condition;
  }
  fields.finish();
  if (!is_well) return std::nullopt;
  rule.message = *message;
  return rule;
}

std::optional<Criteria> read_criteria_at(const Reader& reader, int depth);

std::optional<Criteria> read_all(Type type, const std::vector<Reader>& readers, int depth) {
  Criteria criteria;
  criteria.type = type;
  bool is_well = true;
  for (const Reader& reader : readers) {
    auto part = read_criteria_at(reader, depth + 1);
    is_well = is_well && part;
    if (part) criteria.parts.push_back(std::move(*part));
  }
  if (!is_well) return std::nullopt;
  return criteria;
}

std::optional<Criteria> read_composition(Fields& fields, int depth) {
  std::optional<Criteria> criteria;
  int found = 0;
  for (const auto& [name, type] : kCompositions) {
    const auto reader = fields.get(name);
    if (!reader) continue;
    if (++found > 1) {
      reader->fault("`and`, `or` and `not` cannot be used side by side", "Put one inside the other");
      continue;
    }
    const bool is_list = reader->value().is_array();
    if (type != Type::kNot && is_list && reader->value().size() == 0) {
      reader->fault(fmt::format("`{}` is empty", name), "Add a rule or remove it");
      continue;
    }
    criteria = read_all(type, type == Type::kNot ? std::vector<Reader>{*reader} : reader->items(), depth);
    if (type != Type::kNot && !is_list) criteria.reset();
  }
  fields.finish();
  return found == 1 ? criteria : std::nullopt;
}

std::optional<Criteria> read_criteria_at(const Reader& reader, int depth) {
  if (depth > limits::kDocumentDepth) {
    reader.fault(fmt::format("the criteria nest deeper than {} levels", limits::kDocumentDepth), "Flatten them",
                 ErrorCode::kLimit);
    return std::nullopt;
  }
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return std::nullopt;
  const bool is_composition =
      std::ranges::any_of(kCompositions, [&](const auto& known) { return fields.has(known.first); });
  return is_composition ? read_composition(fields, depth) : read_rule(fields);
}

enum class Verdict { kPasses, kFails, kDoesNotApply };

bool passes_rule(const Criteria& rule, std::string_view notes) {
  switch (rule.type) {
    case Type::kContains:
      return notes.find(rule.value) != std::string_view::npos;
    case Type::kRegex:
      return rule.pattern->matches(notes).value_or(false);
    case Type::kLength: {
      const auto length = static_cast<double>(is_utf8(notes) ? count_code_points(notes) : notes.size());
      return (!rule.min || length >= *rule.min) && (!rule.max || length <= *rule.max);
    }
    case Type::kSchema: {
      const auto value = parse_json(notes);
      return value && rule.schema->check(*value).empty();
    }
    case Type::kAnd:
    case Type::kOr:
    case Type::kNot:
      break;
  }
  SB_ASSERT(!"a composition is judged by its parts");
  return false;
}

std::string demand_of(const Criteria& rule) {
  switch (rule.type) {
    case Type::kContains:
      return fmt::format("contain {}", quote_json(rule.value));
    case Type::kRegex:
      return fmt::format("match `{}`", rule.value);
    case Type::kLength:
      return "have that length";
    case Type::kSchema:
      return "be JSON that matches that schema";
    case Type::kAnd:
    case Type::kOr:
    case Type::kNot:
      return "pass the negated rule";
  }
  return {};
}

std::string forbidding(const Criteria& part) {
  return fmt::format("the notes must not {}{}{}", demand_of(part), part.message.empty() ? "" : ": ", part.message);
}

std::string number_text(const Value& number) {
  return number.is_integer() ? fmt::format("{}", number.as_integer()) : fmt::format("{}", number.as_number());
}

// `at least 50 characters`, `contains "Root cause"`: the rule behind an author's message.
std::string rule_text(const Value& rule) {
  const std::string type = rule.string_at("type").value_or("");
  const Value& min = rule["min"];
  const Value& max = rule["max"];
  if (type == "contains") return fmt::format("contain {}", quote_json(rule.string_at("value").value_or("")));
  if (type == "regex") return fmt::format("match {}", rule.string_at("value").value_or(""));
  if (type == "length" && min.is_number() && max.is_number()) {
    return fmt::format("{} to {} characters", number_text(min), number_text(max));
  }
  if (type == "length" && min.is_number()) return fmt::format("at least {} characters", number_text(min));
  if (type == "length" && max.is_number()) return fmt::format("at most {} characters", number_text(max));
  return {};
}

constexpr std::string_view type_name(Type type) {
  for (const auto& [name, known] : kRuleTypes) {
    if (known == type) return name;
  }
  for (const auto& [name, known] : kCompositions) {
    if (known == type) return name;
  }
  return {};
}

Value rule_value(const Criteria& criteria, std::string_view message) {
  Value item = Value::object({{"type", type_name(criteria.type)}});
  if (criteria.type == Type::kContains || criteria.type == Type::kRegex) item.set("value", criteria.value);
  if (criteria.min) item.set("min", *criteria.min);
  if (criteria.max) item.set("max", *criteria.max);
  item.set("message", message);
  return item;
}

Verdict judge(const Criteria& criteria, std::string_view notes, const Value& context, std::vector<std::string>& into);

Verdict judge_all(const Criteria& criteria, std::string_view notes, const Value& context,
                  std::vector<std::string>& into) {
  Verdict verdict = Verdict::kDoesNotApply;
  for (const Criteria& part : criteria.parts) {
    const Verdict of_part = judge(part, notes, context, into);
    if (of_part == Verdict::kFails || verdict == Verdict::kDoesNotApply) verdict = of_part;
  }
  return verdict;
}

Verdict judge_not(const Criteria& criteria, std::string_view notes, const Value& context,
                  std::vector<std::string>& into) {
  std::vector<std::string> ignored;
  const Criteria& part = criteria.parts.front();
  const Verdict verdict = judge(part, notes, context, ignored);
  if (verdict == Verdict::kDoesNotApply) return verdict;
  if (verdict == Verdict::kFails) return Verdict::kPasses;
  into.push_back(forbidding(part));
  return Verdict::kFails;
}

Verdict judge_any(const Criteria& criteria, std::string_view notes, const Value& context,
                  std::vector<std::string>& into) {
  std::vector<std::string> messages;
  bool applies = false;
  for (const Criteria& part : criteria.parts) {
    const Verdict verdict = judge(part, notes, context, messages);
    if (verdict == Verdict::kPasses) return Verdict::kPasses;
    applies = applies || verdict == Verdict::kFails;
  }
  if (!applies) return Verdict::kDoesNotApply;
  into.push_back(messages.size() == 1
                     ? messages.front()
                     : fmt::format("at least one of these is required: {}", fmt::join(messages, "; ")));
  return Verdict::kFails;
}

Verdict judge(const Criteria& criteria, std::string_view notes, const Value& context, std::vector<std::string>& into) {
  if (criteria.condition && !holds(*criteria.condition, context)) return Verdict::kDoesNotApply;
  switch (criteria.type) {
    case Type::kAnd:
      return judge_all(criteria, notes, context, into);
    case Type::kOr:
      return judge_any(criteria, notes, context, into);
    case Type::kNot:
      return judge_not(criteria, notes, context, into);
    case Type::kContains:
    case Type::kRegex:
    case Type::kLength:
    case Type::kSchema:
      break;
  }
  if (passes_rule(criteria, notes)) return Verdict::kPasses;
  into.push_back(requirement_line(rule_value(criteria, criteria.message)));
  return Verdict::kFails;
}

// The messages of the rules inside a composition, which has no message itself.
void collect_messages(const Criteria& criteria, std::vector<std::string>& into) {
  if (criteria.type == Type::kNot) return into.push_back(forbidding(criteria.parts.front()));
  if (!criteria.message.empty()) into.push_back(criteria.message);
  for (const Criteria& part : criteria.parts) collect_messages(part, into);
}

void add_requirements(const Criteria& criteria, const Value& context, Value& into) {
  if (criteria.condition && !holds(*criteria.condition, context)) return;
  if (criteria.type == Type::kAnd) {
    for (const Criteria& part : criteria.parts) add_requirements(part, context, into);
    return;
  }
  std::vector<std::string> messages;
  collect_messages(criteria, messages);
  into.push_back(
      rule_value(criteria, fmt::format("{}", fmt::join(messages, criteria.type == Type::kOr ? "; or: " : "; "))));
}

}  // namespace

std::optional<Criteria> read_criteria(const Reader& reader) {
  return reader.value().is_array() ? read_all(Type::kAnd, reader.items(), 0) : read_criteria_at(reader, 0);
}

std::vector<std::string> unmet_criteria(const Criteria& criteria, std::string_view notes, const Value& context) {
  std::vector<std::string> messages;
  judge(criteria, notes, context, messages);
  return messages;
}

std::string requirement_line(const Value& requirement) {
  std::string text = requirement.string_at("message").value_or("");
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  const std::string rule = rule_text(requirement);
  return rule.empty() ? text : fmt::format("{} ({})", text, rule);
}

Value to_requirements(const Criteria& criteria, const Value& context) {
  Value requirements = Value::array();
  add_requirements(criteria, context, requirements);
  return requirements;
}

}  // namespace sb::workflow

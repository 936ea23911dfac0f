#include "decision/render/form.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

// Whole numbers are written without a fraction: hosts show bounds and compare lengths.
Value number_value(double number) {
  if (std::nearbyint(number) == number && std::abs(number) < 9e15) return Value(static_cast<std::int64_t>(number));
  return Value(number);
}

std::string_view type_name(Field::Type type) {
  switch (type) {
    case Field::Type::kString:
      return "string";
    case Field::Type::kInteger:
      return "integer";
    case Field::Type::kNumber:
      return "number";
    case Field::Type::kBoolean:
      return "boolean";
  }
  return "string";
}

Value property_of(const Field& field) {
  Value property = Value::object({{"type", type_name(field.type)}});
  if (!field.title.empty()) property.set("title", field.title);
  if (!field.description.empty()) property.set("description", field.description);
  if (!field.format.empty()) property.set("format", field.format);
  const bool is_text = field.type == Field::Type::kString;
  if (field.minimum) property.set(is_text ? "minLength" : "minimum", number_value(*field.minimum));
  if (field.maximum) property.set(is_text ? "maxLength" : "maximum", number_value(*field.maximum));
  if (!field.default_value.is_null()) property.set("default", field.default_value);
  return property;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return text.find('@', at + 1) == std::string_view::npos && text.find_first_of(" \t\r\n") == std::string_view::npos;
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  const auto is_alpha = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_alpha(text.front())) return false;
  for (const char c : text.substr(0, colon)) {
    if (!is_alpha(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') return false;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '<' || c == '>' || c == '"') return false;
  }
  return true;
}

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_rfc3339(std::string(text) + "T00:00:00Z").has_value();
}

// What is wrong with an entry, in the form's language.
std::unexpected<Error> wrong(std::string_view locale, std::string_view key, const Value& count = {}) {
  const std::string name = fmt::format("wrong.{}", key);
  return fail(ErrorCode::kInvalid,
              count.is_null() ? std::string(text(locale, name)) : text_with(locale, name, "count", to_json(count)));
}

// The key of the text that says it; empty if it fits.
std::string_view format_fault(std::string_view format, std::string_view text) {
  if (format == "email" && !is_email(text)) return "email";
  if (format == "uri" && !is_uri(text)) return "uri";
  if (format == "date" && !is_date(text)) return "date";
  if (format == "date-time" && !parse_rfc3339(text)) return "time";
  return "";
}

Status check_string(const Value& property, const Value& value, std::string_view locale) {
  if (!value.is_string()) return wrong(locale, "text");
  const std::string& text = value.as_string();
  if (text.size() > limits::kInputBytes) return wrong(locale, "long");
  if (!is_utf8(text)) return wrong(locale, "encoding");
  const double length = static_cast<double>(count_code_points(text));
  const Value& least = property["minLength"];
  const Value& most = property["maxLength"];
  if (least.is_number() && length < least.as_number()) return wrong(locale, "least_characters", least);
  if (most.is_number() && length > most.as_number()) return wrong(locale, "most_characters", most);
  const std::string_view fault = format_fault(property.string_at("format").value_or(""), text);
  if (!fault.empty()) return wrong(locale, fault);
  return {};
}

Status check_number(const Value& property, const Value& value, bool is_whole, std::string_view locale) {
  if (!value.is_number() || !std::isfinite(value.as_number())) return wrong(locale, "number");
  const double number = value.as_number();
  if (is_whole && std::nearbyint(number) != number) return wrong(locale, "whole");
  const Value& least = property["minimum"];
  const Value& most = property["maximum"];
  if (least.is_number() && number < least.as_number()) return wrong(locale, "least", least);
  if (most.is_number() && number > most.as_number()) return wrong(locale, "most", most);
  return {};
}

}  // namespace

Value schema_of(const std::vector<Field>& fields) {
  Value properties = Value::object();
  Value required = Value::array();
  for (const Field& field : fields) {
    properties.set(field.key, property_of(field));
    if (field.required) required.push_back(field.key);
  }
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (required.size() > 0) schema.set("required", std::move(required));
  return schema;
}

Status check_property(const Value& property, const Value& value, std::string_view locale) {
  const std::string type = property.string_at("type").value_or("");
  if (type == "string") return check_string(property, value, locale);
  if (type == "integer" || type == "number") return check_number(property, value, type == "integer", locale);
  if (type == "boolean" && !value.is_bool()) return wrong(locale, "boolean");
  return {};
}

Status check_content(const Value& schema, const Value& content, std::string_view locale) {
  if (!content.is_object()) return fail(ErrorCode::kInvalid, std::string(text(locale, "form.unfit")));
  const auto about = [](const std::string& field, const std::unexpected<Error>& fault) {
    return fail(fault.error().code, fmt::format("{}: {}", field, fault.error().message));
  };
  const Value& properties = schema["properties"];
  for (const Value::Member& member : content.members()) {
    const Value* property = properties.find(member.name);
    if (!property) return about(member.name, wrong(locale, "field"));
    const Status fits = check_property(*property, member.value, locale);
    if (!fits) return about(member.name, std::unexpected(fits.error()));
  }
  const Value& required = schema["required"];
  if (!required.is_array()) return {};
  for (const Value& name : required.items()) {
    if (name.is_string() && !content.find(name.as_string())) return about(name.as_string(), wrong(locale, "missing"));
  }
  return {};
}

}  // namespace sb::decision

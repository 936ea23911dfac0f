#include "decision/render/form.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

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

std::string_view format_fault(std::string_view format, std::string_view text) {
  if (format == "email" && !is_email(text)) return "is not an e-mail address";
  if (format == "uri" && !is_uri(text)) return "is not a URI";
  if (format == "date" && !is_date(text)) return "is not a date such as 2026-11-15";
  if (format == "date-time" && !parse_rfc3339(text)) return "is not a time such as 2026-11-15T08:00:00Z";
  return "";
}

Status check_string(const Value& property, const Value& value) {
  if (!value.is_string()) return fail(ErrorCode::kInvalid, "must be text");
  const std::string& text = value.as_string();
  if (text.size() > limits::kInputBytes) return fail(ErrorCode::kLimit, "is too long");
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, "is not UTF-8");
  const double length = static_cast<double>(count_code_points(text));
  const Value& least = property["minLength"];
  const Value& most = property["maxLength"];
  if (least.is_number() && length < least.as_number()) {
    return fail(ErrorCode::kInvalid, fmt::format("needs at least {} characters", least.as_number()));
  }
  if (most.is_number() && length > most.as_number()) {
    return fail(ErrorCode::kInvalid, fmt::format("may have at most {} characters", most.as_number()));
  }
  const std::string_view fault = format_fault(property.string_at("format").value_or(""), text);
  if (!fault.empty()) return fail(ErrorCode::kInvalid, std::string(fault));
  return {};
}

Status check_number(const Value& property, const Value& value, bool is_whole) {
  if (!value.is_number()) return fail(ErrorCode::kInvalid, "must be a number");
  const double number = value.as_number();
  if (!std::isfinite(number)) return fail(ErrorCode::kInvalid, "must be a number");
  if (is_whole && std::nearbyint(number) != number) return fail(ErrorCode::kInvalid, "must be a whole number");
  const Value& least = property["minimum"];
  const Value& most = property["maximum"];
  if (least.is_number() && number < least.as_number()) {
    return fail(ErrorCode::kInvalid, fmt::format("must be at least {}", least.as_number()));
  }
  if (most.is_number() && number > most.as_number()) {
    return fail(ErrorCode::kInvalid, fmt::format("must be at most {}", most.as_number()));
  }
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

Status check_property(const Value& property, const Value& value) {
  const std::string type = property.string_at("type").value_or("");
  if (type == "string") return check_string(property, value);
  if (type == "integer" || type == "number") return check_number(property, value, type == "integer");
  if (type == "boolean" && !value.is_bool()) return fail(ErrorCode::kInvalid, "must be true or false");
  return {};
}

Status check_content(const Value& schema, const Value& content) {
  if (!content.is_object()) return fail(ErrorCode::kInvalid, "content: must be an object");
  const Value& properties = schema["properties"];
  for (const Value::Member& member : content.members()) {
    const Value* property = properties.find(member.name);
    if (!property) return fail(ErrorCode::kInvalid, member.name + ": is not a field of this form");
    if (Status fits = check_property(*property, member.value); !fits) {
      return fail(fits.error().code, member.name + ": " + fits.error().message);
    }
  }
  const Value& required = schema["required"];
  if (!required.is_array()) return {};
  for (const Value& name : required.items()) {
    if (name.is_string() && !content.find(name.as_string())) {
      return fail(ErrorCode::kInvalid, name.as_string() + ": is missing");
    }
  }
  return {};
}

}  // namespace sb::decision

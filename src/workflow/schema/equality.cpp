#include "workflow/schema/equality.hpp"

#include <cmath>
#include <map>

namespace sb::workflow {
namespace {

// Not canonical JSON, because that rounds large whole numbers.
void append_exact(const Value& value, std::string& out) {
  if (value.is_object()) {
    std::map<std::string_view, const Value*> members;
    for (const auto& member : value.members()) members.emplace(member.name, &member.value);
    out += '{';
    for (const auto& [name, member] : members) {
      out += quote_json(name) + ':';
      append_exact(*member, out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const Value& item : value.items()) {
      append_exact(item, out);
      out += ',';
    }
    out += ']';
  } else {
    out += value.is_integer() ? std::to_string(value.as_integer()) : to_canonical_json(value);
  }
}

bool is_nested(const Value& value) {
  return value.is_array() || value.is_object();
}

}  // namespace

std::string exact_text(const Value& value) {
  std::string text;
  append_exact(value, text);
  return text;
}

ValueComparison::ValueComparison(const Value& value)
    : value_(value), text_(is_nested(value) ? exact_text(value) : "") {}

bool ValueComparison::equals(const Value& other) const {
  if (is_nested(value_)) return other.kind() == value_.kind() && exact_text(other) == text_;
  if (value_.is_integer() && other.is_integer()) return value_.as_integer() == other.as_integer();
  if (value_.is_number() && other.is_number()) return value_.as_number() == other.as_number();
  return value_ == other;
}

bool is_multiple(double number, double of) {
  const double times = number / of;
  // With a tolerance, so that 0.3 is a multiple of 0.1.
  return std::isfinite(times) && std::abs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::abs(times));
}

bool has_type(const Value& value, SchemaType type) {
  switch (type) {
    case SchemaType::kNull:
      return value.is_null();
    case SchemaType::kBoolean:
      return value.is_bool();
    case SchemaType::kInteger:
      return value.is_integer() || (value.is_number() && std::abs(value.as_number()) <= 9007199254740992.0 &&
                                    std::floor(value.as_number()) == value.as_number());
    case SchemaType::kNumber:
      return value.is_number();
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kArray:
      return value.is_array();
    case SchemaType::kObject:
      return value.is_object();
  }
  return false;
}

}  // namespace sb::workflow

#include "base/document/setting_key.hpp"

namespace sb {

std::string stored_text(const Value& stored, std::string_view name) {
  return stored.string_at(name).value_or("");
}

std::int64_t stored_integer(const Value& stored, std::string_view name) {
  const Value& value = stored[name];
  return value.is_integer() ? value.as_integer() : 0;
}

std::vector<std::string> stored_texts(const Value& stored, std::string_view name) {
  std::vector<std::string> texts;
  const Value& list = stored[name];
  if (!list.is_array()) return texts;
  for (const Value& item : list.items()) {
    if (item.is_string()) texts.push_back(item.as_string());
  }
  return texts;
}

Value text_schema(std::size_t max_bytes, std::string_view pattern) {
  Value schema = Value::object({{"type", "string"}, {"maxLength", max_bytes}});
  if (!pattern.empty()) schema.set("pattern", pattern);
  return schema;
}

Value integer_schema(std::int64_t min, std::int64_t max) {
  return Value::object({{"type", "integer"}, {"minimum", min}, {"maximum", max}});
}

Value choice_schema(const std::vector<std::string_view>& words) {
  Value names = Value::array();
  for (const std::string_view word : words) names.push_back(word);
  return Value::object({{"enum", std::move(names)}});
}

Value list_schema(Value item, std::size_t max_items) {
  return Value::object({{"type", "array"}, {"maxItems", max_items}, {"items", std::move(item)}});
}

Value described(Value schema, std::string_view help) {
  if (help.empty()) return schema;
  schema.set("description", help);
  return schema;
}

}  // namespace sb

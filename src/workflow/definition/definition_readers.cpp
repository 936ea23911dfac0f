// Reads strings, lists and names, the elements of all parts of a definition.
#include "workflow/definition/definition_readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

constexpr std::size_t kKeyChars = 64;

void report_length(const Reader& reader, std::size_t count, std::size_t min, std::size_t max) {
  if (count > max) {
    reader.fault(fmt::format("the text has {} characters; at most {} are allowed", count, max), "Shorten it",
                 ErrorCode::kLimit, "too_long");
  } else if (count == 0) {
    fault(reader, "too_short", "the text is empty", "Write a text, or remove the key");
  } else {
    fault(reader, "too_short",
          fmt::format("the text has {} {}; it must be at least {} characters", count,
                      count == 1 ? "character" : "characters", min),
          "Lengthen it");
  }
}

bool report_size(const Reader& list, const ListRules& rules) {
  const std::size_t size = list.value().size();
  if (size > rules.max_items) {
    list.fault(fmt::format("the list has {} entries; at most {} are allowed", size, rules.max_items), "Shorten it",
               ErrorCode::kLimit, "too_many");
    return false;
  }
  if (size < rules.min_items) {
    fault(list, "too_few",
          size == 0 ? "the list is empty"
                    : fmt::format("the list has {} entries; at least {} are required", size, rules.min_items),
          size == 0 ? "Add an entry, or remove the key" : "Add entries");
  }
  return true;
}

void report_duplicate(const Reader& list, const Value& item, std::size_t first) {
  fault(list.at(item), "repeated", fmt::format("this is the same as entry {}", first + 1), "Remove one of them");
}

// Whether two values differ at a shallow look; members may be in any order.
bool differ_at_once(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return !(a.is_number() && b.is_number());
  if (!a.is_object()) return a.is_string() && a.as_string() != b.as_string();
  if (a.size() != b.size()) return true;
  if (a.size() == 0) return false;
  const Value* other = b.find(a.members()[0].name);
  return !other || differ_at_once(a.members()[0].value, *other);
}

void check_repeats(const Reader& list) {
  const auto& items = list.value().items();
  constexpr std::size_t kFew = 32;
  const auto has_likeness = [&](std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!differ_at_once(items[i], items[j])) return true;
    }
    return false;
  };
  bool may_repeat = items.size() > kFew;
  for (std::size_t i = 1; i < items.size() && !may_repeat; ++i) may_repeat = has_likeness(i);
  if (!may_repeat) return;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [at, is_new] = seen.emplace(to_canonical_json(items[i]), i);
    if (!is_new) report_duplicate(list, items[i], at->second);
  }
}

}  // namespace

void fault(const Reader& reader, std::string_view rule, std::string message, std::string remedy) {
  reader.fault(std::move(message), std::move(remedy), ErrorCode::kInvalid, rule);
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known, std::string_view otherwise) {
  const std::string nearest = nearest_name(wrong, known);
  return nearest.empty() ? std::string(otherwise) : fmt::format("Did you mean {}?", nearest);
}

bool finish(Fields& fields, std::initializer_list<std::string_view> required) {
  const bool are_known = fields.finish();
  const Reader& self = fields.self();
  if (!are_known || !self.value().is_object()) return false;
  bool is_whole = true;
  for (const std::string_view name : required) {
    if (fields.has(name)) continue;
    is_whole = false;
    fault(self, "missing_key", fmt::format("\"{}\" is missing", name), fmt::format("Add {}:", name));
  }
  return is_whole;
}

std::optional<std::string> read_text(const Reader& reader, std::size_t min, std::size_t max) {
  if (!reader.value().is_string()) return reader.string();
  const std::string& text = reader.value().as_string();
  // There are never more characters than bytes, and never fewer than a quarter of them.
  if (text.size() > max || text.size() < min * 4) {
    const std::size_t count = count_code_points(text);
    if (count > max || count < min) {
      report_length(reader, count, min, max);
      return std::nullopt;
    }
  }
  return text;
}

std::string text_of(Fields& fields, std::string_view name, std::size_t min, std::size_t max) {
  const auto reader = fields.get(name);
  return reader ? read_text(*reader, min, max).value_or("") : "";
}

bool flag_of(Fields& fields, std::string_view name, bool otherwise) {
  return fields.boolean(name).value_or(otherwise);
}

std::optional<int> read_count(const Reader& reader, int min, int max) {
  const Value& value = reader.value();
  if (value.kind() == Value::Kind::kNumber) {
    const double number = value.as_number();
    if (number >= min && number <= max && number == static_cast<int>(number)) return static_cast<int>(number);
  }
  const auto number = reader.integer(min, max);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::vector<Reader> items_of(Fields& fields, std::string_view name, const ListRules& rules) {
  const auto list = fields.get(name);
  if (!list) return {};
  auto items = list->items();
  if (!list->value().is_array() || !report_size(*list, rules)) return {};
  if (rules.duplicates == Duplicates::kFault) check_repeats(*list);
  return items;
}

std::vector<std::string> texts_of(Fields& fields, std::string_view name, const ListRules& rules) {
  const auto list = fields.get(name);
  if (!list) return {};
  if (!list->value().is_array()) return list->strings();
  if (!report_size(*list, rules)) return {};
  std::vector<std::string> out;
  out.reserve(list->value().size());
  for (const Value& item : list->value().items()) {
    if (auto text = read_text(list->at(item), rules.min_length, rules.max_length)) out.push_back(std::move(*text));
  }
  if (rules.duplicates == Duplicates::kFault && out.size() == list->value().size()) check_repeats(*list);
  return out;
}

std::vector<std::pair<std::string, std::string>> text_map_of(Fields& fields, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto map = fields.get(name);
  if (!map) return out;
  map->fields();
  if (!map->value().is_object()) return out;
  for (const auto& member : map->value().members()) {
    if (auto text = read_text(map->at(member.value))) out.emplace_back(member.name, std::move(*text));
  }
  return out;
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string name_of(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name);
  auto text = reader ? read_text(*reader) : std::nullopt;
  if (!text) return {};
  if (!is_name(*text)) {
    fault(*reader, "bad_name", fmt::format("\"{}\" is not a name", text->substr(0, 80)),
          "Use letters, digits and underscores, not starting with a digit");
  }
  return std::move(*text);
}

std::string key_of(Fields& fields, std::string_view name) {
  std::string key = name_of(fields, name);
  if (key.size() > kKeyChars) report_length(*fields.get(name), key.size(), 1, kKeyChars);
  return key;
}

std::optional<Condition> condition_of(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name);
  return reader ? read_condition(*reader) : std::nullopt;
}

std::optional<ModelTier> tier_of(Fields& fields) {
  return fields.choice<ModelTier>("modelTier", kModelTiers);
}

}  // namespace sb::workflow

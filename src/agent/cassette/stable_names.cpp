#include "agent/cassette/stable_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace sb::agent {

namespace {

constexpr std::string_view kOpen = "\xE2\x9F\xA8", kClose = "\xE2\x9F\xA9";  // ⟨ ⟩
constexpr std::size_t kIdCharacters = 26;                                    // after the prefix of make_id()

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_crockford(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z' && c != 'i' && c != 'l' && c != 'o' && c != 'u');
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// The prefix of an id that ends where this word ends: `s-` before 26 characters.
std::string_view id_prefix(std::string_view text, std::size_t start, std::string_view word) {
  if (word.size() != kIdCharacters || !std::ranges::all_of(word, is_crockford)) return {};
  if (start < 2 || (text[start - 1] != '-' && text[start - 1] != '_')) return {};
  std::size_t begin = start - 1;
  while (begin > 0 && text[begin - 1] >= 'a' && text[begin - 1] <= 'z' && start - begin < 10) --begin;
  return text.substr(begin, start - 1 - begin);
}

template <class Act>
Value mapped(const Value& value, const Act& act) {
  if (value.is_string()) return act(value.as_string());
  if (value.is_array()) {
    Value::Array items;
    for (const Value& item : value.items()) items.push_back(mapped(item, act));
    return items;
  }
  if (!value.is_object()) return value;
  Value object = Value::object();
  for (const auto& [name, part] : value.members()) object.set(name, mapped(part, act));
  return object;
}

}  // namespace

Normalizer::Normalizer(std::vector<std::pair<std::string, std::string>> known) : known_(std::move(known)) {
  std::erase_if(known_, [](const auto& entry) { return entry.first.empty(); });
  std::ranges::stable_sort(known_, std::ranges::greater(), [](const auto& entry) { return entry.first.size(); });
  for (auto& [value, name] : known_) {
    name = fmt::format("{}{}{}", kOpen, name, kClose);
    values_.emplace(name, value);
  }
}

std::string Normalizer::numbered(std::string_view prefix, std::string_view word) {
  if (const auto met = names_.find(word); met != names_.end()) return met->second;
  const std::string name = fmt::format("{}{} {}{}", kOpen, prefix, ++counts_[std::string(prefix)], kClose);
  names_.emplace(word, name);
  values_.emplace(name, word);
  return name;
}

std::string Normalizer::normalized_text(const std::string& original, const NameOf& name_of) const {
  std::string text = original;
  for (const auto& [value, name] : known_) replace_all(text, value, name);
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word = std::string_view(text).substr(at, end - at);
    const std::string_view prefix = id_prefix(text, at, word);
    if (!prefix.empty() && result.size() > prefix.size()) {
      result.resize(result.size() - prefix.size() - 1);
      result += name_of(prefix, text.substr(at - prefix.size() - 1, prefix.size() + 1 + word.size()));
    } else if ((word.size() == 40 || word.size() == 64) && std::ranges::all_of(word, is_hex)) {
      result += name_of("hash", word);
    } else {
      result += word;
    }
    at = end;
  }
  return result;
}

Value Normalizer::normalized(const Value& value) {
  const NameOf name_of = [this](std::string_view prefix, std::string_view word) { return numbered(prefix, word); };
  return mapped(value, [&](const std::string& text) { return Value(normalized_text(text, name_of)); });
}

Value Normalizer::normalized_known(const Value& value) const {
  const NameOf name_of = [this](std::string_view, std::string_view word) {
    const auto met = names_.find(word);
    return met == names_.end() ? std::string(word) : met->second;
  };
  return mapped(value, [&](const std::string& text) { return Value(normalized_text(text, name_of)); });
}

Value Normalizer::denormalized(const Value& value) const {
  return mapped(value, [this](const std::string& original) {
    if (!original.contains(kOpen)) return Value(original);
    std::string result;
    for (std::size_t at = 0; at < original.size();) {
      const std::size_t open = std::min(original.find(kOpen, at), original.size());
      const std::size_t close = original.find(kClose, open);
      result.append(original, at, open - at);
      if (close == std::string::npos) {
        result.append(original, open);
        break;
      }
      const std::string name = original.substr(open, close + kClose.size() - open);
      const auto known = values_.find(name);
      result += known == values_.end() ? name : known->second;
      at = close + kClose.size();
    }
    return Value(std::move(result));
  });
}

}  // namespace sb::agent

#include "agent/secrets/redact.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kShortestKnown = 6;

}  // namespace

Redactor::Redactor(std::vector<std::string> known) : known_(std::move(known)) {
  std::erase_if(known_, [](const std::string& value) { return value.size() < kShortestKnown; });
  std::ranges::sort(known_, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
}

std::string Redactor::clean(std::string_view text) const {
  std::string known_out(text);
  for (const std::string& value : known_) replace_all(known_out, value, "[redacted: secret]");
  const std::vector<SecretMatch> places = patterns_.find(known_out);
  if (places.empty()) return known_out;
  std::string cleaned;
  std::size_t at = 0;
  for (const SecretMatch& place : places) {
    cleaned += std::string_view(known_out).substr(at, place.begin - at);
    cleaned += fmt::format("{}{}]", kRedactedMark, place.kind);
    const std::string_view secret = std::string_view(known_out).substr(place.begin, place.end - place.begin);
    cleaned.append(static_cast<std::size_t>(std::ranges::count(secret, '\n')), '\n');
    at = place.end;
  }
  return cleaned + known_out.substr(at);
}

Value Redactor::clean_value(const Value& value) const {
  if (value.is_string()) return clean(value.as_string());
  if (value.is_array()) {
    Value cleaned = Value::array();
    for (const Value& item : value.items()) cleaned.push_back(clean_value(item));
    return cleaned;
  }
  if (!value.is_object()) return value;
  Value cleaned = Value::object();
  for (const Value::Member& member : value.members()) {
    cleaned.set(clean(member.name), clean_value(member.value));
  }
  return cleaned;
}

}  // namespace sb::agent

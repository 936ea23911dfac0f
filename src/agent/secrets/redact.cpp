#include "agent/secrets/redact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/document/document.hpp"
#include "base/text.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kShortestKnown = 6;
constexpr std::size_t kShortestEncoded = 8;

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The part of the base64 of `…value…` that does not depend on its neighbours, after `before` bytes of a group of three.
std::string base64_inside(std::string_view value, std::size_t before) {
  std::string bytes(before, '\0');
  bytes += value;
  std::string text;
  for (std::size_t bit = 0; bit + 6 <= bytes.size() * 8; bit += 6) {
    const auto byte_at = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) : 0u;
    };
    const unsigned pair = byte_at(bit / 8) << 8 | byte_at(bit / 8 + 1);
    text += kBase64[pair >> (10 - bit % 8) & 63];
  }
  return text.substr((before * 8 + 5) / 6);
}

std::string percent_encoded(std::string_view value, std::string_view digits) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-_.~").find(c) != std::string_view::npos;
    if (is_plain) {
      text += c;
    } else {
      text += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text;
}

std::string hex_of(std::string_view value, std::string_view digits) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

// The texts that the events of a stream carry, joined: every string below `delta`.
void add_texts(const Value& value, std::string& text) {
  if (value.is_string()) text += value.as_string();
  if (value.is_array()) {
    for (const Value& item : value.items()) add_texts(item, text);
  }
  if (!value.is_object()) return;
  for (const Value::Member& member : value.members()) {
    if (member.name != "type" && member.name != "id" && member.name != "role") add_texts(member.value, text);
  }
}

void add_deltas(const Value& value, std::string& text) {
  if (value.is_array()) {
    for (const Value& item : value.items()) add_deltas(item, text);
  }
  if (!value.is_object()) return;
  for (const Value::Member& member : value.members()) {
    if (member.name == "delta") {
      add_texts(member.value, text);
    } else {
      add_deltas(member.value, text);
    }
  }
}

template <class Clean>
Value mapped(const Value& value, const Clean& clean) {
  if (value.is_string()) return clean(value.as_string());
  if (value.is_array()) {
    Value cleaned = Value::array();
    for (const Value& item : value.items()) cleaned.push_back(mapped(item, clean));
    return cleaned;
  }
  if (!value.is_object()) return value;
  Value cleaned = Value::object();
  for (const Value::Member& member : value.members()) cleaned.set(clean(member.name), mapped(member.value, clean));
  return cleaned;
}

}  // namespace

std::vector<std::string> secret_forms(const std::string& value) {
  std::vector<std::string> forms = {value};
  if (value.size() < kShortestEncoded) return forms;
  for (std::size_t before = 0; before < 3; ++before) {
    std::string text = base64_inside(value, before);
    forms.push_back(text);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    forms.push_back(std::move(text));
  }
  for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    forms.push_back(percent_encoded(value, digits));
    forms.push_back(hex_of(value, digits));
  }
  return forms;
}

std::vector<std::string> secret_forms(const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (const std::string& value : values) std::ranges::move(secret_forms(value), std::back_inserter(all));
  return all;
}

Redactor::Redactor(std::vector<std::string> known) {
  for (const std::string& value : known) {
    if (value.size() < kShortestKnown) continue;
    for (std::string& form : secret_forms(value)) known_.push_back(std::move(form));
    // Inside a text that is itself JSON, as the arguments of a tool call are.
    const std::string quoted = quote_json(value);
    known_.push_back(quoted.substr(1, quoted.size() - 2));
  }
  std::ranges::sort(known_, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
}

std::string Redactor::clean_known(std::string_view text) const {
  std::string cleaned(text);
  for (const std::string& value : known_) replace_all(cleaned, value, "[redacted: secret]");
  return cleaned;
}

Value Redactor::clean_known_value(const Value& value) const {
  return mapped(value, [this](const std::string& text) { return clean_known(text); });
}

std::string Redactor::clean_json(std::string_view json) const {
  const auto value = parse_json(json);
  if (!value) return clean(json);
  const Value cleaned = clean_value(*value);
  return clean(cleaned == *value ? std::string(json) : to_json(cleaned));
}

std::string Redactor::clean_stream(std::string_view stream) const {
  if (stream.starts_with('{')) return clean_json(stream);
  std::string carried;
  for (std::string_view line : lines_of(stream)) {
    if (!line.starts_with("data:")) continue;
    const auto event = parse_json(trimmed(line.substr(5)));
    if (event) add_deltas(*event, carried);
  }
  const std::string whole = clean(carried);
  if (whole != carried) return fmt::format("[the text of a stream that contained a secret]\n{}", whole);
  constexpr std::string_view kData = "data: ";
  std::vector<std::string> lines;
  for (const std::string_view line : split(stream, '\n')) {
    const bool is_event = line.starts_with(kData);
    lines.push_back(is_event ? std::string(kData) + clean_json(line.substr(kData.size())) : std::string(line));
  }
  return clean(fmt::format("{}", fmt::join(lines, "\n")));
}

std::string Redactor::clean(std::string_view text) const {
  const std::string known_out = clean_known(text);
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
  return mapped(value, [this](const std::string& text) { return clean(text); });
}

}  // namespace sb::agent

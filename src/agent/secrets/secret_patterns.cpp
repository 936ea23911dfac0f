#include "agent/secrets/secret_patterns.hpp"

#include <algorithm>
#include <array>

#include "agent/data.hpp"
#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kBefore = 160;  // searched before a hint
constexpr std::size_t kReach = 768;   // and from the hint on

bool is_inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_of_a_token(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-./+=~").find(c) != std::string_view::npos;
}

// Placeholders that people write instead of a secret, and names in code.
bool looks_made_by_a_machine(std::string_view secret) {
  constexpr std::array<std::string_view, 14> kWords = {"example", "placeholder", "changeme",    "dummy",     "your",
                                                       "xxxx",    "test",        "fake",        "sample",    "redacted",
                                                       "getenv",  "environ",     "process.env", "1234567890"};
  const std::string lower = to_lower(secret);
  if (std::ranges::any_of(kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; })) {
    return false;
  }
  int digits = 0, letters = 0;
  std::array<bool, 256> seen = {};
  for (const char c : secret) {
    seen[static_cast<unsigned char>(c)] = true;
    digits += c >= '0' && c <= '9';
    letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  const auto kinds = std::ranges::count(seen, true);
  return digits >= 2 && letters >= 2 && kinds >= 8;
}

void find_pem(std::string_view text, std::vector<SecretMatch>& found) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
    const std::string_view label = text.substr(at + kBegin.size(), 64);
    const std::size_t closing = label.find(kDashes);
    if (closing == std::string_view::npos || label.substr(0, closing).find("PRIVATE KEY") == std::string_view::npos) {
      continue;
    }
    const std::size_t body = at + kBegin.size() + closing + kDashes.size();
    const std::size_t end = text.find(kEnd, body);
    if (end == std::string_view::npos) {  // cut off: everything after it may be the key
      found.push_back({at, text.size(), "private key"});
      return;
    }
    const std::size_t dashes = text.find(kDashes, end + kEnd.size());
    found.push_back({at, dashes == std::string_view::npos ? text.size() : dashes + kDashes.size(), "private key"});
    at = found.back().end - 1;
  }
}

// Of overlapping matches, the one that begins first; of those the longest.
std::vector<SecretMatch> without_overlaps(std::vector<SecretMatch> found) {
  std::ranges::stable_sort(found, [](const SecretMatch& a, const SecretMatch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<SecretMatch> kept;
  for (SecretMatch& place : found) {
    if (kept.empty() || place.begin >= kept.back().end) {
      kept.push_back(std::move(place));
    } else if (place.end > kept.back().end) {
      kept.back().end = place.end;
    }
  }
  return kept;
}

}  // namespace

SecretPatterns::SecretPatterns() {
  const auto document = parse_document("secrets.yaml", std::string(data_file("secrets.yaml")));
  SB_ASSERT(document);
  for (const Value& entry : document->root.items()) {
    const std::string expression = entry["pattern"].as_string();
    auto pattern = Pattern::compile(expression, Pattern::kFast);
    SB_ASSERT(pattern);
    Rule rule{.kind = entry["kind"].as_string(),
              .hints = {},
              .pattern = std::move(*pattern),
              .group = expression.find("(?<secret>") == std::string::npos ? 0u : 1u,
              .reach = entry["reach"].is_integer() ? static_cast<std::size_t>(entry["reach"].as_integer()) : kReach,
              .is_mixed = entry["mixed"] == Value(true)};
    for (const Value& hint : entry["hints"].items()) rule.hints.push_back(to_lower(hint.as_string()));
    rules_.push_back(std::move(rule));
  }
}

void SecretPatterns::find_by(const Rule& rule, std::string_view text, std::string_view lower,
                             std::vector<SecretMatch>& found) const {
  for (const std::string& hint : rule.hints) {
    std::size_t behind = 0;  // end of the last match: hints inside it are skipped
    for (std::size_t at = lower.find(hint); at != std::string_view::npos; at = lower.find(hint, at + 1)) {
      if (at < behind) continue;
      std::size_t from = at > kBefore ? at - kBefore : 0;
      while (from < at && is_inside_character(text[from])) ++from;
      std::size_t to = std::min(text.size(), at + rule.reach);
      while (to < text.size() && is_inside_character(text[to])) ++to;
      const std::string_view around = text.substr(from, to - from);
      for (std::size_t next = 0; next < around.size();) {
        const auto match = rule.pattern.find(around, next);
        if (!match || !*match) break;
        next = std::max((*match)->end, next + 1);
        const std::string_view secret = (*match)->groups[rule.group].value_or(std::string_view());
        if (secret.empty() || (rule.is_mixed && !looks_made_by_a_machine(secret))) continue;
        const auto begin = static_cast<std::size_t>(secret.data() - text.data());
        std::size_t end = begin + secret.size();
        while (end >= to && end < text.size() && is_of_a_token(text[end])) ++end;
        found.push_back({begin, end, rule.kind});
        behind = std::max(behind, end);
      }
    }
  }
}

std::vector<SecretMatch> SecretPatterns::find(std::string_view text) const {
  std::vector<SecretMatch> found;
  const std::string lower = to_lower(text);
  for (const Rule& rule : rules_) find_by(rule, text, lower, found);
  find_pem(text, found);
  return without_overlaps(std::move(found));
}

}  // namespace sb::agent

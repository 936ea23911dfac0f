#include "decision/classify.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "decision/data.hpp"

namespace sb::decision {
namespace {

constexpr std::size_t kMostTokens = 6;            // a longer answer is prose
constexpr std::size_t kLongestShape = 16u << 10;  // longer input is never meant as a choice

struct Lexicon {
  std::string version;
  std::unordered_set<std::string> numbers;
  std::unordered_set<std::string> words;
  std::unordered_set<std::string> approvals;
};

const Lexicon& lexicon() {
  static const Lexicon loaded = [] {
    const auto document = parse_document("choosing.yaml", std::string(data_file("choosing.yaml")));
    SB_ASSERT(document.has_value());
    Lexicon out;
    out.version = to_json(document->root["version"]);
    for (const auto& [locale, list] : document->root["numbers"].members()) {
      for (const Value& word : list.items()) out.numbers.insert(word.as_string());
    }
    for (const auto& [locale, list] : document->root["words"].members()) {
      for (const Value& word : list.items()) out.words.insert(word.as_string());
    }
    for (const auto& [locale, list] : document->root["approvals"].members()) {
      for (const Value& word : list.items()) out.approvals.insert(word.as_string());
    }
    return out;
  }();
  return loaded;
}

// Folds compatibility forms, case, ё, invisible characters and runs of spaces.
std::string folded(std::string_view text) {
  std::string spaced(text);
  for (std::size_t at = spaced.find("№"); at != std::string::npos; at = spaced.find("№", at))
    spaced.replace(at, 3, "no ");
  const std::string source = case_fold(nfkc(spaced));
  std::string out;
  bool is_gap = false;
  for (std::size_t at = 0; at < source.size();) {
    char32_t c = next_code_point(source, at);
    if (is_invisible(c) || c == 0xFE0F || c == 0x20E3) continue;
    if (is_space(c)) {
      is_gap = true;
      continue;
    }
    if (is_gap && !out.empty()) out += ' ';
    is_gap = false;
    if (c == 0x451) c = 0x435;  // ё
    if (c == 0x2019) c = '\'';
    append_code_point(out, c);
  }
  return out;
}

std::string without_punctuation(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (!is_punctuation(c) && !is_symbol(c) && !is_space(c)) append_code_point(out, c);
  }
  return out;
}

// Strips punctuation at both ends only: `1-й` and `i'd` keep theirs.
std::string_view trimmed_token(std::string_view token) {
  std::size_t first = token.size(), last = 0;
  for (std::size_t at = 0; at < token.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(token, at);
    if (is_punctuation(c) || is_symbol(c)) continue;
    first = std::min(first, begin);
    last = at;
  }
  return first < last ? token.substr(first, last - first) : std::string_view();
}

bool is_ordinal_list(std::string_view text) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      if (digits == 0) return false;
      digits = 0;
    } else if (text[i] >= '0' && text[i] <= '9') {
      if (digits == 0 && text[i] == '0') return false;
      if (++digits > 3) return false;
    } else {
      return false;
    }
  }
  return digits > 0;
}

Input select_ordinals(std::string_view text, const InputContext& question) {
  std::vector<int> ordinals;
  int number = 0;
  bool is_over = false;
  for (const char c : text) {
    if (c == ',') {
      ordinals.push_back(number);
      number = 0;
    } else {
      number = number * 10 + (c - '0');
    }
  }
  ordinals.push_back(number);
  if (question.select.mode != SelectMode::kMany && ordinals.size() > 1) return Invalid{InvalidReason::kArity};
  for (const int ordinal : ordinals) is_over |= ordinal > question.option_count;
  if (is_over) return Invalid{InvalidReason::kRange};
  std::vector<int> sorted = ordinals;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return Invalid{InvalidReason::kDuplicate};
  const int count = static_cast<int>(ordinals.size());
  if (question.select.mode == SelectMode::kMany && (count < question.select.min || count > question.select.max)) {
    return Invalid{InvalidReason::kArity};
  }
  return Selection{std::move(ordinals)};
}

// Only number forms, punctuation and symbols, with at least one number.
bool is_bare_number(std::string_view text) {
  bool has_number = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_digit(c)) {
      has_number = true;
    } else if (!is_punctuation(c) && !is_symbol(c) && !is_space(c) && !is_mark(c) && !is_invisible(c)) {
      return false;
    }
  }
  return has_number;
}

bool is_choosing_phrase(std::string_view text) {
  std::size_t tokens = 0, numbers = 0;
  bool has_spare_one = false;  // "the second one": here "one" is not a second number
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string token(trimmed_token(text.substr(at, space - at)));
    at = space + 1;
    if (token.empty()) continue;
    if (++tokens > kMostTokens) return false;
    const bool is_word = lexicon().words.contains(token);
    const bool is_number = is_bare_number(token) || lexicon().numbers.contains(token);
    if (is_number && is_word) {
      has_spare_one = true;
    } else if (is_number) {
      ++numbers;
    } else if (!is_word) {
      return false;
    }
  }
  return numbers == 1 || (numbers == 0 && has_spare_one);
}

bool is_key(std::string_view key) {
  if (key.empty() || key[0] < 'a' || key[0] > 'z') return false;
  return std::ranges::all_of(
      key, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

// The first word of a label, folded.
std::string first_word(std::string_view label) {
  const std::string text = folded(label);
  return std::string(trimmed_token(std::string_view(text).substr(0, text.find(' '))));
}

bool contains(std::span<const std::string> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

}  // namespace

std::string_view to_string(InvalidReason reason) {
  switch (reason) {
    case InvalidReason::kEncoding:
      return "encoding";
    case InvalidReason::kEmpty:
      return "empty";
    case InvalidReason::kRange:
      return "range";
    case InvalidReason::kDuplicate:
      return "duplicate";
    case InvalidReason::kArity:
      return "arity";
    case InvalidReason::kShape:
      return "shape";
    case InvalidReason::kNearCommand:
      return "near-command";
  }
  return {};
}

bool reads_as_approval(std::string_view label) {
  return lexicon().approvals.contains(first_word(label));
}

std::string_view choosing_version() {
  return lexicon().version;
}

bool reads_as_command(std::string_view label, std::span<const std::string> commands) {
  const std::string bare = without_punctuation(folded(label));
  return contains(commands, bare);
}

bool reads_as_number(std::string_view label) {
  const std::string text = folded(label);
  bool has_digit = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_digit(c)) {
      has_digit = true;
    } else if (c != ',' && c != ' ' && c != '+' && c != '-') {
      return false;
    }
  }
  return has_digit;
}

std::vector<std::pair<std::string, std::string>> compact_fields(std::string_view input) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (std::size_t at = 0; at <= input.size();) {
    const std::size_t space = std::min(input.find(' ', at), input.size());
    const std::string_view token = input.substr(at, space - at);
    const std::size_t equals = token.find('=');
    if (equals == std::string_view::npos || !is_key(token.substr(0, equals))) return {};
    fields.emplace_back(token.substr(0, equals), token.substr(equals + 1));
    at = space + 1;
  }
  return fields;
}

Input classify(std::string_view input, const InputContext& question) {
  if (!is_utf8(input)) return Invalid{InvalidReason::kEncoding};
  if (is_blank(input)) return Invalid{InvalidReason::kEmpty};
  if (contains(question.commands, input)) return CancelCommand{};
  if (is_ordinal_list(input)) return select_ordinals(input, question);
  if (auto fields = compact_fields(input); !fields.empty()) {
    const auto has_key_in = [&](std::span<const std::string> keys) {
      return std::ranges::any_of(fields, [&](const auto& field) { return contains(keys, field.first); });
    };
    if (has_key_in(question.pending_keys)) return CompactAnswer{std::move(fields)};
    if (has_key_in(question.other_keys)) return Invalid{InvalidReason::kShape};
  }
  // Nothing that could be mistaken for a selection is longer than the longest label.
  std::size_t longest = kLongestShape;
  for (const auto& label : question.labels) longest = std::max(longest, label.size() * 4);
  if (input.size() > longest) return FreeText{};
  const std::string text = folded(input);
  if (contains(question.commands, without_punctuation(text))) {
    if (question.command_case_fold && contains(question.commands, case_fold(input))) return CancelCommand{};
    return Invalid{InvalidReason::kNearCommand};
  }
  if (is_bare_number(text) || is_bare_number(input) || is_choosing_phrase(text)) return Invalid{InvalidReason::kShape};
  for (const auto& label : question.labels) {
    if (folded(label) == text) return Invalid{InvalidReason::kShape};
  }
  return FreeText{};
}

}  // namespace sb::decision

#include "decision/gstack_literals.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text/pattern.hpp"
#include "decision/data.hpp"

namespace sb::decision {
namespace {

// `skip [all] review|checks` as an expression: whole words with any blanks between them.
std::string expression_of(std::string_view phrase) {
  std::string expression = "\\b";
  bool needs_blank = false;
  while (!phrase.empty()) {
    const std::size_t end = std::min(phrase.find(' '), phrase.size());
    std::string_view word = phrase.substr(0, end);
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
    if (word == ":") return expression + "\\s*:";
    if (needs_blank) expression += "\\s+";
    needs_blank = !word.starts_with('[');
    if (!needs_blank) word = word.substr(1, word.size() - 2);
    expression += "(?:" + std::string(word) + (needs_blank ? ")" : "\\s+)?");
  }
  return expression + "\\b";
}

const Pattern& instruction_like() {
  static const Pattern pattern = [] {
    std::string expression;
    for (const Value& phrase : gstack_literals()["instruction_like"].items()) {
      expression += expression.empty() ? "" : "|";
      expression += expression_of(phrase.as_string());
    }
    auto compiled = Pattern::compile(expression, Pattern::kIgnoreCase);
    SB_ASSERT(compiled.has_value());
    return *compiled;
  }();
  return pattern;
}

}  // namespace

const Value& gstack_literals() {
  static const Value literals = [] {
    auto parsed = parse_json(data_file("gstack-literals.json"));
    SB_ASSERT(parsed.has_value());
    return std::move(*parsed);
  }();
  return literals;
}

bool is_gstack_word(std::string_view name, std::string_view word) {
  return std::ranges::any_of(gstack_literals()[name].items(),
                             [&](const Value& item) { return item.as_string() == word; });
}

std::string gstack_words(std::string_view name) {
  std::string words;
  for (const Value& item : gstack_literals()[name].items()) words += (words.empty() ? "" : ", ") + item.as_string();
  return words;
}

std::vector<TextRange> instruction_like_ranges(std::string_view text) {
  std::vector<TextRange> ranges;
  for (std::size_t at = 0; at < text.size();) {
    const auto match = instruction_like().find(text, at);
    // A text that could not be examined to its end counts as one long match.
    if (!match) return {{0, text.size()}};
    if (!*match) break;
    ranges.push_back({(*match)->begin, (*match)->end});
    at = (*match)->end;
  }
  return ranges;
}

bool is_instruction_like(std::string_view text) {
  return !instruction_like_ranges(text).empty();
}

}  // namespace sb::decision

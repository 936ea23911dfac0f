#include "decision/lint/sentence.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/lint/mask.hpp"

namespace sb::decision::linting {
namespace {

bool is_wide_terminator(char32_t c) {
  return c == U'。' || c == U'！' || c == U'？' || c == U'．' || c == U'｡';
}

bool is_terminator(char32_t c) {
  return c == U'.' || c == U'!' || c == U'?' || c == U'…' || c == U'؟' || c == U'।' || is_wide_terminator(c);
}

bool is_closing(char32_t c) {
  return c == U')' || c == U'"' || c == U'\'' || c == U'”' || c == U'’' || c == U'»' || c == U'“' || c == U']' ||
         c == U'」' || c == U'』' || c == U'）' || c == U'*' || c == U'_';
}

// The first letter or digit after `at`; 0 when there is none.
char32_t first_word_character(std::string_view line, std::size_t at) {
  while (at < line.size()) {
    const char32_t c = next_code_point(line, at);
    if (is_letter(c) || is_digit(c)) return c;
  }
  return 0;
}

bool is_small(char32_t c) {
  std::string text;
  append_code_point(text, c);
  return is_letter(c) && !is_unspaced_script(c) && case_fold(text) == text;
}

// Whether the dot at `dot` belongs to an abbreviation or an initial.
bool is_abbreviation(std::string_view line, std::size_t dot, const std::vector<const Lexicon*>& lexicons) {
  const auto upto = line.substr(0, dot + 1);
  std::size_t begin = dot;
  while (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '.' && line[begin - 1] != '(') --begin;
  const auto token = line.substr(begin, dot - begin);
  std::size_t at = 0;
  if (!token.empty() && is_letter(next_code_point(token, at)) && at == token.size()) return true;
  const std::string folded = fold_same_length(upto.substr(upto.size() > 24 ? align(upto, upto.size() - 24) : 0));
  return std::any_of(lexicons.begin(), lexicons.end(),
                     [&](const Lexicon* lexicon) { return lexicon->abbreviations.matches(folded); });
}

}  // namespace

std::size_t align(std::string_view text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

std::optional<std::size_t> second_sentence(std::string_view line, const std::vector<Span>& skipped,
                                           const std::vector<const Lexicon*>& lexicons) {
  std::size_t at = 0;
  bool has_words = false;
  while (at < line.size()) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(line, at);
    has_words = has_words || is_letter(c) || is_digit(c);
    if (!is_terminator(c) || !has_words || any_contains(skipped, begin)) continue;
    bool is_wide = is_wide_terminator(c), is_strong = c == U'!' || c == U'?' || is_wide || c == U'؟';
    std::size_t dots = c == U'.' ? 1 : c == U'…' ? 3 : 0;
    while (at < line.size()) {
      std::size_t next = at;
      const char32_t d = next_code_point(line, next);
      if (!is_terminator(d) && !is_closing(d)) break;
      is_wide = is_wide || is_wide_terminator(d);
      is_strong = is_strong || d == U'!' || d == U'?' || is_wide_terminator(d);
      dots += d == U'.';
      at = next;
    }
    const char32_t word = first_word_character(line, at);
    if (word == 0) return std::nullopt;
    std::size_t peek = at;
    if (!is_wide && !is_space(next_code_point(line, peek))) continue;
    if (!is_strong && is_small(word)) continue;
    if (!is_strong && dots == 1 && is_abbreviation(line, begin, lexicons)) continue;
    return at;
  }
  return std::nullopt;
}

}  // namespace sb::decision::linting

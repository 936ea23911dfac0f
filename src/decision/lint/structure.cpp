#include "decision/lint/structure.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/lint/sentence.hpp"

namespace sb::decision::linting {
namespace {

Span span_of(std::string_view text, std::string_view part) {
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  return {begin, begin + part.size()};
}

// Markup before the first word: `## `, `**`, `> `, and the like.
std::size_t noise_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const char32_t c = next_code_point(text, next);
    const bool is_markup = c == U'*' || c == U'_' || c == U'`' || c == U'~' || c == U'>' || c == U'|';
    const bool is_heading = c == U'#' && (next >= text.size() || text[next] == '#' || text[next] == ' ');
    const bool is_bullet = (c == U'-' || c == U'+' || c == U'•' || c == U'—' || c == U'–') &&
                           (next < text.size() && (text[next] == ' ' || text[next] == '-'));
    const bool is_mark = is_markup || is_heading || is_bullet || is_space(c) || is_invisible(c) || is_emoji(c) ||
                         (at > 0 && c == 0xFE0F);
    if (!is_mark) break;
    at = next;
  }
  return at;
}

enum class LabelKind { kNone, kLine, kPrefix };

struct Label {
  LabelKind kind = LabelKind::kNone;
  std::size_t length = 0;
};

Label label_of(std::string_view line, const std::vector<const Lexicon*>& lexicons) {
  const std::string folded = fold_same_length(line.substr(0, align(line, std::min<std::size_t>(line.size(), 200))));
  for (const Lexicon* lexicon : lexicons) {
    if (lexicon->label_lines.matches(folded)) return {LabelKind::kLine, line.size()};
    if (lexicon->labels.empty()) continue;
    if (const auto match = lexicon->labels.find(folded)) {
      const bool is_whole = trimmed(line.substr(std::min(line.size(), match->end))).empty();
      return {is_whole ? LabelKind::kLine : LabelKind::kPrefix, match->end};
    }
  }
  return {};
}

void check_instruction(const Structure& s, std::string_view line) {
  const Span span = span_of(s.text, line);
  if (word_units(line) > s.limits.instruction_words) s.report.add(rule::kInstructionLong, span);
  std::vector<Span> skipped;
  for (const auto* spans : {&s.masked.quotes, &s.masked.code}) {
    for (const Span& q : *spans) {
      if (q.overlaps(span) && q.begin >= span.begin) skipped.push_back({q.begin - span.begin, q.end - span.begin});
    }
  }
  std::sort(skipped.begin(), skipped.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  if (const auto second = second_sentence(line, skipped, s.lexicons)) {
    s.report.add(rule::kNotOneSentence, {span.begin + *second, span.end});
  }
}

// The lines before the options: labels, the instruction, and unexpected text. Returns the instruction's line.
std::optional<Line> check_before(const Structure& s, const Block& block) {
  std::vector<Line> plain;
  bool has_label = false;
  for (Line line : block.before) {
    const std::size_t noise = noise_length(line.text);
    const auto text = trimmed(line.text.substr(noise));
    const Label label = label_of(text, s.lexicons);
    if (label.kind != LabelKind::kNone) {
      const Span at = span_of(s.text, text);
      s.report.add(rule::kLabel, {at.begin, at.begin + std::min(label.length, text.size())});
      has_label = true;
    }
    if (label.kind == LabelKind::kLine) continue;
    if (label.kind == LabelKind::kPrefix) line.text = trimmed(text.substr(label.length));
    plain.push_back(line);
  }
  if (plain.empty() && !has_label) s.report.add(rule::kNoInstruction, block.options.front().span);
  if (plain.empty()) return std::nullopt;
  if (plain.size() > 1) s.report.add(rule::kTextBefore, {plain.front().span.begin, plain[plain.size() - 2].span.end});
  const auto line = trimmed(plain.back().text.substr(noise_length(plain.back().text)));
  check_instruction(s, line);
  return plain.back();
}

void check_leading_noise(const Structure& s) {
  const auto body = s.text.substr(s.within.begin, s.within.size());
  if (const std::size_t noise = noise_length(body)) {
    s.report.add(rule::kLeadingNoise, {s.within.begin, s.within.begin + noise});
  }
}

void check_numbering(const Structure& s, const Block& block) {
  if (!block.is_strict) return s.report.add(rule::kNumbering, block.span());
  int expected = 1;
  for (const OptionLine& option : block.options) {
    if (option.number != expected++) return s.report.add(rule::kNumbering, option.span);
  }
}

void check_counts(const Structure& s, const Block& block) {
  const auto count = static_cast<int>(block.options.size());
  if (count > s.limits.options) s.report.add(rule::kTooManyOptions, block.span());
  if (count == 1) s.report.add(rule::kSingleOption, block.span());
}

}  // namespace

std::vector<Span> check_structure(const Structure& s, const ParsedText& parsed) {
  const Block& first = parsed.blocks.front();
  check_leading_noise(s);
  const auto instruction = check_before(s, first);
  const bool gap_is_wrong = !first.before.empty() && (first.blank_lines != 1 || !first.has_empty_gap);
  if (gap_is_wrong) s.report.add(rule::kBlankLine, first.options.front().span);
  if (first.has_inner_blank) s.report.add(rule::kBlankLine, first.span());
  check_numbering(s, first);
  std::vector<Span> question;
  if (instruction) question.push_back(instruction->span);
  for (const Block& block : parsed.blocks) {
    check_counts(s, block);
    check_options(s, block.options);
    question.push_back(block.span());
    if (&block != &first && !block.before.empty()) question.push_back(block.before.back().span);
  }
  if (parsed.blocks.size() > 1) s.report.add(rule::kMultiBlock, parsed.blocks[1].span());
  const auto& after = parsed.blocks.back().after;
  if (!after.empty()) s.report.add(rule::kTextAfter, {after.front().span.begin, after.back().span.end});
  for (const Line& line : after) {
    if (label_of(trimmed(line.text), s.lexicons).kind == LabelKind::kLine) s.report.add(rule::kLabel, line.span);
  }
  return question;
}

}  // namespace sb::decision::linting

#include "decision/lint/block.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"

namespace sb::decision::linting {
namespace {

struct Marker {
  std::size_t length = 0;      // of the marker, without the following space
  std::size_t text_begin = 0;  // where the option's text starts
  int number = 0;              // of a strict one
  bool is_numeric = false;     // looks like a number, strict or not
};

bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

// `1) text`: no leading zero, one space, then text.
std::optional<Marker> strict_marker(std::string_view line) {
  std::size_t digits = 0;
  while (digits < line.size() && digits < 4 && is_ascii_digit(line[digits])) ++digits;
  if (digits == 0 || digits == 4 || line[0] == '0') return std::nullopt;
  if (line.substr(digits, 2) != ") " || digits + 2 >= line.size()) return std::nullopt;
  if (line[digits + 2] == ' ' || line[digits + 2] == '\t' || line[digits + 2] == '\r') return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) number = number * 10 + (line[i] - '0');
  return Marker{digits + 1, digits + 2, number, true};
}

// Number forms beyond ASCII: full-width digits, circled numbers, keycaps, other scripts' digits.
std::size_t wide_number(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const char32_t c = next_code_point(text, next);
    const bool is_keycap_part = at > 0 && (c == 0xFE0F || c == 0x20E3);
    if (!(is_digit(c) || is_keycap_part)) break;
    at = next;
  }
  return at;
}

// Length of a closing mark of an ordinal: ) . : ） ．、 ] and nothing else.
std::size_t closing_mark(std::string_view text) {
  for (std::string_view mark : {")", ".", ":", "]", "）", "．", "、", "：", "】"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

std::optional<Marker> finish_marker(std::string_view line, std::size_t length, bool is_numeric, bool needs_space) {
  std::size_t text = length;
  while (text < line.size() && (line[text] == ' ' || line[text] == '\t' || line[text] == '*' || line[text] == '_'))
    ++text;
  if (text >= line.size() || line[text] == '\r') return std::nullopt;
  if (needs_space && text == length) return std::nullopt;
  return Marker{length, text, 0, is_numeric};
}

std::optional<Marker> lenient_marker(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && at < 8 && (line[at] == ' ' || line[at] == '\t' || line[at] == '*' || line[at] == '_')) {
    // "* text" is a bullet, "**1)** text" is an emphasised number.
    if (line[at] == '*' && at + 1 < line.size() && line[at + 1] == ' ') return finish_marker(line, at + 1, false, true);
    ++at;
  }
  const auto rest = line.substr(at);
  for (std::string_view bullet : {"-", "+", "\u2022", "\u2013", "\u2014", "\u25E6", "\u25AA", "\u25CF", "\u2610"}) {
    if (rest.starts_with(bullet)) return finish_marker(line, at + bullet.size(), false, true);
  }
  std::size_t inner = at + (rest.starts_with("(") || rest.starts_with("[") ? 1 : 0);
  if (rest.starts_with("（") || rest.starts_with("【")) inner = at + 3;
  const std::size_t digits = wide_number(line.substr(inner));
  if (digits > 0 && digits <= 8) {
    const std::size_t close = closing_mark(line.substr(inner + digits));
    const bool is_plain = is_ascii_digit(line[inner]) && line.find("\u20E3") == std::string_view::npos;
    if (close == 0 && is_plain) return std::nullopt;
    // A decimal or a version at the start of a line is not an ordinal.
    const std::size_t behind = inner + digits + close;
    if (close == 1 && line[behind - 1] == '.' && behind < line.size() && is_ascii_digit(line[behind]))
      return std::nullopt;
    return finish_marker(line, behind, true, close == 1 && line[behind - 1] != ')');
  }
  std::size_t letter_end = inner;
  if (inner >= line.size()) return std::nullopt;
  const char32_t letter = next_code_point(line, letter_end);
  if (!is_letter(letter) || is_unspaced_script(letter)) return std::nullopt;
  const std::size_t close = closing_mark(line.substr(letter_end));
  if (close == 0 || line[letter_end] == ':') return std::nullopt;
  return finish_marker(line, letter_end + close, true, true);
}

enum class LineKind { kBlank, kText, kIndented, kStrict, kLoose };

struct Marked {
  LineKind kind = LineKind::kText;
  Marker marker;
};

Marked mark_line(const Line& line, const std::vector<Span>& code) {
  if (line.is_blank()) return {LineKind::kBlank, {}};
  if (const auto strict = strict_marker(line.text)) return {LineKind::kStrict, *strict};
  if (!any_contains(code, line.span.begin)) {
    if (const auto loose = lenient_marker(line.text)) return {LineKind::kLoose, *loose};
  }
  const bool indented = line.text.starts_with(" ") || line.text.starts_with("\t");
  return {indented ? LineKind::kIndented : LineKind::kText, {}};
}

OptionLine option_of(const Line& line, const Marker& marker) {
  OptionLine option;
  option.span = line.span;
  std::size_t end = line.text.size();
  while (end > marker.text_begin && (line.text[end - 1] == '\r' || line.text[end - 1] == ' ')) --end;
  option.text = line.text.substr(marker.text_begin, end - marker.text_begin);
  option.marker = line.text.substr(0, marker.length);
  option.number = marker.number;
  return option;
}

// Processes the lines once; a block is closed when a numbering restarts after other text.
class Assembler {
 public:
  Assembler(const std::vector<Line>& lines, const std::vector<Marked>& marks, bool is_strict)
      : lines_(lines), marks_(marks), is_strict_(is_strict) {}

  std::vector<Block> run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) take(i);
    if (!blocks_.empty()) blocks_.back().after = std::move(pending_);
    return std::move(blocks_);
  }

 private:
  bool is_option(std::size_t i) const {
    if (marks_[i].kind == LineKind::kStrict) return true;
    if (marks_[i].kind != LineKind::kLoose) return false;
    if (!is_strict_) return true;
    // Among strict option lines, a line with a wrong number joins only its neighbours; bullets elsewhere are text.
    const bool after_option = i > 0 && marks_[i - 1].kind == LineKind::kStrict;
    const bool before_option = i + 1 < lines_.size() && marks_[i + 1].kind == LineKind::kStrict;
    const bool indented = lines_[i].text.starts_with(" ") || lines_[i].text.starts_with("\t");
    return marks_[i].marker.is_numeric && (after_option || before_option) && !indented;
  }

  void take(std::size_t i) {
    if (is_option(i)) return take_option(i);
    if (marks_[i].kind == LineKind::kBlank) {
      ++blanks_;
      only_empty_ = only_empty_ && lines_[i].text.empty();
      return;
    }
    const bool is_below = !blocks_.empty() && pending_.empty() && blanks_ == 0 &&
                          (lines_[i].text.starts_with(" ") || lines_[i].text.starts_with("\t"));
    if (is_below) {
      blocks_.back().options.back().below.push_back(lines_[i].span);
    } else {
      pending_.push_back(lines_[i]);
    }
    forget_blanks();
  }

  void take_option(std::size_t i) {
    OptionLine option = option_of(lines_[i], marks_[i].marker);
    if (blocks_.empty()) {
      open(std::move(option));
    } else if (!pending_.empty() && starts_over(option)) {
      open(std::move(option));
    } else {
      Block& block = blocks_.back();
      for (const Line& line : pending_) block.options.back().below.push_back(line.span);
      if (blanks_ > 0) block.has_inner_blank = true;
      block.options.push_back(std::move(option));
    }
    pending_.clear();
    forget_blanks();
  }

  bool starts_over(const OptionLine& option) const {
    const OptionLine& last = blocks_.back().options.back();
    if (option.number > 0) return option.number == 1 || option.number != last.number + 1;
    return option.marker == blocks_.back().options.front().marker;
  }

  void open(OptionLine option) {
    Block block;
    block.is_strict = is_strict_;
    block.before = std::move(pending_);
    block.blank_lines = blanks_;
    block.has_empty_gap = only_empty_;
    block.options.push_back(std::move(option));
    blocks_.push_back(std::move(block));
  }

  void forget_blanks() {
    blanks_ = 0;
    only_empty_ = true;
  }

  const std::vector<Line>& lines_;
  const std::vector<Marked>& marks_;
  bool is_strict_;
  std::vector<Block> blocks_;
  std::vector<Line> pending_;
  int blanks_ = 0;
  bool only_empty_ = true;
};

}  // namespace

bool Line::is_blank() const {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::vector<Line> split_lines(std::string_view text, Span within) {
  std::vector<Line> lines;
  std::size_t at = within.begin;
  while (at <= within.end) {
    std::size_t end = text.substr(0, within.end).find('\n', at);
    if (end == std::string_view::npos) end = within.end;
    lines.push_back({{at, end}, text.substr(at, end - at)});
    at = end + 1;
  }
  return lines;
}

Span Block::span() const {
  std::size_t end = options.back().span.end;
  if (!options.back().below.empty()) end = std::max(end, options.back().below.back().end);
  return {options.front().span.begin, end};
}

ParsedText parse_blocks(std::string_view text, Span within, const std::vector<Span>& code) {
  const std::vector<Line> lines = split_lines(text, within);
  std::vector<Marked> marks;
  marks.reserve(lines.size());
  std::size_t strict = 0, loose = 0;
  for (const Line& line : lines) {
    marks.push_back(mark_line(line, code));
    strict += marks.back().kind == LineKind::kStrict;
    loose += marks.back().kind == LineKind::kLoose;
  }
  // "1) main, 2) dev" is one line with an inline choice, not an option.
  if (strict == 1 && loose == 0) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (marks[i].kind == LineKind::kStrict && lines[i].text.find(" 2) ") != std::string_view::npos) return {};
    }
  }
  if (strict == 0 && loose < 2) return {};
  return {Assembler(lines, marks, strict > 0).run()};
}

}  // namespace sb::decision::linting

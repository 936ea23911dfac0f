#include "decision/lint/mask.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sb::decision::linting {
namespace {

// A mark without a partner must not make every later one search the whole text.
constexpr std::size_t kCodeReach = 1024;
constexpr std::size_t kQuoteReach = 400;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool is_ascii_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0;
}

bool is_word_byte(unsigned char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0x80;
}

// The code point of a two-byte sequence, folded; both sides stay two bytes long.
unsigned fold_two_bytes(unsigned c) {
  if (c == 0x00D7) return c;
  if (c >= 0x00C0 && c <= 0x00DE) return c + 0x20;
  if (c == 0x0130) return 0x0131;
  if (c == 0x0178) return 0x00FF;
  if ((c >= 0x0100 && c <= 0x0137) || (c >= 0x014A && c <= 0x0177)) return c | 1;
  if ((c >= 0x0139 && c <= 0x0148) || (c >= 0x0179 && c <= 0x017E)) return c + (c & 1);
  if (c == 0x0401 || c == 0x0451) return 0x0435;
  if (c >= 0x0400 && c <= 0x040F) return c + 0x50;
  if (c >= 0x0410 && c <= 0x042F) return c + 0x20;
  if (c == 0x0490) return 0x0491;
  return c;
}

struct Quote {
  std::string_view open;
  std::array<std::string_view, 2> close;
};

constexpr Quote kQuotes[] = {
    {"\u201C", {"\u201D", ""}},        // “ ”
    {"\u201E", {"\u201C", "\u201D"}},  // „ “ and „ ”
    {"\u00AB", {"\u00BB", ""}},        // « »
    {"\u300C", {"\u300D", ""}},        // 「 」
    {"\u300E", {"\u300F", ""}},        // 『 』
    {"\u2039", {"\u203A", ""}},        // ‹ ›
    {"\u2018", {"\u2019", ""}},        // ‘ ’
};

// Bytes a mark may start with.
struct Opens {
  bool may[256] = {};
  constexpr Opens() {
    for (unsigned char c : {0x60, 0x22, 0x27, 0xE2, 0xC2, 0xE3}) may[c] = true;
  }
};
constexpr Opens kOpens;

class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text), budget_(8 * text.size() + 65536) {
    masked_.visible = fold_same_length(text);
    masked_.prose = masked_.visible;
  }

  Masked run() {
    std::size_t at = 0;
    while (at < text_.size()) at = line(at);
    return std::move(masked_);
  }

 private:
  std::size_t line_end(std::size_t at) const {
    const void* found = std::memchr(text_.data() + at, '\n', text_.size() - at);
    return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : text_.size();
  }

  static void blank(std::string& copy, const Span& span) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      if (copy[i] != '\n') copy[i] = ' ';
    }
  }

  void mask_code(Span span) {
    blank(masked_.visible, span);
    blank(masked_.prose, span);
    masked_.code.push_back(span);
  }

  void mask_quote(Span span) {
    blank(masked_.prose, span);
    masked_.quotes.push_back(span);
  }

  // Processes the line at `at`, or the fence it opens; returns where the next one starts.
  std::size_t line(std::size_t at) {
    const std::size_t end = line_end(at);
    std::size_t first = at;
    while (first < end && text_[first] == ' ') ++first;
    const char c = first < end ? text_[first] : '\n';
    if (first - at <= 3 && (c == '`' || c == '~')) {
      const std::size_t run = run_length(first, c);
      if (run >= 3 && (c == '~' || text_.substr(first + run, end - first - run).find('`') == std::string_view::npos)) {
        return fence(at, end, c, run);
      }
    }
    if (first - at <= 3 && c == '>') {
      mask_code({at, end});
      return end + 1;
    }
    return marks_of_line(at, end);
  }

  // Marks may close in a later line of the same paragraph; the rest of that line then belongs to this one.
  std::size_t marks_of_line(std::size_t at, std::size_t end) {
    for (at = inline_marks(at, end); at > end; at = inline_marks(at, end)) end = line_end(at);
    return end + 1;
  }

  std::size_t run_length(std::size_t at, char c) const {
    std::size_t n = 0;
    while (at + n < text_.size() && text_[at + n] == c) ++n;
    return n;
  }

  // An unclosed fence extends to the end, as in Markdown.
  std::size_t fence(std::size_t begin, std::size_t end, char mark, std::size_t run) {
    std::size_t at = end + 1;
    while (at < text_.size()) {
      const std::size_t stop = line_end(at);
      std::size_t first = at;
      while (first < stop && text_[first] == ' ') ++first;
      const std::size_t closing = run_length(first, mark);
      const auto rest = text_.substr(first + closing, stop - std::min(stop, first + closing));
      if (first - at <= 3 && closing >= run && rest.find_first_not_of(" \t\r") == std::string_view::npos) {
        mask_code({begin, stop});
        return stop + 1;
      }
      at = stop + 1;
    }
    mask_code({begin, text_.size()});
    return text_.size();
  }

  // Inline code and quotes that start before `end`; returns the position after the last one.
  std::size_t inline_marks(std::size_t at, std::size_t end) {
    while (at < end) {
      while (at < end && !kOpens.may[static_cast<unsigned char>(text_[at])]) ++at;
      if (at >= end) break;
      const unsigned char c = byte_at(text_, at);
      std::size_t next = at + 1;
      if (c == '`') {
        next = inline_code(at);
      } else if (c == '"') {
        next = straight_quote(at, '"');
      } else if (c == '\'') {
        next = straight_quote(at, '\'');
      } else {
        next = paired_quote(at);
      }
      at = next;
    }
    return at;
  }

  // Where the search for a partner ends: the paragraph, or the reach. Marks without a partner cost a search each, so
  // there is a budget for all of them; a text that uses it up is not prose.
  std::size_t search_end(std::size_t at, std::size_t reach) {
    if (budget_ < reach) return at;
    const std::size_t stop = std::min(text_.size(), at + reach);
    const std::size_t paragraph = text_.substr(at, stop - at).find("\n\n");
    return paragraph == std::string_view::npos ? stop : at + paragraph;
  }

  std::size_t inline_code(std::size_t at) {
    const std::size_t run = run_length(at, '`');
    const std::size_t stop = search_end(at, kCodeReach);
    for (std::size_t i = at + run; i < stop;) {
      if (text_[i] != '`') {
        ++i;
        continue;
      }
      const std::size_t closing = run_length(i, '`');
      if (closing == run) {
        mask_code({at, i + closing});
        return i + closing;
      }
      i += closing;
    }
    spend(stop - at);
    return at + run;
  }

  void spend(std::size_t steps) { budget_ -= std::min(budget_, steps); }

  // "…" and '…'. An opening mark has no word before it and no space after it, a closing one the other way round, so
  // that apostrophes and inches are ignored.
  std::size_t straight_quote(std::size_t at, char mark) {
    const bool opens = (at == 0 || !is_word_byte(byte_at(text_, at - 1))) && !is_ascii_space(byte_at(text_, at + 1));
    if (!opens) return at + 1;
    const std::size_t stop = search_end(at, kQuoteReach);
    for (std::size_t i = at + 2; i < stop; ++i) {
      if (text_[i] != mark) continue;
      if (mark == '"' && text_[i - 1] == '\\') continue;
      const bool closes = !is_word_byte(byte_at(text_, i + 1)) && !is_ascii_space(byte_at(text_, i - 1));
      if (mark == '\'' && !closes) continue;
      mask_quote({at, i + 1});
      return i + 1;
    }
    spend(stop - at);
    return at + 1;
  }

  std::size_t paired_quote(std::size_t at) {
    for (const Quote& quote : kQuotes) {
      if (!text_.substr(at).starts_with(quote.open)) continue;
      if (quote.open == "\u2018" && at > 0 && is_word_byte(byte_at(text_, at - 1))) break;
      const std::size_t close = find_close(at, quote);
      if (close == std::string_view::npos) break;
      mask_quote({at, close});
      return close;
    }
    return at + 1;
  }

  // The position after the mark that closes the quote at `at`, counting nested quotes of the same kind.
  std::size_t find_close(std::size_t at, const Quote& quote) {
    const std::size_t stop = search_end(at, kQuoteReach);
    int depth = 1;
    for (std::size_t i = at + quote.open.size(); i < stop; ++i) {
      const auto rest = text_.substr(i, stop - i);
      for (std::string_view close : quote.close) {
        if (close.empty() || !rest.starts_with(close)) continue;
        // ’ between letters is an apostrophe.
        if (close == "\u2019" && is_word_byte(byte_at(text_, i + close.size()))) continue;
        if (--depth == 0) return i + close.size();
        break;
      }
      if (rest.starts_with(quote.open)) ++depth;
    }
    spend(stop - at);
    return std::string_view::npos;
  }

  std::string_view text_;
  Masked masked_;
  std::size_t budget_;
};

}  // namespace

std::string fold_same_length(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(out[i]);
    if (c < 0x80) {
      if (c >= 'A' && c <= 'Z') out[i] = static_cast<char>(c + 0x20);
      if (c == 0) out[i] = '\x01';
      continue;
    }
    if (c >= 0xC2 && c <= 0xDF && i + 1 < out.size()) {
      const unsigned point = ((c & 0x1Fu) << 6) | (byte_at(out, i + 1) & 0x3Fu);
      if (point == 0x00A0) {
        out[i] = out[i + 1] = ' ';
      } else {
        const unsigned folded = fold_two_bytes(point);
        out[i] = static_cast<char>(0xC0 | (folded >> 6));
        out[i + 1] = static_cast<char>(0x80 | (folded & 0x3F));
      }
      ++i;
    } else if (c == 0xE2 && byte_at(out, i + 1) == 0x80 &&
               (byte_at(out, i + 2) == 0xAF || byte_at(out, i + 2) == 0x89)) {
      out[i] = out[i + 1] = out[i + 2] = ' ';  // narrow no-break and thin space
      i += 2;
    }
  }
  return out;
}

Masked mask(std::string_view text) {
  return Masker(text).run();
}

bool any_contains(const std::vector<Span>& spans, std::size_t at) {
  const auto after = std::upper_bound(spans.begin(), spans.end(), at,
                                      [](std::size_t place, const Span& span) { return place < span.begin; });
  return after != spans.begin() && std::prev(after)->contains(at);
}

}  // namespace sb::decision::linting

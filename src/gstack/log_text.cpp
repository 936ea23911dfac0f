#include "gstack/log_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/value.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/gstack_literals.hpp"

namespace sb::gstack {
namespace {

// The text without its quotes.
std::string escaped(std::string_view text) {
  const std::string quoted = quote_json(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

std::string without_recommended_mark(std::string_view text) {
  constexpr std::string_view kMark = "(recommended)";
  text = trimmed(text, " \t\r\n\v\f");
  if (text.size() >= kMark.size()) {
    const std::string_view end = text.substr(text.size() - kMark.size());
    const bool is_mark = std::ranges::equal(
        end, kMark, {}, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (is_mark) text.remove_suffix(kMark.size());
  }
  return std::string(trimmed(text, " \t\r\n\v\f"));
}

std::string quote_screened(std::string_view text) {
  std::string out = "\"";
  std::size_t done = 0;
  for (const auto& [begin, end] : decision::instruction_like_ranges(text)) {
    out += escaped(text.substr(done, begin - done));
    for (std::size_t at = begin; at < end;) {
      const std::size_t start = at;
      const char32_t c = next_code_point(text, at);
      const bool must_hide = c <= 0xFFFF && (c == ':' || is_space(c));
      out += must_hide ? fmt::format("\\u{:04x}", static_cast<unsigned>(c)) : escaped(text.substr(start, at - start));
    }
    done = end;
  }
  return out + escaped(text.substr(done)) + "\"";
}

}  // namespace sb::gstack

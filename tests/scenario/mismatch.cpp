#include <fmt/format.h>

#include <algorithm>

#include "base/text/pattern.hpp"
#include "base/text/unicode.hpp"
#include "scenario/scenario.hpp"

namespace sb::scenario {
namespace {

constexpr std::size_t kShownBytes = 4000;

// Escapes control characters and bytes that are not UTF-8, and truncates long texts.
std::string shown(std::string_view text) {
  std::string visible;
  const bool is_text = is_utf8(text);
  for (const char c : text.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_text)) {
      visible += fmt::format("\\x{:02x}", byte);
    } else {
      visible += c;
    }
  }
  if (text.size() > kShownBytes) visible += fmt::format("… ({} bytes in total)", text.size());
  return visible;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

std::string show_line(char mark, std::string_view line) {
  const bool has_line_feed = line.ends_with('\n');
  if (has_line_feed) line.remove_suffix(1);
  return fmt::format("    {} {}{}\n", mark, shown(line), has_line_feed ? "" : " (no line feed)");
}

// The lines that differ, with one line of context.
std::string difference(std::string_view expected, std::string_view actual) {
  const auto wanted = lines_of(expected);
  const auto found = lines_of(actual);
  const std::size_t shorter = std::min(wanted.size(), found.size());
  std::size_t front = 0;
  while (front < shorter && wanted[front] == found[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && wanted[wanted.size() - 1 - back] == found[found.size() - 1 - back]) ++back;
  std::string text;
  if (front > 0) text += show_line(' ', wanted[front - 1]);
  for (std::size_t i = front; i < wanted.size() - back; ++i) text += show_line('-', wanted[i]);
  for (std::size_t i = front; i < found.size() - back; ++i) text += show_line('+', found[i]);
  if (back > 0) text += show_line(' ', wanted[wanted.size() - back]);
  return text.substr(0, 2 * kShownBytes);
}

// Where `actual` lacks what `expected` names; empty if it has everything.
std::string json_mismatch(const Value& expected, const Value& actual, const std::string& pointer) {
  const auto differs = [&] {
    return fmt::format("    at \"{}\"\n    - {}\n    + {}\n", pointer, shown(to_json(expected)),
                       shown(to_json(actual)));
  };
  if (expected.is_object() && actual.is_object()) {
    std::string text;
    for (const auto& [name, value] : expected.members()) {
      const std::string inner = pointer + "/" + escape_pointer(name);
      const Value* found = actual.find(name);
      text += found ? json_mismatch(value, *found, inner)
                    : fmt::format("    at \"{}\"\n    - {}\n    + (missing)\n", inner, shown(to_json(value)));
    }
    return text;
  }
  if (expected.is_array() && actual.is_array() && expected.size() == actual.size()) {
    std::string text;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      text += json_mismatch(expected.items()[i], actual.items()[i], fmt::format("{}/{}", pointer, i));
    }
    return text;
  }
  if (expected.is_number() && actual.is_number()) return expected.as_number() == actual.as_number() ? "" : differs();
  return expected == actual ? "" : differs();
}

std::string pattern_mismatch(const std::string& pattern, const std::string& actual, const std::string& what) {
  const auto compiled = Pattern::compile(pattern, Pattern::kMultiLine);
  if (!compiled) return fmt::format("  {}: invalid pattern: {}\n", what, compiled.error().to_string());
  if (!is_utf8(actual)) return fmt::format("  {}: not UTF-8:\n    + {}\n", what, shown(actual));
  const auto matches = compiled->matches(actual);
  if (!matches) return fmt::format("  {}: {}\n", what, matches.error().to_string());
  return *matches ? "" : fmt::format("  {}: does not match {}\n    + {}\n", what, pattern, shown(actual));
}

}  // namespace

std::string mismatch(const StreamExpectation& expected, const std::string& actual, const std::string& what) {
  std::string text;
  if (expected.exact && *expected.exact != actual) {
    text += fmt::format("  {}: expected (-) and found (+):\n{}", what, difference(*expected.exact, actual));
  }
  for (const std::string& part : expected.contains) {
    if (actual.find(part) != std::string::npos) continue;
    text += fmt::format("  {}: \"{}\" is missing in\n    + {}\n", what, shown(part), shown(actual));
  }
  for (const std::string& part : expected.lacks) {
    if (actual.find(part) == std::string::npos) continue;
    text += fmt::format("  {}: unexpected \"{}\" in\n    + {}\n", what, shown(part), shown(actual));
  }
  if (expected.pattern) text += pattern_mismatch(*expected.pattern, actual, what);
  if (expected.json) {
    const auto json = parse_json(actual);
    const std::string differs =
        json ? json_mismatch(*expected.json, *json, "") : fmt::format("    not JSON: {}\n", shown(actual));
    if (!differs.empty()) text += fmt::format("  {}: expected (-) and found (+):\n{}", what, differs);
  }
  return text;
}

}  // namespace sb::scenario

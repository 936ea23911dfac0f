#include "tree/test_names.hpp"

#include <array>
#include <cctype>

namespace sb::tree {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The end of the literal or comment that starts at `at`; `at` itself if none starts there.
std::size_t end_of_skipped(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto found = text.find(mark, from);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return behind("\n", at);
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest.starts_with("R\"")) {
    const auto open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    return behind(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  // A quote after a digit separates digits: 1'000.
  const bool is_separator = rest.starts_with('\'') && at > 0 && is_word(text[at - 1]);
  if (is_separator || (!rest.starts_with('"') && !rest.starts_with('\''))) return at;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i + 1;
    }
  }
  return text.size();
}

// The source with each literal and comment replaced by a space.
std::string code_of(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_skipped(text, at);
    code += end == at ? text[at] : ' ';
    at = end == at ? at + 1 : end;
  }
  return code;
}

// Reads a word and the mark after it, with spaces around either. Empty if they are not there.
std::string read_word(std::string_view code, std::size_t& at, char mark) {
  const auto skip_spaces = [&] {
    while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  };
  skip_spaces();
  std::string word;
  while (at < code.size() && is_word(code[at])) word += code[at++];
  skip_spaces();
  if (at >= code.size() || code[at] != mark) return {};
  ++at;
  return word;
}

}  // namespace

std::vector<TestName> test_names(std::string_view source) {
  constexpr std::array<std::string_view, 4> kMacros = {"TEST(", "TEST_F(", "TEST_P(", "TYPED_TEST("};
  const std::string code = code_of(source);
  std::vector<TestName> names;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (at > 0 && is_word(code[at - 1])) continue;
    for (const std::string_view macro : kMacros) {
      if (!std::string_view(code).substr(at).starts_with(macro)) continue;
      std::size_t next = at + macro.size();
      TestName found;
      found.suite = read_word(code, next, ',');
      found.name = found.suite.empty() ? "" : read_word(code, next, ')');
      const bool is_run = !found.suite.starts_with("DISABLED_") && !found.name.starts_with("DISABLED_");
      if (!found.name.empty() && is_run) names.push_back(std::move(found));
    }
  }
  return names;
}

}  // namespace sb::tree

#include "base/text/printable.hpp"

#include "base/text/unicode.hpp"

namespace sb {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kZeroWidthJoiner = 0x200D;     // joins emoji
constexpr char32_t kZeroWidthNonJoiner = 0x200C;  // used in Persian and other languages

bool is_deceptive(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return c != '\n';
  if (c == 0x2028 || c == 0x2029) return true;
  return is_invisible(c) && c != kZeroWidthJoiner && c != kZeroWidthNonJoiner;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) < 0x80) {
      result.push_back(byte);
    } else {
      append_code_point(result, kReplacement);
    }
  }
  return result;
}

constexpr std::string_view kBar = "  | ";

}  // namespace

std::string continued(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string result;
  for (const char c : text) {
    result.push_back(c);
    if (c == '\n') result += kBar;
  }
  return result;
}

std::string quoted(std::string_view text) {
  return std::string(kBar) + continued(text);
}

std::string printable(std::string_view text) {
  if (!is_utf8(text)) return printable(valid_utf8(text));
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == '\t') {
      result.push_back(' ');
    } else {
      append_code_point(result, is_deceptive(c) ? kReplacement : c);
    }
  }
  return result;
}

}  // namespace sb

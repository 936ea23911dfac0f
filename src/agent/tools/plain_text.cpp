#include "agent/tools/plain_text.hpp"

#include <fmt/format.h>

#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

bool is_inside(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  if (bytes.find('\0') == std::string_view::npos && is_utf8(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(bytes[at]));
    const std::string_view piece = bytes.substr(at, length);
    if (length == 1 && piece[0] != '\0') {
      text += piece;
      ++at;
    } else if (length > 1 && piece.size() == length && is_utf8(piece)) {
      text += piece;
      at += length;
    } else {
      text += kReplacement;
      ++at;
    }
  }
  return text;
}

std::string elide_middle(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  constexpr std::size_t kNote = 64;  // the line between
  const std::size_t half = bytes > kNote ? (bytes - kNote) / 2 : 0;
  std::string_view head = utf8_prefix(text, half);
  if (const std::size_t line = head.rfind('\n'); line != std::string_view::npos && line > half / 2) {
    head = head.substr(0, line);
  }
  std::size_t from = text.size() - half;
  while (from < text.size() && is_inside(text[from])) ++from;
  std::string_view tail = text.substr(from);
  if (const std::size_t line = tail.find('\n'); line != std::string_view::npos && line < half / 2) {
    tail = tail.substr(line + 1);
  }
  return fmt::format("{}\n[… {} bytes left out …]\n{}", head, text.size() - head.size() - tail.size(), tail);
}

}  // namespace sb::agent

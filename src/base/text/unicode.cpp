#include "base/text/unicode.hpp"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <cstring>
#include <new>

#include "base/assert.hpp"

namespace sb {
namespace {

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

std::string normalized(const icu::Normalizer2* (*instance)(UErrorCode&), std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = instance(error);
  if (error == U_MEMORY_ALLOCATION_ERROR) throw std::bad_alloc();
  SB_ASSERT(U_SUCCESS(error));
  const auto source = icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  std::string out;
  normalizer->normalize(source, error).toUTF8String(out);
  if (error == U_MEMORY_ALLOCATION_ERROR) throw std::bad_alloc();
  SB_ASSERT(U_SUCCESS(error));
  return out;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const std::size_t size = bytes.size();
  for (std::size_t i = 0; i < size;) {
    if (data[i] < 0x80) {
      // Most texts are mostly ASCII: skips eight bytes at a time while none has its highest bit set.
      std::uint64_t eight = 0;
      while (i + 8 <= size) {
        std::memcpy(&eight, data + i, 8);
        if ((eight & 0x8080808080808080u) != 0) break;
        i += 8;
      }
      while (i < size && data[i] < 0x80) ++i;
      continue;
    }
    UChar32 c;
    U8_NEXT(data, i, size, c);
    if (c < 0) return false;
  }
  return true;
}

std::string_view unicode_version() {
  return U_UNICODE_VERSION;
}

std::string nfc(std::string_view text) {
  return normalized(icu::Normalizer2::getNFCInstance, text);
}
std::string nfkc(std::string_view text) {
  return normalized(icu::Normalizer2::getNFKCInstance, text);
}
std::string nfkd(std::string_view text) {
  return normalized(icu::Normalizer2::getNFKDInstance, text);
}

std::string case_fold(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  if (is_ascii(text)) {
    for (const char c : text) out += (c >= 'A' && c <= 'Z') ? static_cast<char>(c + 32) : c;
    return out;
  }
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .foldCase()
      .toUTF8String(out);
  return out;
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  SB_ASSERT(at < text.size());
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  const std::size_t size = text.size();
  UChar32 c;
  U8_NEXT(data, at, size, c);
  SB_ASSERT(c >= 0);
  return static_cast<char32_t>(c);
}

void append_code_point(std::string& text, char32_t code_point) {
  uint8_t buffer[4];
  std::size_t length = 0;
  U8_APPEND_UNSAFE(buffer, length, static_cast<UChar32>(code_point));
  text.append(reinterpret_cast<const char*>(buffer), length);
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

bool is_letter(char32_t c) {
  return u_isalpha(static_cast<UChar32>(c));
}
bool is_digit(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0;
}
bool is_mark(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}
bool is_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c));
}
bool is_invisible(char32_t c) {
  return u_charType(static_cast<UChar32>(c)) == U_FORMAT_CHAR || c == 0x115F || c == 0x3164;
}
bool is_punctuation(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_P_MASK) != 0;
}
bool is_symbol(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_S_MASK) != 0;
}

bool is_emoji(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EMOJI_PRESENTATION) ||
         (c > 0x2000 && u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EXTENDED_PICTOGRAPHIC));
}

bool is_unspaced_script(char32_t c) {
  if (c < 0x0E00) return false;
  UErrorCode error = U_ZERO_ERROR;
  switch (uscript_getScript(static_cast<UChar32>(c), &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return true;
    default:
      return c == 0x30FC || c == 0xFF70;  // the long-vowel mark is used in Kana but assigned to no single script
  }
}

bool is_cyrillic(char32_t c) {
  return c >= 0x0400 && c <= 0x052F;
}

bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (!is_space(c) && !is_invisible(c)) return false;
  }
  return true;
}

int word_units(std::string_view text) {
  int units = 0;
  int unspaced = 0;       // characters of unspaced scripts in the current run
  bool has_word = false;  // the current run of other characters contains a letter or digit
  const auto end_stretch = [&] {
    units += (unspaced + 1) / 2 + (has_word ? 1 : 0);
    unspaced = 0;
    has_word = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_space(c)) {
      end_stretch();
    } else if (is_unspaced_script(c)) {
      if (has_word) end_stretch();
      ++unspaced;
    } else if (is_letter(c) || is_digit(c)) {
      if (unspaced > 0) end_stretch();
      has_word = true;
    }
  }
  end_stretch();
  return units;
}

std::string cut_utf16(std::string_view text, std::size_t max_units) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    units += next_code_point(text, at) > 0xFFFF ? 2 : 1;
    if (units > max_units) return std::string(text.substr(0, begin));
  }
  return std::string(text);
}

std::string one_line(std::string_view text) {
  std::string line;
  bool in_break = false;
  for (const char c : text) {
    const bool is_break = c == '\n' || c == '\r';
    if (!is_break) line += c;
    if (is_break && !in_break) line += ' ';
    in_break = is_break;
  }
  return line;
}

}  // namespace sb

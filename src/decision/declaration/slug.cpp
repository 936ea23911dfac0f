// slug_of: an ASCII name for any text, the same on every machine.
#include <array>

#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {
namespace {

// U+0430 to U+044F. The letters that NFKD splits (й, ё) are handled before it.
constexpr std::array<std::string_view, 32> kCyrillic = {"a",  "b",  "v",  "g",    "d", "e", "zh", "z", "i",  "i", "k",
                                                        "l",  "m",  "n",  "o",    "p", "r", "s",  "t", "u",  "f", "kh",
                                                        "ts", "ch", "sh", "shch", "",  "y", "",   "e", "yu", "ya"};
// U+03B1 to U+03C9
constexpr std::array<std::string_view, 25> kGreek = {"a", "b", "g", "d", "e", "z", "i", "th", "i", "k",  "l",  "m", "n",
                                                     "x", "o", "p", "r", "s", "s", "t", "y",  "f", "ch", "ps", "o"};

std::string_view transliterated(char32_t c) {
  if (c >= 0x430 && c <= 0x44F) return kCyrillic[c - 0x430];
  if (c >= 0x3B1 && c <= 0x3C9) return kGreek[c - 0x3B1];
  switch (c) {
    case 0x454:
      return "ie";  // є
    case 0x456:
      return "i";  // і
    case 0x491:
      return "g";  // ґ
    case 0x45E:
      return "u";  // ў
    case 0x452:
      return "dj";  // ђ
    case 0x458:
      return "j";  // ј
    case 0x459:
      return "lj";  // љ
    case 0x45A:
      return "nj";  // њ
    case 0x45B:
      return "c";  // ћ
    case 0x45F:
      return "dz";  // џ
    case 0xDF:
      return "ss";
    case 0xE6:
      return "ae";
    case 0xF8:
      return "o";
    case 0x142:
      return "l";  // ł
    case 0x131:
      return "i";  // ı
    case 0x111:
      return "d";  // đ
    case 0xFE:
      return "th";
    default:
      return {};
  }
}

bool is_slug_character(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string slug_of(std::string_view text) {
  const std::string folded = case_fold(nfkd(case_fold(text)));
  std::string out;
  bool is_gap = false;
  const auto add = [&](std::string_view letters) {
    if (is_gap && !out.empty()) out += '-';
    is_gap = false;
    out += letters;
  };
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    // The soft and hard signs have no letter and do not split a word either.
    if (is_mark(c) || c == 0x44C || c == 0x44A) continue;
    if (is_slug_character(c)) {
      const char letter = static_cast<char>(c);
      add({&letter, 1});
    } else if (const auto letters = transliterated(c); !letters.empty()) {
      add(letters);
    } else {
      is_gap = true;
    }
  }
  if (!out.empty()) return out;
  return "x-" + sha256_hex(nfc(text)).substr(0, 8);
}

}  // namespace sb::decision

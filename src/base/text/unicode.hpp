// Unicode functions, implemented with ICU. All texts are UTF-8; functions that fold or count assert valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sb {

bool is_utf8(std::string_view bytes);
std::string_view unicode_version();  // of ICU's tables; part of definition hashes

std::string nfc(std::string_view text);
std::string nfkc(std::string_view text);
std::string nfkd(std::string_view text);
std::string case_fold(std::string_view text);  // default folding, not Turkic

// Decodes the code point at `at` and advances `at` past it.
char32_t next_code_point(std::string_view text, std::size_t& at);
void append_code_point(std::string& text, char32_t code_point);
std::size_t count_code_points(std::string_view text);
// The longest prefix of the text with at most so many bytes that ends after a whole character.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);
// The longest prefix with at most this many UTF-16 code units, never half a character. The text must be UTF-8.
std::string cut_utf16(std::string_view text, std::size_t max_units);
// Replaces runs of line breaks by one space.
std::string one_line(std::string_view text);

bool is_letter(char32_t c);
bool is_digit(char32_t c);            // any number form: Nd, Nl, No
bool is_mark(char32_t c);             // Mn, Mc, Me
bool is_space(char32_t c);            // White_Space
bool is_invisible(char32_t c);        // zero-width and other format characters (Cf), BOM included
bool is_punctuation(char32_t c);      // P*
bool is_symbol(char32_t c);           // S*
bool is_emoji(char32_t c);            // Emoji_Presentation or a pictograph
bool is_unspaced_script(char32_t c);  // Han, Kana, Thai, Lao, Khmer, Myanmar
bool is_cyrillic(char32_t c);

// Only white space and invisible characters, or empty.
bool is_blank(std::string_view text);

// Words as people count them: a whitespace-separated run with a letter or digit counts 1; inside a run, characters of
// scripts written without spaces count half each, rounded up; punctuation and emoji alone count 0.
int word_units(std::string_view text);

}  // namespace sb

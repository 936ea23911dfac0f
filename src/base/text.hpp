// Small text functions. Letters and blanks are ASCII here; see base/unicode.hpp for Unicode. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb {

inline constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text, std::string_view blanks = kBlanks);
std::string_view trimmed_end(std::string_view text, std::string_view blanks = kBlanks);

char to_lower(char c);
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

std::string without_trailing_newlines(std::string text);
std::string_view first_line(std::string_view text);  // without line feed
// The lines without their line feeds. A trailing line feed does not start another line; an empty text has no lines.
std::vector<std::string_view> lines_of(std::string_view text);
// At least one piece and at most `most`; the last piece contains the rest.
std::vector<std::string_view> split(std::string_view text, char separator, std::size_t most = std::string_view::npos);

void replace_all(std::string& text, std::string_view from, std::string_view to);
// The text, or its longest prefix of whole characters that fits into so many bytes, followed by "…".
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace sb

// The text as the lexical rules see it: folded to lower case, and with everything blanked that the agent only shows and
// does not say: code fences, inline code, block quotes, quoted strings.
//
// All copies have the length of the text, so a place in one is a place in all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decision/lint/span.hpp"

namespace sb::decision::linting {

struct Masked {
  std::string visible;       // folded; code and block quotes blanked
  std::string prose;         // the same with quoted strings blanked too
  std::vector<Span> quotes;  // the quoted strings, in order
  std::vector<Span> code;    // fences, inline code and block quotes, in order
};

// Lower case of the same length for Latin, Cyrillic (ё reads as е) and Greek-free text; İ reads as ı, no-break spaces
// as spaces. What has no lower case of the same length stays.
std::string fold_same_length(std::string_view text);

Masked mask(std::string_view text);

// Whether one of the spans (in order, not overlapping) holds this place.
bool any_contains(const std::vector<Span>& spans, std::size_t at);

}  // namespace sb::decision::linting

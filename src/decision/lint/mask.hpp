// The text as the lexical rules see it: folded to lower case, with everything blanked that the agent only quotes: code
// fences, inline code, block quotes, quoted strings.
//
// All copies have the length of the text, so a position in one is valid in all.
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

// Lower case of the same length for Latin, Cyrillic (ё becomes е) and Greek-free text; İ becomes ı, no-break spaces
// become spaces. Characters without a lower case of the same length are unchanged.
std::string fold_same_length(std::string_view text);

Masked mask(std::string_view text);

// Whether one of the spans (in order, not overlapping) contains this position.
bool any_contains(const std::vector<Span>& spans, std::size_t at);

}  // namespace sb::decision::linting

// Whether a line is one sentence.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decision/lint/lexicon.hpp"
#include "decision/lint/span.hpp"

namespace sb::decision::linting {

// The next position at or after `at` where a character starts.
std::size_t align(std::string_view text, std::size_t at);

// Where, in `line`, a second sentence starts. Terminators inside the `skipped` spans (quotes, code; positions in
// `line`) do not count, nor do dots of versions, paths, initials and abbreviations.
std::optional<std::size_t> second_sentence(std::string_view line, const std::vector<Span>& skipped,
                                           const std::vector<const Lexicon*>& lexicons);

}  // namespace sb::decision::linting

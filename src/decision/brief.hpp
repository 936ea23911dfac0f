// The gstack brief: one question as text, with letters to answer by.
//
// The first line has the label, the title and the question's id; each section has its fixed anchor (`ELI10:`,
// `Recommendation:`, ...), because the linter and gstack's own tools look for those bytes in every language. Texts from
// a declaration are put on one line each, so that none can be mistaken for a section or an option.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "decision/prompt.hpp"
#include "decision/shown_fields.hpp"

namespace sb::decision {

inline constexpr std::string_view kKindNote = "options differ in kind, not coverage — no completeness score.";
inline constexpr std::string_view kRecommendedMark = " (recommended)";

// Empty sections are left out; everything declared is shown. No trailing line break. The second form also records which
// fields are shown.
std::string render_brief(const Prompt& prompt);
std::string render_brief(const Prompt& prompt, ShownFields& shown);

// A, B, … Z, AA, AB, …
std::string letter_of(std::size_t index);
// The index of an upper-case letter ordinal; nothing for any other text.
std::optional<std::size_t> index_of_letter(std::string_view letters);

// The text with every run of white space and control characters replaced by one space.
std::string on_one_line(std::string_view text);

}  // namespace sb::decision

// Literals required for compatibility with gstack, from data/gstack-literals.json, and its list of instruction-like
// phrases.
//
// Pure and thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::decision {

const Value& gstack_literals();

// Whether the list `name` of the literals contains the word.
bool is_gstack_word(std::string_view name, std::string_view word);
// The words of a list, joined by a comma and a space.
std::string gstack_words(std::string_view name);

// The byte ranges, in order and not overlapping, where a text reads like an instruction to a model ("ignore previous
// rules"). The text must be UTF-8.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const TextRange&) const = default;
};
std::vector<TextRange> instruction_like_ranges(std::string_view text);
bool is_instruction_like(std::string_view text);

}  // namespace sb::decision

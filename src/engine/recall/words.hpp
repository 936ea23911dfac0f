// Words as used for searching. They follow Unicode rules, NFKC and case-folded, so they work for every script; in
// scripts without spaces each pair of characters is a word. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::engine {

// Folded, without characters that no one types when searching.
std::string folded(std::string_view text);
// The words of a folded text, each once, in order.
std::vector<std::string> words_of_folded(std::string_view text);
// The same of any text.
std::vector<std::string> search_words(std::string_view text);
bool is_unspaced(std::string_view word);

}  // namespace sb::engine

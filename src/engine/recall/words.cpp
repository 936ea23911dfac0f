#include "engine/recall/words.hpp"

#include <algorithm>
#include <utility>

#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

bool is_word_character(char32_t c) {
  return is_letter(c) || is_digit(c) || is_mark(c) || c == U'_';
}

void add_word(std::vector<std::string>& words, std::string word) {
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

// Each pair of characters; a single character is a word by itself.
void add_pairs(std::vector<std::string>& words, const std::vector<std::string>& characters) {
  if (characters.size() == 1) add_word(words, characters.front());
  for (std::size_t i = 1; i < characters.size(); ++i) add_word(words, characters[i - 1] + characters[i]);
}

}  // namespace

std::string folded(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    std::string lower(text);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  if (!is_utf8(text)) return {};
  const std::string whole = nfkc(case_fold(nfkc(text)));
  std::string visible;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t begin = at;
    // Users do not type joiners and soft hyphens inside a word when they search for it.
    if (!is_invisible(next_code_point(whole, at))) visible.append(whole, begin, at - begin);
  }
  return visible;
}

std::vector<std::string> words_of_folded(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  std::vector<std::string> unspaced;
  const auto end_word = [&] {
    add_word(words, std::exchange(word, {}));
    add_pairs(words, std::exchange(unspaced, {}));
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    const std::string_view bytes = text.substr(begin, at - begin);
    if (is_unspaced_script(c)) {
      if (!word.empty()) end_word();
      unspaced.emplace_back(bytes);
    } else if (is_mark(c) && !unspaced.empty()) {
      unspaced.back() += bytes;
    } else if (is_word_character(c)) {
      if (!unspaced.empty()) end_word();
      word += bytes;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

bool is_unspaced(std::string_view word) {
  std::size_t at = 0;
  return is_unspaced_script(next_code_point(word, at));
}

std::vector<std::string> search_words(std::string_view text) {
  return words_of_folded(folded(text));
}

}  // namespace sb::engine

#include "decision/chain/input.hpp"

#include <algorithm>
#include <optional>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/chain/ids.hpp"
#include "decision/classify.hpp"

namespace sb::decision {
namespace {

constexpr std::size_t kLongestChoice = 64;  // a longer text is prose
constexpr std::string_view kNone = "none";

// Letters that look like A to E on a Cyrillic keyboard; meant as a choice, typed as another letter.
constexpr std::u32string_view kCyrillicTwins = U"авсе";

std::vector<std::string> texts_of(const Prompt& prompt) {
  std::vector<std::string> texts;
  for (const auto& option : prompt.options) {
    texts.push_back(option.label);
    texts.push_back(option.id);
  }
  return texts;
}

bool is_letter_list(std::string_view input) {
  bool is_token_open = false;
  for (const char c : input) {
    if (c == ',') {
      if (!is_token_open) return false;
      is_token_open = false;
    } else if (c >= 'A' && c <= 'Z') {
      is_token_open = true;
    } else {
      return false;
    }
  }
  return is_token_open;
}

ChainInput pick(std::vector<std::size_t> indexes, const Prompt& prompt) {
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  if (!is_many && indexes.size() != 1) return NotAnAnswer{};
  std::sort(indexes.begin(), indexes.end());
  if (std::adjacent_find(indexes.begin(), indexes.end()) != indexes.end()) return NotAnAnswer{};
  if (indexes.back() >= prompt.options.size()) return NotAnAnswer{};
  // "None of these" together with a choice is contradictory.
  const auto& last = prompt.options[indexes.back()];
  if (is_many && last.id == kNoneId && indexes.back() + 1 == prompt.options.size() && indexes.size() > 1) {
    return NotAnAnswer{};
  }
  return PickedOptions{std::move(indexes)};
}

ChainInput pick_letters(std::string_view input, const Prompt& prompt) {
  std::vector<std::size_t> indexes;
  for (std::size_t at = 0; at <= input.size();) {
    const auto comma = std::min(input.find(',', at), input.size());
    const auto index = index_of_letter(input.substr(at, comma - at));
    if (!index) return NotAnAnswer{};
    indexes.push_back(*index);
    at = comma + 1;
  }
  return pick(std::move(indexes), prompt);
}

// The text with every single letter that could be one of the prompt's replaced by `1`, so that the rules for numbers
// ("option 1", "1.", "1, 3") decide whether it looks like a choice.
std::string letters_as_numbers(std::string_view input, std::size_t option_count) {
  std::string numbers;
  std::string word;
  const auto flush = [&] {
    std::size_t at = 0;
    const std::string folded = case_fold(word);
    const char32_t c = folded.empty() ? 0 : next_code_point(folded, at);
    const bool is_single = !folded.empty() && at == folded.size();
    const bool is_latin = c >= 'a' && c < 'a' + std::min<std::size_t>(option_count, 26);
    const bool is_joining = folded == "and" || folded == "или" || folded == "и" || folded == "or";
    if (is_single && (is_latin || kCyrillicTwins.find(c) != std::u32string_view::npos)) {
      numbers += '1';
    } else if (is_joining) {
      numbers += ',';
    } else {
      numbers += word;
    }
    word.clear();
  };
  for (std::size_t at = 0; at < input.size();) {
    const char32_t c = next_code_point(input, at);
    if (is_letter(c) || is_digit(c) || is_mark(c) || c == '\'') {
      append_code_point(word, c);
      continue;
    }
    flush();
    append_code_point(numbers, c);
  }
  flush();
  return numbers;
}

bool is_only_one_letter(std::string_view input) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < input.size();) {
    const char32_t c = next_code_point(input, at);
    if (is_digit(c)) return false;
    if (is_letter(c)) ++letters;
  }
  return letters == 1;
}

bool looks_like_letters(std::string_view input, const Prompt& prompt) {
  if (input.size() > kLongestChoice) return false;
  const std::string text = nfkc(input);
  if (is_only_one_letter(text) && count_code_points(text) <= 6) return true;
  if (case_fold(text) == kNone) return true;
  const std::string numbers = letters_as_numbers(text, prompt.options.size());
  if (numbers == text) return false;
  InputContext question;
  question.option_count = 9;
  question.select = {SelectMode::kMany, 1, 9};
  const auto read = classify(numbers, question);
  return std::holds_alternative<Invalid>(read) || std::holds_alternative<Selection>(read);
}

ChainInput read_letters(std::string_view input, const Prompt& prompt, const Profile& profile) {
  if (is_letter_list(input)) return pick_letters(input, prompt);
  const auto texts = texts_of(prompt);
  InputContext question;
  question.option_count = static_cast<int>(prompt.options.size());
  question.labels = texts;
  question.commands = profile.commands;
  question.command_case_fold = profile.command_case_fold;
  const auto read = classify(input, question);
  if (std::holds_alternative<CancelCommand>(read)) return CancelWord{};
  if (!std::holds_alternative<FreeText>(read)) return NotAnAnswer{};
  if (looks_like_letters(input, prompt)) return NotAnAnswer{};
  return ChainFreeText{};
}

ChainInput read_numbers(std::string_view input, const Prompt& prompt, const Profile& profile) {
  const auto texts = texts_of(prompt);
  InputContext question;
  question.option_count = static_cast<int>(prompt.options.size());
  question.select = prompt.select;
  question.labels = texts;
  question.commands = profile.commands;
  question.command_case_fold = profile.command_case_fold;
  const auto read = classify(input, question);
  if (std::holds_alternative<CancelCommand>(read)) return CancelWord{};
  if (std::holds_alternative<FreeText>(read)) return ChainFreeText{};
  const auto* selection = std::get_if<Selection>(&read);
  if (!selection) return NotAnAnswer{};
  std::vector<std::size_t> indexes;
  for (const int ordinal : selection->ordinals) indexes.push_back(static_cast<std::size_t>(ordinal - 1));
  return pick(std::move(indexes), prompt);
}

ChainInput read_bare(std::string_view input, const Prompt& prompt, const Profile& profile) {
  if (prompt.select.mode == SelectMode::kMany && input == kNone) return PickedOptions{};
  // A full page without an option for it accepts the word for the next page.
  if (!prompt.shown_elsewhere.empty() && case_fold(input) == kNone) return ChainFreeText{};
  return profile.grammar == Grammar::kLetters ? read_letters(input, prompt, profile)
                                              : read_numbers(input, prompt, profile);
}

}  // namespace

ChainInput read_chain_input(std::string_view input, const Prompt& prompt, const Profile& profile) {
  if (!is_utf8(input) || is_blank(input)) return NotAnAnswer{};
  const auto colon = input.find(':');
  if (profile.grammar != Grammar::kLetters || colon == std::string_view::npos || !is_label(input.substr(0, colon))) {
    return read_bare(input, prompt, profile);
  }
  auto answer = input.substr(colon + 1);
  if (answer.starts_with(' ')) answer.remove_prefix(1);
  if (is_blank(answer)) return NotAnAnswer{};
  const auto read = read_bare(answer, prompt, profile);
  // `3: see above` is prose that begins with a number; only an answer is compared with the label.
  if (std::holds_alternative<ChainFreeText>(read) || std::holds_alternative<CancelWord>(read)) return ChainFreeText{};
  if (!same_label(input.substr(0, colon), prompt.label)) return WrongLabel{std::string(input.substr(0, colon))};
  return read;
}

}  // namespace sb::decision

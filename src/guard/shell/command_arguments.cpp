#include "guard/shell/command_arguments.hpp"

#include <algorithm>

namespace sb::guard {
namespace {

constexpr std::size_t kShortest = 3;  // of an abbreviated long option: `--o`

bool takes_value(const CommandOption& option, const NameSet& with_value) {
  return std::ranges::any_of(with_value, [&](const std::string& name) { return is_named(option, name); });
}

class Taker {
 public:
  Taker(WordSpan words, const NameSet& with_value) : words_(words), with_value_(with_value) {}

  CommandArguments take() {
    for (bool is_behind = false; at_ < words_.size(); ++at_) {
      const ShellWord& word = words_[at_];
      if (is_behind || !is_option(word)) {
        taken_.operands.push_back(word);
      } else if (word.text == "--") {
        is_behind = true;
      } else if (word.text.starts_with("--")) {
        take_long(word);
      } else {
        take_letters(word);
      }
    }
    return std::move(taken_);
  }

 private:
  std::optional<ShellWord> next() {
    if (at_ + 1 >= words_.size()) return std::nullopt;
    return words_[++at_];
  }

  void take_long(const ShellWord& word) {
    const std::size_t sign = word.text.find('=');
    CommandOption option{word.text.substr(0, sign), word.text, std::nullopt};
    if (sign != std::string::npos) {
      option.value = suffix_of(word, sign + 1);
    } else if (takes_value(option, with_value_)) {
      option.value = next();
    }
    taken_.options.push_back(std::move(option));
  }

  void take_letters(const ShellWord& word) {
    if (with_value_.contains(word.text) && word.text.size() > 2) {  // `-out FILE`
      CommandOption option{word.text, word.text, next()};
      taken_.options.push_back(std::move(option));
      return;
    }
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      CommandOption option{{'-', word.text[i]}, word.text, std::nullopt};
      const bool is_optional = with_value_.contains(option.name + "?");
      const bool has_value = is_optional || with_value_.contains(option.name);
      if (has_value && i + 1 < word.text.size()) {
        option.value = suffix_of(word, i + 1);
      } else if (has_value && !is_optional) {
        option.value = next();
      }
      taken_.options.push_back(std::move(option));
      if (has_value) return;
    }
  }

  WordSpan words_;
  const NameSet& with_value_;
  std::size_t at_ = 0;
  CommandArguments taken_;
};

}  // namespace

CommandArguments parse_arguments(WordSpan words, const NameSet& with_value) {
  return Taker(words, with_value).take();
}

bool is_named(const CommandOption& option, std::string_view name) {
  if (name.starts_with("--")) {
    return option.name == name ||
           (option.name.size() >= kShortest && option.name.starts_with("--") && name.starts_with(option.name));
  }
  if (name.size() > 2) return option.word == name || option.word.starts_with(std::string(name) + "=");
  return option.name == name;
}

const CommandOption* find_option(const CommandArguments& arguments, const NameSet& names) {
  const auto found = std::ranges::find_if(arguments.options, [&](const CommandOption& option) {
    return std::ranges::any_of(names, [&](const std::string& name) { return is_named(option, name); });
  });
  return found == arguments.options.end() ? nullptr : &*found;
}

bool is_option(const ShellWord& word) {
  return word.text.size() > 1 && word.text.front() == '-';
}

bool is_assignment(const ShellWord& word) {
  const std::size_t sign = word.text.find('=');
  if (sign == std::string::npos || sign == 0) return false;
  return std::all_of(word.text.begin(), word.text.begin() + static_cast<std::ptrdiff_t>(sign), [](char c) {
    return c == '_' || c == '+' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

ShellWord suffix_of(const ShellWord& word, std::size_t from) {
  return {word.text.substr(from), word.is_known, word.is_pattern, word.is_list};
}

}  // namespace sb::guard

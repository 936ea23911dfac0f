#include "pipeline/delivery/outgoing_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace sb::pipeline {
namespace {

constexpr std::string_view kBreak = "\u200b";
constexpr std::array<std::string_view, 9> kClosing = {"close", "closes",  "closed",   "fix",     "fixes",
                                                      "fixed", "resolve", "resolves", "resolved"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::ranges::equal(text.substr(0, word.size()), word, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

class BreakingForge {
 public:
  BreakingForge(std::string_view text, const Ticket& own, const ForgeKind& forge)
      : text_(text), url_(own.url), name_(ticket_reference(own.id, forge)) {}

  std::string text() {
    std::string made;
    for (at_ = 0; at_ < text_.size(); ++at_) {
      made += text_[at_];
      if (acts()) made += kBreak;
    }
    return made;
  }

 private:
  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }
  bool begins_word() const { return at_ == 0 || !is_word(text_[at_ - 1]); }

  // Whether the text here is, or begins, something that has an effect on the forge.
  bool acts() const {
    const char c = text_[at_];
    if (c == '@') return begins_word() && is_word(at(at_ + 1));
    if (c == '#') return is_digit(at(at_ + 1)) && !is_own();
    // What Markdown renders as one of those two.
    if (c == '&') return at(at_ + 1) == '#' || begins_with(rest(), "&num;") || begins_with(rest(), "&commat;");
    if (c == '-') return is_digit(at(at_ + 1)) && is_behind_gh();
    return begins_word() && closes();
  }

  bool is_behind_gh() const {
    return at_ >= 2 && begins_with(text_.substr(at_ - 2), "gh-") && (at_ == 2 || !is_word(text_[at_ - 3]));
  }

  bool is_own() const {
    const std::size_t sign = name_.find('#');
    if (sign == name_.npos || at_ < sign || text_.substr(at_ - sign, name_.size()) != name_) return false;
    return !is_digit(at(at_ - sign + name_.size())) && (at_ == sign || !is_word(at(at_ - sign - 1)));
  }

  // A closing word before the address of an issue. (Before a number, the number is defused.)
  bool closes() const {
    for (const std::string_view word : kClosing) {
      if (!begins_with(rest(), word) || is_word(at(at_ + word.size()))) continue;
      std::string_view target = rest().substr(word.size());
      target.remove_prefix(std::min(target.find_first_not_of(": \t\r\n<([*_`\"'"), target.size()));
      target = target.substr(0, target.find_first_of(" \t\r\n>)]`\"'"));
      const bool is_issue = target.find("/issues/") != target.npos || target.find("/pull/") != target.npos;
      return is_issue && target != url_;
    }
    return false;
  }

  std::string_view text_, url_, name_;
  std::size_t at_ = 0;
};

}  // namespace

std::string without_references(std::string_view text, const Ticket& own, const ForgeKind& forge) {
  return BreakingForge(text, own, forge).text();
}

}  // namespace sb::pipeline

#include "guard/shell/script_effects.hpp"

#include <algorithm>

namespace sb::guard {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_among(char c, std::string_view letters) {
  return letters.find(c) != std::string_view::npos;
}

class Letters {
 public:
  explicit Letters(std::string_view text) : text_(text) {}

  bool is_over() const { return at_ >= text_.size(); }
  char here() const { return is_over() ? '\0' : text_[at_]; }
  char behind() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  void skip(std::size_t by = 1) { at_ = std::min(at_ + by, text_.size()); }
  void skip_all(std::string_view letters) {
    while (!is_over() && is_among(here(), letters)) skip();
  }
  std::string_view to_line_end() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view rest = text_.substr(at_, end - at_);
    at_ = end;
    return rest;
  }
  // Moves past the next such letter that is not escaped; false when there is none.
  bool pass(char end) {
    for (; !is_over(); skip()) {
      if (here() == '\\') {
        skip();
      } else if (here() == end) {
        skip();
        return true;
      }
    }
    return false;
  }
  std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  std::size_t at() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

class Sed {
 public:
  explicit Sed(std::string_view script) : letters_(script) {}

  ScriptEffects read() {
    while (found_.is_clear) {
      letters_.skip_all(" \t\r\n;{}");
      if (letters_.is_over()) break;
      read_addresses();
      if (found_.is_clear) read_command();
    }
    return std::move(found_);
  }

 private:
  void lose() { found_.is_clear = false; }

  void read_addresses() {
    while (!letters_.is_over()) {
      const char c = letters_.here();
      if (is_digit(c) || is_among(c, "$,+~! \t")) {
        letters_.skip();
      } else if (c == '/' || c == '\\') {
        letters_.skip(c == '\\' ? 1 : 0);
        const char end = letters_.here();
        letters_.skip();
        if (!letters_.pass(end)) return lose();
        letters_.skip_all("IM");
      } else {
        return;
      }
    }
  }

  void read_command() {
    const char c = letters_.here();
    letters_.skip();
    if (c == '\0' || is_among(c, "{}=dDgGhHnNpPxzF")) return;
    if (is_among(c, "qQlL")) return letters_.skip_all(" 0123456789");
    if (c == 's' || c == 'y') return read_substitution(c == 's');
    if (c == 'w' || c == 'W') return add_file();
    if (is_among(c, "#rRbtT:v")) return read_label(c);
    if (is_among(c, "aic")) return read_text();
    if (c == 'e') {
      found_.runs = true;
      letters_.to_line_end();
      return;
    }
    lose();
  }

  void add_file() {
    letters_.skip_all(" \t");
    found_.written.emplace_back(letters_.to_line_end());
  }

  // File names extend to the end of the line, labels only to a semicolon.
  void read_label(char command) {
    const bool is_label = is_among(command, ":btTv");
    while (!letters_.is_over() && letters_.here() != '\n' && !(is_label && is_among(letters_.here(), ";}"))) {
      letters_.skip();
    }
  }

  void read_text() {
    while (!letters_.is_over() && letters_.here() != '\n') letters_.skip(letters_.here() == '\\' ? 2 : 1);
  }

  void read_substitution(bool has_flags) {
    const char end = letters_.here();
    letters_.skip();
    if (end == '\n' || end == '\\' || !letters_.pass(end) || !letters_.pass(end)) return lose();
    while (has_flags && !letters_.is_over()) {
      const char c = letters_.here();
      if (c == 'w') {
        letters_.skip();
        return add_file();
      }
      if (c == 'e') found_.runs = true;
      if (c != 'e' && !is_digit(c) && !is_among(c, "gpiImM")) break;
      letters_.skip();
    }
    letters_.skip_all(" \t");
    if (!letters_.is_over() && !is_among(letters_.here(), "\r\n;}#")) lose();
  }

  Letters letters_;
  ScriptEffects found_;
};

class Awk {
 public:
  explicit Awk(std::string_view program) : letters_(program) {}

  ScriptEffects read() {
    while (!letters_.is_over() && found_.is_clear) read_token();
    return std::move(found_);
  }

 private:
  void lose() { found_.is_clear = false; }

  void read_token() {
    const char c = letters_.here();
    if (is_word(c)) return read_name();
    letters_.skip();
    if (c == '"') {
      if (!letters_.pass('"')) lose();
    } else if (c == '/' && !is_value_before_) {
      if (!letters_.pass('/')) lose();
    } else if (c == '#') {
      letters_.to_line_end();
      return;
    } else if (c == '@') {
      return lose();  // loads another program, or calls a function named by a variable
    } else if (c == '|') {
      if (letters_.here() == '|')
        letters_.skip();
      else
        found_.runs = true;
    } else if (c == '>') {
      read_greater();
    } else if (is_among(c, " \t\r\\")) {
      return;
    } else {
      count_brackets(c);
    }
    is_value_before_ = is_among(c, ")]\"$");
  }

  void count_brackets(char c) {
    if (is_among(c, "([")) ++open_;
    if (is_among(c, ")]")) --open_;
    if (is_among(c, ";{}\n")) is_in_print_ = false;
  }

  void read_name() {
    const std::size_t begin = letters_.at();
    while (is_word(letters_.here())) letters_.skip();
    const std::string_view name = letters_.from(begin);
    if (name == "print" || name == "printf") {
      is_in_print_ = true;
      open_ = 0;
    }
    if (name == "system") found_.runs = true;
    constexpr std::string_view kBefore[] = {"print", "printf", "return", "in", "if", "while", "else", "do"};
    is_value_before_ = std::ranges::find(kBefore, name) == std::end(kBefore);
  }

  // A comparison, unless it is at the top level after `print`.
  void read_greater() {
    if (!is_in_print_ || open_ > 0) return;
    letters_.skip_all(">");
    letters_.skip_all(" \t");
    const std::size_t begin = letters_.at();
    if (letters_.here() != '"') return found_.written.emplace_back(), void();
    letters_.skip();
    if (!letters_.pass('"')) return lose();
    const std::string_view name = letters_.from(begin);
    letters_.skip_all(" \t\r");
    // More text may be appended to the name.
    const bool is_whole = letters_.is_over() || is_among(letters_.here(), ";}\n#");
    found_.written.emplace_back(is_whole ? name.substr(1, name.size() - 2) : std::string_view());
  }

  Letters letters_;
  ScriptEffects found_;
  bool is_in_print_ = false, is_value_before_ = false;
  int open_ = 0;
};

}  // namespace

ScriptEffects effects_of_sed(std::string_view script) {
  return Sed(script).read();
}

ScriptEffects effects_of_awk(std::string_view program) {
  return Awk(program).read();
}

}  // namespace sb::guard

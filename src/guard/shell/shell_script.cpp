#include "guard/shell/shell_script.hpp"

#include <algorithm>
#include <array>

#include "guard/limits.hpp"

namespace sb::guard {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::array<std::string_view, 12> kPassed = {"if",   "then",  "elif",  "else", "fi", "do",
                                                      "done", "while", "until", "!",    "{",  "}"};
constexpr std::array<std::string_view, 4> kNotFollowed = {"case", "function", "select", "coproc"};

template <class List>
bool is_one_of(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

std::size_t behind_bracket(std::string_view text, std::size_t at, int depth);

// The position after the quote that closes the one before `at`; npos when none does.
std::size_t behind_quote(std::string_view text, std::size_t at, int depth) {
  for (; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with("$(")) {
      at = behind_bracket(text, at + 2, depth + 1);
      if (at == std::string_view::npos) return at;
      --at;
    }
  }
  return std::string_view::npos;
}

// The word that ends a here-document whose `<<` is at `at`, without quotes.
std::string document_end(std::string_view text, std::size_t at) {
  at = std::min(text.find_first_not_of("<- \t", at), text.size());
  const std::string_view word = text.substr(at, text.find_first_of(" \t\r\n;|&<>)", at) - at);
  std::string end;
  for (const char c : word) {
    if (c != '\'' && c != '"' && c != '\\') end += c;
  }
  return end;
}

// The position after the line that equals `end`, searching from the line that begins at `at`.
std::size_t behind_document(std::string_view text, std::size_t at, std::string_view end) {
  while (at < text.size()) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, line_end - at);
    while (line.starts_with('\t')) line.remove_prefix(1);
    at = std::min(line_end + 1, text.size());
    if (line == end) break;
  }
  return at;
}

// The position after the bracket that closes the one before `at`; npos when none does.
std::size_t behind_bracket(std::string_view text, std::size_t at, int depth) {
  if (depth > limits::kShellDepth) return std::string_view::npos;
  std::vector<std::string> documents;
  for (int open = 1; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (c == '\'') {
      at = text.find('\'', at + 1);
      if (at == std::string_view::npos) return at;
    } else if (c == '"') {
      at = behind_quote(text, at + 1, depth + 1);
      if (at == std::string_view::npos) return at;
      --at;
    } else if (text.substr(at).starts_with("<<<")) {
      at += 2;
    } else if (text.substr(at).starts_with("<<")) {
      documents.push_back(document_end(text, at));
      ++at;
    } else if (c == '\n' && !documents.empty()) {
      ++at;
      for (const std::string& end : documents) at = behind_document(text, at, end);
      documents.clear();
      --at;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && --open == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

class Reader {
 public:
  // `made` counts the shells of the whole line.
  Reader(std::string_view text, std::vector<int> shells, int& made, ShellScript& script)
      : text_(text), shells_(std::move(shells)), made_(made), script_(script) {
    if (shells_.size() > std::size_t{limits::kShellDepth}) lose("it is nested too deeply");
  }

  void read() {
    while (at_ < text_.size() && !is_lost_) read_item();
    end_command();
  }

 private:
  void lose(std::string_view why) {
    is_lost_ = true;
    if (script_.unclear.empty()) script_.unclear = why;
  }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char behind(std::size_t by) const { return at_ + by < text_.size() ? text_[at_ + by] : '\0'; }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  bool take(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void nested(std::string_view inner) {
    Reader(inner, shells_inside(), made_, script_).read();
    if (!script_.unclear.empty()) is_lost_ = true;
  }

  std::vector<int> shells_inside() {
    std::vector<int> shells = shells_;
    shells.push_back(++made_);
    return shells;
  }

  // `token` is the one that ends it.
  void end_command(std::string_view token = {}) {
    const bool is_piped = token == "|" || token == "|&";
    if (!command_.words.empty() || !command_.outputs.empty()) {
      command_.shells = shells_;
      command_.is_in_pipe = is_piped || is_behind_pipe_ || token == "&";
      script_.commands.push_back(std::move(command_));
    }
    command_ = {};
    is_behind_pipe_ = is_piped;
    is_in_test_ = is_in_for_ = false;
  }

  void read_item() {
    const char c = here();
    if (kBlank.find(c) != std::string_view::npos) {
      ++at_;
    } else if (c == '\\' && behind(1) == '\n') {
      at_ += 2;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      ++at_;
      end_command();
      skip_documents();
    } else if (is_in_test_ && c != '"' && c != '\'' && is_operator(c)) {
      ++at_;  // inside [[ ]] these are comparisons
    } else if (read_redirection() || read_operator()) {
      return;
    } else {
      read_argument();
    }
  }

  static bool is_operator(char c) { return std::string_view(";&|()<>").find(c) != std::string_view::npos; }

  bool read_operator() {
    if (take("((")) return skip_arithmetic();
    if (here() == '(') {
      if (!command_.words.empty()) return lose("it defines a function"), true;
      ++at_;
      nested(balanced());
      return true;
    }
    if (here() == ')') return lose("a closing bracket has no opening one"), true;
    for (const std::string_view token : {"&&", "||", ";;", "|&", ";", "|", "&"}) {
      if (!take(token)) continue;
      end_command(token);
      return true;
    }
    return false;
  }

  bool skip_arithmetic() {
    const std::size_t end = text_.find("))", at_);
    if (end == std::string_view::npos) return lose("an arithmetic expression is not closed"), true;
    if (text_.substr(at_, end - at_).find_first_of("`$") != std::string_view::npos) {
      const std::string_view inner = text_.substr(at_, end - at_);
      if (inner.find("$(") != std::string_view::npos || inner.find('`') != std::string_view::npos) {
        return lose("an arithmetic expression contains a command"), true;
      }
    }
    at_ = end + 2;
    return true;
  }

  // Consumes the text up to and including the bracket that closes the one just passed.
  std::string_view balanced() {
    const std::size_t begin = at_;
    const std::size_t end = behind_bracket(text_, begin, 0);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      lose("a bracket or quote is not closed");
      return {};
    }
    at_ = end;
    return text_.substr(begin, end - 1 - begin);
  }

  bool read_redirection() {
    std::size_t digits = 0;
    while (behind(digits) >= '0' && behind(digits) <= '9') ++digits;
    const bool is_both = here() == '&' && behind(1) == '>';
    const char sign = is_both ? '>' : behind(digits);
    if (sign != '<' && sign != '>') return false;
    if (behind(digits + 1) == '(' && !is_both) return false;  // a substitution, read as a word
    at_ += is_both ? 1 : digits;
    if (take("<<<") || take("<&")) return (void)read_word(), true;
    if (take("<<-")) return begin_document(true), true;
    if (take("<<")) return begin_document(false), true;
    const bool writes = here() == '>' || behind(1) == '>';
    const bool is_copy = take(">&");
    if (!is_copy && !take("<>") && !take(">>") && !take(">|")) ++at_;
    skip_blanks();
    const ShellWord target = read_word();
    const bool is_number = target.text.find_first_not_of("0123456789-") == std::string::npos;
    if (!writes || (is_copy && is_number) || (target.is_known && is_harmless_file(target.text))) return true;
    command_.outputs.push_back(target);
    return true;
  }

  void skip_blanks() {
    while (kBlank.find(here()) != std::string_view::npos && at_ < text_.size()) ++at_;
  }

  struct Document {
    std::string end;
    bool is_quoted = false, strips_tabs = false;
    std::size_t at = 0;  // in the script's documents
  };

  void begin_document(bool strips_tabs) {
    skip_blanks();
    const std::size_t begin = at_;
    const ShellWord word = read_word();
    const bool is_quoted = text_.substr(begin, at_ - begin).find_first_of("'\"\\") != std::string_view::npos;
    documents_.push_back({word.text, is_quoted, strips_tabs, script_.documents.size()});
    command_.documents.push_back(script_.documents.size());
    script_.documents.emplace_back();
  }

  void skip_documents() {
    for (const Document& document : documents_) {
      for (bool is_over = false; !is_over && at_ < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        while (document.strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
        is_over = line == document.end;
        if (is_over) continue;
        ShellWord& text = script_.documents[document.at];
        text.text += std::string(line) + "\n";
        text.is_known = text.is_known && (document.is_quoted || line.find_first_of("$`\\") == std::string_view::npos);
        if (!document.is_quoted) read_expansions(line);
      }
    }
    documents_.clear();
  }

  // Commands in a text that is otherwise data.
  void read_expansions(std::string_view line) {
    if (line.find_first_of("$`") == std::string_view::npos) return;
    std::string quoted = "\"";
    for (const char c : line) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    quoted += '"';
    Reader inner(quoted, shells_inside(), made_, script_);
    (void)inner.read_word();
    if (inner.is_lost_) lose("a here-document spans lines in a way that cannot be analyzed");
  }

  void read_argument() {
    const bool is_plain = std::string_view("'\"\\$`").find(here()) == std::string_view::npos;
    const std::size_t before = at_;
    ShellWord word = read_word();
    if (at_ == before) ++at_;
    if (is_in_test_) {
      if (word.text == "]]") is_in_test_ = false;
      return;
    }
    if (is_in_for_) return;  // the words a loop iterates over run nothing
    if (command_.words.empty() && is_plain) {
      if (is_one_of(kPassed, word.text)) return;
      if (is_one_of(kNotFollowed, word.text)) return lose("`" + word.text + "` is not supported");
      if (word.text == "for") is_in_for_ = true;
      if (word.text == "[[") is_in_test_ = true;
      if (is_in_for_ || is_in_test_) return;
    }
    command_.words.push_back(std::move(word));
  }

  ShellWord read_word() {
    ShellWord word;
    for (; at_ < text_.size() && !is_lost_;) {
      const char c = here();
      if (kBlank.find(c) != std::string_view::npos || c == '\n') break;
      if ((c == '<' || c == '>') && behind(1) == '(') {
        at_ += 2;
        nested(balanced());
        word.is_known = false;
        continue;
      }
      if (is_operator(c)) break;
      read_piece(word);
    }
    return word;
  }

  void read_piece(ShellWord& word) {
    const char c = here();
    switch (c) {
      case '\\':
        if (behind(1) != '\n' && at_ + 1 < text_.size()) word.text += behind(1);
        at_ += 2;
        return;
      case '\'': {
        const std::size_t end = text_.find('\'', at_ + 1);
        if (end == std::string_view::npos) return lose("a quote is not closed");
        word.text += text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return;
      }
      case '"':
        ++at_;
        return read_quoted(word);
      case '$':
        if (behind(1) == '\'') return lose("a $'…' quote is not supported");
        return read_expansion(word);
      case '`':
        return read_expansion(word);
      case '*':
      case '?':
      case '[':
        word.is_pattern = true;
        break;
      case '{':
      case '~':
        if (c == '{' && is_brace()) {
          if (read_names(word)) return;
          word.is_known = false;
        } else if (c == '~' && word.text.empty()) {
          word.is_known = false;
        }
        break;
      default:
        break;
    }
    word.text += c;
    ++at_;
  }

  // `{a,b.c}`, plain names: read as `*`, which matches them.
  bool read_names(ShellWord& word) {
    const std::string_view inner = rest().substr(1, rest().find('}') - 1);
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    char before = ',';
    for (const char c : inner) {
      const bool begins_name = before == ',';
      if (!is_plain(c) && (begins_name || (c != '.' && c != ',') || before == '.')) return false;
      before = c;
    }
    if (before == ',' || inner.size() + 2 > rest().size()) return false;
    word.text += '*';
    word.is_pattern = word.is_list = true;
    at_ += inner.size() + 2;
    return true;
  }

  // `{}` and a lone brace are literal.
  bool is_brace() const {
    const std::string_view inner = rest().substr(0, rest().find_first_of("} \t\n"));
    return inner.find(',') != std::string_view::npos || inner.find("..") != std::string_view::npos;
  }

  void read_quoted(ShellWord& word) {
    while (at_ < text_.size() && !is_lost_) {
      const char c = here();
      if (c == '"') {
        ++at_;
        return;
      }
      if (c == '$' || c == '`') {
        read_expansion(word);
      } else if (c == '\\' && std::string_view("$`\"\\").find(behind(1)) != std::string_view::npos) {
        word.text += behind(1);
        at_ += 2;
      } else {
        word.text += c;
        ++at_;
      }
    }
    if (!is_lost_) lose("a quote is not closed");
  }

  void read_expansion(ShellWord& word) {
    if (take("`")) {
      std::string inner;
      for (; at_ < text_.size() && here() != '`'; ++at_) {
        if (here() == '\\' && behind(1) == '`') ++at_;
        inner += here();
      }
      if (at_ >= text_.size()) return lose("a backtick is not closed");
      ++at_;
      word.is_known = false;
      return nested(inner);
    }
    if (take("$((")) {
      word.is_known = false;
      return (void)skip_arithmetic();
    }
    if (take("$(")) {
      word.is_known = false;
      return nested(balanced());
    }
    if (take("${")) {
      word.is_known = false;
      const std::size_t end = std::min(text_.find('}', at_), text_.size());
      const std::string_view inner = text_.substr(at_, end - at_);
      if (end == text_.size() || inner.find("$(") != std::string_view::npos ||
          inner.find_first_of("`\"'") != std::string_view::npos) {
        return lose("this variable expansion is not supported");
      }
      at_ = end + 1;
      return;
    }
    const char next = behind(1);
    const bool is_name = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9');
    if (is_name || (next != '\0' && std::string_view("_@*#?$!-").find(next) != std::string_view::npos)) {
      word.is_known = false;
    }
    word.text += '$';
    ++at_;
  }

  std::string_view text_;
  std::vector<int> shells_;
  int& made_;
  ShellScript& script_;
  std::size_t at_ = 0;
  bool is_lost_ = false, is_in_test_ = false, is_in_for_ = false, is_behind_pipe_ = false;
  ShellCommand command_;
  std::vector<Document> documents_;
};

}  // namespace

bool is_harmless_file(std::string_view path) {
  return path == "/dev/null" || path == "/dev/stdout" || path == "/dev/stderr" || path == "/dev/tty" ||
         path.starts_with("/dev/fd/");
}

ShellScript read_shell(std::string_view text) {
  ShellScript script;
  int made = 0;
  Reader(text, {}, made, script).read();
  return script;
}

}  // namespace sb::guard

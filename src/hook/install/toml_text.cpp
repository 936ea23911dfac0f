#include "hook/install/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::hook {
namespace {

using Key = std::vector<std::string>;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_scalar(char c) {
  return is_bare(c) || c == '+' || c == '.' || c == ':';
}

class TomlScanner {
 public:
  TomlScanner(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  Result<std::vector<TomlItem>> items() {
    if (!is_utf8(text_)) return fail(ErrorCode::kInvalid, "is not UTF-8", "Fix the file first", {name_, "", 0, 0});
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      skip_blanks();
      if (!SB_TRY(ends_line())) {
        TomlItem item = SB_TRY(peek() == '[' ? header() : pair());
        item.begin = begin;
        skip_blanks();
        if (!SB_TRY(ends_line())) return wrong("unexpected text on the same line");
        item.end = at_;
        items_.push_back(std::move(item));
      }
    }
    return std::move(items_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool is_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool is_done() const { return at_ >= text_.size(); }

  std::unexpected<Error> wrong(std::string message, std::optional<std::size_t> where = {}) const {
    const std::string_view before = text_.substr(0, where.value_or(at_));
    const std::size_t feed = before.rfind('\n');
    const std::string_view line = feed == std::string_view::npos ? before : before.substr(feed + 1);
    return fail(ErrorCode::kInvalid, std::move(message), "Fix the file first; nothing was changed",
                {name_, "", static_cast<int>(std::ranges::count(before, '\n')) + 1,
                 static_cast<int>(count_code_points(line)) + 1});
  }

  // Counts from the last position asked for: items come in order.
  int line() {
    line_ += static_cast<int>(std::ranges::count(text_.substr(counted_, at_ - counted_), '\n'));
    counted_ = at_;
    return line_;
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  // Skips a comment and the end of the line or text; false when something else is here.
  Result<bool> ends_line() {
    if (peek() == '#') {
      while (!is_done() && peek() != '\n') {
        const auto c = static_cast<unsigned char>(peek());
        const bool is_return = c == '\r' && peek(1) == '\n';
        if ((c < 0x20 && c != '\t' && !is_return) || c == 0x7f) return wrong("a control character in a comment");
        ++at_;
      }
    }
    if (is_done()) return true;
    if (is_at("\r\n")) ++at_;
    if (peek() != '\n') return false;
    ++at_;
    return true;
  }

  Result<std::string> key_part() {
    if (peek() == '"' || peek() == '\'') {
      if (is_at("\"\"\"") || is_at("'''")) return wrong("a key cannot be a multi-line string");
      return peek() == '"' ? basic() : literal();
    }
    const std::size_t from = at_;
    while (is_bare(peek())) ++at_;
    if (at_ == from) return wrong("expected a key");
    return std::string(text_.substr(from, at_ - from));
  }

  Result<Key> key() {
    Key key;
    while (true) {
      skip_blanks();
      key.push_back(SB_TRY(key_part()));
      skip_blanks();
      if (peek() != '.') return key;
      if (key.size() >= limits::kDocumentDepth) return wrong("nested too deeply");
      ++at_;
    }
  }

  Result<TomlItem> header() {
    TomlItem item;
    item.line = line();
    const std::size_t from = at_;
    const bool is_list = is_at("[[");
    item.kind = is_list ? TomlItem::Kind::kTableList : TomlItem::Kind::kTable;
    at_ += is_list ? 2 : 1;
    item.table = SB_TRY(key());
    if (!is_at(is_list ? "]]" : "]")) return wrong(is_list ? "expected ]]" : "expected ]");
    at_ += is_list ? 2 : 1;
    if (is_list) {
      // Each element of a list has its own tables.
      std::erase_if(seen_, [&](const Key& seen) {
        return seen.size() > item.table.size() && std::equal(item.table.begin(), item.table.end(), seen.begin());
      });
    } else if (!seen_.insert(item.table).second) {
      return wrong("duplicate table", from);
    }
    table_ = item.table;
    keys_.clear();
    return item;
  }

  Result<TomlItem> pair() {
    TomlItem item;
    item.line = line();
    item.table = table_;
    const std::size_t from = at_;
    item.key = SB_TRY(key());
    if (!keys_.insert(item.key).second) return wrong("duplicate key", from);
    if (peek() != '=') return wrong("expected =");
    ++at_;
    skip_blanks();
    item.value_begin = at_;
    item.value = SB_TRY(value(0));
    item.value_end = at_;
    return item;
  }

  Result<Value> value(int depth) {
    if (depth > limits::kDocumentDepth) return wrong("nested too deeply");
    if (is_at("\"\"\"")) return Value(SB_TRY(lines("\"\"\"")));
    if (is_at("'''")) return Value(SB_TRY(lines("'''")));
    if (peek() == '"') return Value(SB_TRY(basic()));
    if (peek() == '\'') return Value(SB_TRY(literal()));
    if (peek() == '[') return list(depth);
    if (peek() == '{') return inline_table(depth);
    const std::size_t from = at_;
    while (is_scalar(peek())) ++at_;
    // A date and a time may be separated by one space.
    if (at_ - from == 10 && text_[from + 4] == '-' && peek() == ' ' && peek(1) >= '0' && peek(1) <= '9') {
      for (++at_; is_scalar(peek());) ++at_;
    }
    const std::string_view word = text_.substr(from, at_ - from);
    if (word == "true" || word == "false") return Value(word == "true");
    const std::size_t sign = word.starts_with('+') || word.starts_with('-') ? 1 : 0;
    const bool begins_well = word.size() > sign && ((word[sign] >= '0' && word[sign] <= '9') ||
                                                    word.substr(sign) == "inf" || word.substr(sign) == "nan");
    if (!begins_well) return wrong("expected a value", from);
    const bool is_plain = word.size() < 18 && word.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_plain && word.front() != '0') return Value(std::stoll(std::string(word)));
    return Value();
  }

  Status skip_lines() {
    while (true) {
      skip_blanks();
      if (peek() != '#' && peek() != '\n' && !is_at("\r\n")) return {};
      SB_TRY(ends_line());
    }
  }

  Result<Value> list(int depth) {
    Value list = Value::array();
    ++at_;
    while (true) {
      SB_TRY(skip_lines());
      if (peek() == ']') break;
      list.push_back(SB_TRY(value(depth + 1)));
      SB_TRY(skip_lines());
      if (peek() == ']') break;
      if (peek() != ',') return wrong("expected , or ]");
      ++at_;
    }
    ++at_;
    return list;
  }

  Result<Value> inline_table(int depth) {
    Value table = Value::object();
    ++at_;
    skip_blanks();
    while (peek() != '}') {
      const Key names = SB_TRY(key());
      if (peek() != '=') return wrong("expected =");
      ++at_;
      skip_blanks();
      Value part = SB_TRY(value(depth + static_cast<int>(names.size())));
      Value* inner = &table;
      for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        if (!inner->find(names[i])) inner->set(names[i], Value::object());
        inner = inner->find(names[i]);
        if (!inner->is_object()) return wrong("duplicate key");
      }
      if (inner->find(names.back())) return wrong("duplicate key");
      inner->set(names.back(), std::move(part));
      skip_blanks();
      if (peek() == '}') break;
      if (peek() != ',') return wrong("expected , or }");
      ++at_;
      skip_blanks();
      if (peek() == '}') return wrong("expected a key");
    }
    ++at_;
    return table;
  }

  Result<std::string> literal() {
    const std::size_t from = ++at_;
    while (!is_done() && peek() != '\'' && peek() != '\n') ++at_;
    if (peek() != '\'') return wrong("unterminated string", from - 1);
    return std::string(text_.substr(from, at_++ - from));
  }

  Result<std::string> basic() {
    const std::size_t from = at_++;
    std::string out;
    while (peek() != '"') {
      if (is_done() || peek() == '\n') return wrong("unterminated string", from);
      if (static_cast<unsigned char>(peek()) < 0x20 && peek() != '\t') return wrong("a control character in a string");
      if (peek() == '\\') {
        SB_TRY(escape(out));
      } else {
        out += text_[at_++];
      }
    }
    ++at_;
    return out;
  }

  // A multi-line string between triple quotes; up to two more quotes may come right before its end.
  Result<std::string> lines(std::string_view mark) {
    const std::size_t from = at_;
    at_ += mark.size();
    if (is_at("\r\n")) ++at_;
    if (peek() == '\n') ++at_;
    std::string out;
    while (!is_at(mark)) {
      if (is_done()) return wrong("unterminated string", from);
      if (mark == "\"\"\"" && peek() == '\\') {
        SB_TRY(joins_lines() ? Status{} : escape(out));
      } else {
        out += text_[at_++];
      }
    }
    at_ += mark.size();
    for (int more = 0; more < 2 && peek() == mark.front(); ++more) out += text_[at_++];
    return out;
  }

  // A backslash at the end of a line removes the white space up to the next text.
  bool joins_lines() {
    std::size_t end = text_.find_first_not_of(" \t\r", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '\n') return false;
    at_ = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", end));
    return true;
  }

  Status escape(std::string& out) {
    constexpr std::string_view kNames = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    const char c = peek(1);
    if (const std::size_t which = kNames.find(c); c != '\0' && which != std::string_view::npos) {
      out += kMeanings[which];
      at_ += 2;
      return {};
    }
    const std::size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const std::string_view hex = text_.substr(std::min(at_ + 2, text_.size()), digits);
    const auto bytes = from_hex(hex);
    if (digits == 0 || hex.size() != digits || !bytes) return wrong("invalid escape");
    char32_t code = 0;
    for (const char byte : *bytes) code = (code << 8) | static_cast<unsigned char>(byte);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return wrong("invalid character");
    append_code_point(out, code);
    at_ += 2 + digits;
    return {};
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
  std::vector<TomlItem> items_;
  Key table_;
  std::set<Key> seen_;  // tables
  std::set<Key> keys_;  // of the current table
};

}  // namespace

Result<std::vector<TomlItem>> scan_toml(const std::string& name, std::string_view text) {
  return TomlScanner(name, text).items();
}

std::string quote_toml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace sb::hook

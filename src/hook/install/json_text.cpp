#include "hook/install/json_text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "base/document/document.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// A member of an object, or an item of a list.
struct JsonPart {
  std::string name;     // empty in a list
  std::size_t key = 0;  // where it begins
  std::size_t begin = 0;
  std::size_t end = 0;  // after its value
};

struct JsonContainer {
  std::size_t open = 0;
  std::size_t close = 0;
  std::vector<JsonPart> parts;
};

std::size_t behind_space(std::string_view text, std::size_t at) {
  return std::min(text.size(), text.find_first_not_of(kSpace, at));
}

std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

std::size_t behind_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return behind_string(text, at);
  if (text[at] != '{' && text[at] != '[') return std::min(text.size(), text.find_first_of(" \t\r\n,]}", at));
  for (int depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

JsonContainer container_at(std::string_view text, std::size_t open) {
  SB_ASSERT(open < text.size() && (text[open] == '{' || text[open] == '['));
  JsonContainer container{.open = open, .close = behind_value(text, open) - 1, .parts = {}};
  for (std::size_t at = behind_space(text, open + 1); at < container.close;) {
    JsonPart part{.name = {}, .key = at, .begin = at};
    if (text[open] == '{') {
      const std::size_t key_end = behind_string(text, at);
      const auto name = parse_json(text.substr(at, key_end - at));
      SB_ASSERT(name && name->is_string());
      part.name = name->as_string();
      part.begin = behind_space(text, text.find(':', key_end) + 1);
    }
    part.end = behind_value(text, part.begin);
    at = behind_space(text, part.end);
    if (at < container.close && text[at] == ',') at = behind_space(text, at + 1);
    container.parts.push_back(std::move(part));
  }
  return container;
}

// The file's newline and indentation unit.
struct JsonLayout {
  std::string_view newline;
  std::string_view unit;
  bool is_compact;  // all on one line
};

JsonLayout layout_of(std::string_view text, const JsonContainer& root) {
  const std::size_t line_feed = text.substr(root.open, root.close - root.open).find('\n');
  const bool has_returns = text.find("\r\n") != std::string_view::npos;
  JsonLayout layout{has_returns ? "\r\n" : "\n", "  ", line_feed == std::string_view::npos && !root.parts.empty()};
  if (line_feed == std::string_view::npos || root.parts.empty()) return layout;
  const std::size_t line = text.rfind('\n', root.parts.front().key);
  if (line == std::string_view::npos || line < root.open) return layout;
  const std::string_view indent = text.substr(line + 1, root.parts.front().key - line - 1);
  if (!indent.empty() && indent.find_first_not_of(" \t") == std::string_view::npos) layout.unit = indent;
  return layout;
}

// The leading white space of the line that contains this offset.
std::string_view indent_around(std::string_view text, std::size_t at) {
  const std::size_t feed = text.rfind('\n', at);
  const std::size_t line = feed == std::string_view::npos ? 0 : feed + 1;
  const std::size_t end = std::min(text.find_first_not_of(" \t", line), text.size());
  return text.substr(line, end - line);
}

std::string format_like(const Value& value, const JsonLayout& layout, std::string_view base) {
  if (layout.is_compact) return to_json(value);
  const std::string pretty = to_pretty_json(value, 1);  // one space per level
  std::string out;
  for (std::size_t at = 0; at < pretty.size();) {
    const std::size_t end = std::min(pretty.find('\n', at), pretty.size());
    const std::size_t from = at == 0 ? 0 : pretty.find_first_not_of(' ', at);
    if (at > 0) {
      out.append(layout.newline).append(base);
      for (std::size_t level = at; level < from; ++level) out += layout.unit;
    }
    out += pretty.substr(from, end - from);
    at = end + 1;
  }
  return out;
}

// Where to look next: the name of a member, or the position of an item.
struct JsonStep {
  std::string name = {};
  std::size_t index = 0;
};
using JsonPath = std::vector<JsonStep>;

const JsonPart& part_at(const JsonContainer& container, std::string_view text, const JsonStep& step) {
  if (text[container.open] == '[') return container.parts.at(step.index);
  const auto found = std::ranges::find(container.parts, step.name, &JsonPart::name);
  SB_ASSERT(found != container.parts.end());
  return *found;
}

// With spaces in place of comments, and of trailing commas.
std::string blanked(std::string_view text, bool with_commas) {
  std::string out(text);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < std::min(end, out.size()); ++at) {
      if (out[at] != '\n' && out[at] != '\r') out[at] = ' ';
    }
  };
  std::size_t comma = std::string::npos;  // the last one, if only space follows it
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '/' && (next == '/' || next == '*')) {
      const std::size_t close = next == '/' ? text.find('\n', at) : text.find("*/", at + 2);
      if (close == std::string_view::npos && next == '*') break;
      const std::size_t end = close == std::string_view::npos ? text.size() : close + (next == '/' ? 0 : 2);
      blank(at, end);
      at = end - 1;
    } else if (c == '"') {
      comma = std::string::npos;
      at = behind_string(text, at) - 1;
    } else if (kSpace.find(c) == std::string_view::npos) {
      if (with_commas && (c == '}' || c == ']') && comma != std::string::npos) out[comma] = ' ';
      comma = c == ',' ? at : std::string::npos;
    }
  }
  return out;
}

// A text during one edit. `plain` has the same offsets, and no comments.
class JsonEdit {
 public:
  explicit JsonEdit(std::string text)
      : text_(std::move(text)),
        plain_(blanked(text_, false)),
        // A byte order mark may come first.
        root_(container_at(plain_, plain_.find('{'))),
        layout_(layout_of(plain_, root_)) {}

  std::string added(const JsonPath& path, std::string_view name, const Value& value) const;
  std::string removed(JsonPath path) const;
  std::string replaced(JsonPath path, const Value& value) const;

 private:
  JsonContainer container_of(const JsonPath& path) const {
    JsonContainer container = root_;
    for (const JsonStep& step : path) container = container_at(plain_, part_at(container, plain_, step).begin);
    return container;
  }
  std::string_view between(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }
  // The end of the last comment in a part of the text without values; its begin when there is none.
  std::size_t after_comments(std::size_t begin, std::size_t end) const {
    for (std::size_t at = end; at > begin; --at) {
      if (plain_[at - 1] != text_[at - 1]) return at;
    }
    return begin;
  }
  // The end of a comment that begins on this line and thus belongs to what is before it; else `at`.
  std::size_t after_comment_on_line(std::size_t at, std::size_t end) const {
    const std::size_t line_end = std::min(text_.find_first_of("\r\n", at), end);
    for (std::size_t begin = at; begin < line_end; ++begin) {
      if (plain_[begin] == text_[begin]) continue;
      return text_[begin + 1] == '/' ? line_end : text_.find("*/", begin + 2) + 2;
    }
    return at;
  }
  bool has_comment(std::size_t begin, std::size_t end) const { return after_comments(begin, end) != begin; }

  std::string text_, plain_;
  JsonContainer root_;
  JsonLayout layout_;
};

std::string JsonEdit::added(const JsonPath& path, std::string_view name, const Value& value) const {
  const JsonContainer into = container_of(path);
  const bool is_list = plain_[into.open] == '[';
  const std::string key = is_list ? "" : quote_json(name) + (layout_.is_compact ? ":" : ": ");
  const std::string nl(layout_.newline);
  std::string out = text_;
  if (into.parts.empty()) {
    const std::string base(indent_around(text_, into.open));
    const std::string inner = base + std::string(layout_.unit);
    // Behind a comment there must be a line break.
    const bool is_behind = has_comment(into.open + 1, into.close);
    const std::size_t at = is_behind ? after_comments(into.open + 1, into.close) : into.open + 1;
    const bool is_compact = layout_.is_compact && !is_behind;
    const std::string part = is_compact ? key + format_like(value, layout_, "")
                                        : nl + inner + key + format_like(value, layout_, inner) + nl + base;
    return out.replace(at, into.close - at, part);
  }
  const JsonPart &first = into.parts.front(), &last = into.parts.back();
  const std::string_view gap = between(into.open + 1, first.key);
  const bool has_lines = gap.find('\n') != std::string_view::npos;
  const JsonLayout own{layout_.newline, layout_.unit, !has_lines};
  const std::string indent(indent_around(text_, first.key));
  const std::string part = key + format_like(value, own, has_lines ? indent : "");
  if (!has_lines) return out.insert(last.end, (layout_.is_compact ? "," : ", ") + part);
  const std::string before = has_comment(into.open + 1, first.key) ? nl + indent : std::string(gap);
  const std::size_t at = after_comment_on_line(last.end, into.close);
  const bool has_comma = plain_[behind_space(plain_, last.end)] == ',';
  out.insert(at, at == last.end ? "," + before + part : before + part);
  if (at != last.end && !has_comma) out.insert(last.end, ",");
  return out;
}

std::string JsonEdit::removed(JsonPath path) const {
  const JsonStep step = path.back();
  path.pop_back();
  const JsonContainer from = container_of(path);
  const JsonPart& part = part_at(from, plain_, step);
  const std::size_t index = static_cast<std::size_t>(&part - from.parts.data());
  const std::size_t behind = behind_space(plain_, part.end);
  const bool has_comma = plain_[behind] == ',';
  const std::size_t comma = has_comma ? behind + 1 : part.end;
  std::string out = text_;
  if (from.parts.size() == 1) {
    const bool is_kept = has_comment(from.open + 1, part.key) || has_comment(part.end, from.close);
    if (!is_kept) return out.erase(from.open + 1, from.close - from.open - 1);
    const std::size_t begin = after_comments(from.open + 1, part.key);
    return out.erase(begin, comma - begin);
  }
  if (index == 0) {
    const std::size_t next = from.parts[1].key;
    return out.erase(part.key, (has_comment(part.end, next) ? comma : next) - part.key);
  }
  const std::size_t previous = from.parts[index - 1].end;
  const std::size_t begin = after_comments(previous, part.key);
  if (begin == previous) return out.erase(previous, part.end - previous);
  // The comments before it stay.
  out.erase(begin, comma - begin);
  if (!has_comma) out.erase(plain_.find(',', previous), 1);
  return out;
}

std::string JsonEdit::replaced(JsonPath path, const Value& value) const {
  const JsonStep step = path.back();
  path.pop_back();
  const JsonContainer container = container_of(path);
  const JsonPart& part = part_at(container, plain_, step);
  const std::string_view old = between(part.begin, part.end);
  const JsonLayout own{layout_.newline, layout_.unit, old.find('\n') == std::string_view::npos};
  return std::string(text_).replace(part.begin, old.size(), format_like(value, own, indent_around(text_, part.key)));
}

// The positions of the items that are not in `after`; nothing if more changed than that.
std::optional<std::vector<std::size_t>> missing_items(const Value& before, const Value& after) {
  std::vector<std::size_t> missing;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (kept < after.size() && before.items()[i] == after.items()[kept]) {
      ++kept;
    } else {
      missing.push_back(i);
    }
  }
  return kept == after.size() ? std::optional(missing) : std::nullopt;
}

class JsonChange {
 public:
  explicit JsonChange(std::string text) : text_(std::move(text)) {}

  void make(const Value& before, const Value& after) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) return change_members(before, after);
    if (before.is_array() && after.is_array() && change_items(before, after)) return;
    text_ = JsonEdit(text_).replaced(path_, after);
  }
  std::string take() { return std::move(text_); }

 private:
  void within(JsonStep step, const Value& before, const Value& after) {
    path_.push_back(std::move(step));
    make(before, after);
    path_.pop_back();
  }
  void remove(JsonStep step) {
    path_.push_back(std::move(step));
    text_ = JsonEdit(text_).removed(path_);
    path_.pop_back();
  }
  void change_members(const Value& before, const Value& after) {
    for (const Value::Member& member : before.members()) {
      if (after.find(member.name) == nullptr) remove({.name = member.name});
    }
    for (const Value::Member& member : after.members()) {
      const Value* there = before.find(member.name);
      if (there != nullptr) {
        within({.name = member.name}, *there, member.value);
      } else {
        text_ = JsonEdit(text_).added(path_, member.name, member.value);
      }
    }
  }
  bool change_items(const Value& before, const Value& after) {
    if (after.size() < before.size()) {
      const auto missing = missing_items(before, after);
      if (!missing) return false;
      for (auto at = missing->rbegin(); at != missing->rend(); ++at) remove({.index = *at});
      return true;
    }
    for (std::size_t i = 0; i < before.size(); ++i) within({.index = i}, before.items()[i], after.items()[i]);
    for (std::size_t i = before.size(); i < after.size(); ++i) {
      text_ = JsonEdit(text_).added(path_, "", after.items()[i]);
    }
    return true;
  }

  std::string text_;
  JsonPath path_;
};

}  // namespace

std::string without_json_comments(std::string_view text) {
  return blanked(text, true);
}

std::string with_json_changes(std::string text, const Value& before, const Value& after) {
  JsonChange change(std::move(text));
  change.make(before, after);
  return change.take();
}

}  // namespace sb::hook

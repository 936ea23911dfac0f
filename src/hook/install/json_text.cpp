#include "hook/install/json_text.hpp"

#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "base/document/document.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

struct Member {
  std::string name;
  std::size_t key = 0;  // where its key begins
  std::size_t begin = 0;
  std::size_t end = 0;  // after its value
};

struct Object {
  std::size_t open = 0;
  std::size_t close = 0;
  std::vector<Member> members;
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

Object object_at(std::string_view text, std::size_t open) {
  SB_ASSERT(open < text.size() && text[open] == '{');
  Object object{.open = open, .close = behind_value(text, open) - 1, .members = {}};
  for (std::size_t at = behind_space(text, open + 1); at < object.close;) {
    Member member{.name = {}, .key = at};
    const std::size_t key_end = behind_string(text, at);
    const auto name = parse_json(text.substr(at, key_end - at));
    SB_ASSERT(name && name->is_string());
    member.name = name->as_string();
    member.begin = behind_space(text, text.find(':', key_end) + 1);
    member.end = behind_value(text, member.begin);
    at = behind_space(text, member.end);
    if (at < object.close && text[at] == ',') at = behind_space(text, at + 1);
    object.members.push_back(std::move(member));
  }
  return object;
}

const Member* find(const Object& object, std::string_view name) {
  const auto found = std::ranges::find(object.members, name, &Member::name);
  return found == object.members.end() ? nullptr : &*found;
}

// The file's newline and indentation unit.
struct Layout {
  std::string_view newline;
  std::string_view unit;
  bool is_compact;  // all on one line
};

Layout layout_of(std::string_view text, const Object& root) {
  const std::size_t line_feed = text.substr(root.open, root.close - root.open).find('\n');
  const bool has_returns = text.find("\r\n") != std::string_view::npos;
  Layout layout{has_returns ? "\r\n" : "\n", "  ", line_feed == std::string_view::npos && !root.members.empty()};
  if (line_feed == std::string_view::npos || root.members.empty()) return layout;
  const std::size_t line = text.rfind('\n', root.members.front().key);
  if (line == std::string_view::npos || line < root.open) return layout;
  const std::string_view indent = text.substr(line + 1, root.members.front().key - line - 1);
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

std::string format_like(const Value& value, const Layout& layout, std::string_view base) {
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

std::string added(std::string_view text, const Object& object, std::string_view name, const Value& value,
                  const Layout& layout) {
  std::string out(text);
  const std::string key = quote_json(name) + (layout.is_compact ? ":" : ": ");
  if (object.members.empty()) {
    const std::string base(indent_around(text, object.open));
    const std::string inner = base + std::string(layout.unit);
    const std::string nl(layout.newline);
    const std::string member = layout.is_compact ? key + format_like(value, layout, "")
                                                 : nl + inner + key + format_like(value, layout, inner) + nl + base;
    return out.replace(object.open + 1, object.close - object.open - 1, member);
  }
  const Member& first = object.members.front();
  const std::string_view gap = text.substr(object.open + 1, first.key - object.open - 1);
  const bool has_lines = gap.find('\n') != std::string_view::npos;
  const Layout own{layout.newline, layout.unit, !has_lines};
  const std::string before = has_lines ? "," + std::string(gap) : layout.is_compact ? "," : ", ";
  const std::string member = key + format_like(value, own, has_lines ? indent_around(text, first.key) : "");
  return out.insert(object.members.back().end, before + member);
}

std::string taken(std::string_view text, const Object& object, const Member& member) {
  std::string out(text);
  const std::size_t index = static_cast<std::size_t>(&member - object.members.data());
  if (object.members.size() == 1) return out.erase(object.open + 1, object.close - object.open - 1);
  if (index > 0) {
    const std::size_t from = object.members[index - 1].end;
    return out.erase(from, member.end - from);
  }
  return out.erase(member.key, object.members[1].key - member.key);
}

Object root_of(std::string_view text) {
  // A byte order mark may come first.
  return object_at(text, text.find('{'));
}

}  // namespace

std::string with_member(std::string_view text, std::string_view container, std::string_view name, const Value& value) {
  const Object root = root_of(text);
  const Layout layout = layout_of(text, root);
  const Member* holder = find(root, container);
  if (!holder) return added(text, root, container, Value::object({{std::string(name), value}}), layout);
  const Object object = object_at(text, holder->begin);
  const Member* there = find(object, name);
  if (!there) return added(text, object, name, value, layout);
  const std::string_view old = text.substr(there->begin, there->end - there->begin);
  const Layout own{layout.newline, layout.unit, old.find('\n') == std::string_view::npos};
  return std::string(text).replace(there->begin, old.size(), format_like(value, own, indent_around(text, there->key)));
}

std::string without_member(std::string_view text, std::string_view container, std::string_view name,
                           bool remove_empty_container) {
  const Object root = root_of(text);
  const Member* holder = find(root, container);
  if (!holder) return std::string(text);
  const Object object = object_at(text, holder->begin);
  const Member* there = find(object, name);
  if (!there) return std::string(text);
  if (object.members.size() == 1 && remove_empty_container) return taken(text, root, *holder);
  return taken(text, object, *there);
}

}  // namespace sb::hook

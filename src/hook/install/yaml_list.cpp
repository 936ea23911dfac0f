#include "hook/install/yaml_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace sb::hook {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // not part of a document's text

// The offsets at which lines begin, and the end of the text.
std::vector<std::size_t> lines_of(std::string_view text) {
  std::vector<std::size_t> lines{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at + 1 < text.size()) lines.push_back(at + 1);
  }
  lines.push_back(text.size());
  return lines;
}

std::string_view newline_of(std::string_view text) {
  return text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
}

std::unexpected<Error> not_editable(SourceLocation location, std::string_view list) {
  return fail(ErrorCode::kInvalid, fmt::format("{} is not written as a block, one item below the other", list),
              "Rewrite it first, or add the output of --print by hand; nothing was changed", std::move(location));
}

// An item as it is written.
struct YamlItem {
  std::size_t begin = 0, end = 0;  // its lines
  std::size_t dash = 0;            // columns before the dash
  std::size_t indent = 0;          // columns before a member
};

class YamlList {
 public:
  YamlList(const Document& document, std::string_view list)
      : document_(document), text_(document.text), list_(list), lines_(lines_of(text_)) {}

  const Value& items() const { return document_.root[list_]; }
  bool is_empty() const { return !items().is_array() || items().size() == 0; }
  std::optional<std::size_t> position(std::string_view name) const {
    for (std::size_t i = 0; !is_empty() && i < items().size(); ++i) {
      if (items().items()[i].string_at("name") == name) return i;
    }
    return std::nullopt;
  }
  SourceLocation location() const { return document_.location_of("/" + std::string(list_)); }
  // The line of the list's key; its value is empty or written as `[]`.
  Result<std::size_t> key_line() const {
    const SourceLocation where = location();
    const std::string_view line = line_at(where.line);
    const std::size_t colon = line.find(':');
    if (where.column != 1 || colon == std::string_view::npos) return not_editable(where, list_);
    std::string_view rest = line.substr(colon + 1);
    rest = rest.substr(0, rest.find('#'));
    const std::size_t begin = rest.find_first_not_of(kBlank);
    if (begin != std::string_view::npos) rest = rest.substr(begin, rest.find_last_not_of(kBlank) - begin + 1);
    const bool is_nothing = begin == std::string_view::npos || rest == "[]" || rest == "null" || rest == "~";
    if (!is_nothing) return not_editable(where, list_);
    return static_cast<std::size_t>(where.line);
  }
  Result<YamlItem> item(std::size_t index) const {
    const SourceLocation where = document_.location_of(fmt::format("/{}/{}", list_, index));
    if (where.line < 1) return not_editable(location(), list_);
    const std::string_view line = line_at(where.line);
    const std::size_t dash = line.find_first_not_of(' ');
    const std::size_t content = line.find_first_not_of(' ', dash + 1);
    const bool is_block =
        dash < line.size() && line[dash] == '-' && content + 1 == static_cast<std::size_t>(where.column);
    if (!is_block) return not_editable(where, list_);
    YamlItem item{.begin = lines_[static_cast<std::size_t>(where.line) - 1], .end = 0, .dash = dash, .indent = content};
    item.end = end_of_block(static_cast<std::size_t>(where.line), dash);
    return item;
  }
  // Where the lines of a member of that item are; nothing if it is on the item's first line, or not on its own.
  std::optional<std::pair<std::size_t, std::size_t>> member(std::size_t index, const YamlItem& item,
                                                            std::string_view name) const {
    const SourceLocation where = document_.location_of(fmt::format("/{}/{}/{}", list_, index, escape_pointer(name)));
    if (where.line < 1 || where.column != static_cast<int>(item.indent) + 1) return std::nullopt;
    const std::size_t begin = lines_[static_cast<std::size_t>(where.line) - 1];
    if (begin <= item.begin) return std::nullopt;
    return std::pair(begin, std::min(item.end, end_of_block(static_cast<std::size_t>(where.line), item.indent)));
  }
  std::size_t line_end(std::size_t line) const { return lines_[line]; }
  std::string_view line_at(int line) const {
    const auto at = static_cast<std::size_t>(line);
    return text_.substr(lines_[at - 1], lines_[at] - lines_[at - 1]);
  }

 private:
  // After a line with this indentation: the end of the last line that is indented further.
  std::size_t end_of_block(std::size_t line, std::size_t indent) const {
    std::size_t end = lines_[line];
    for (std::size_t next = line + 1; next < lines_.size(); ++next) {
      const std::string_view text = line_at(static_cast<int>(next));
      const std::size_t begin = text.find_first_not_of(" ");
      const bool is_blank = text.find_first_not_of(kBlank) == std::string_view::npos;
      if (!is_blank && begin <= indent) break;
      if (!is_blank) end = lines_[next];
    }
    return end;
  }

  const Document& document_;
  std::string_view text_, list_;
  std::vector<std::size_t> lines_;
};

std::string member_line(const Value::Member& member, std::string_view newline) {
  return fmt::format("{}: {}{}", member.name, to_json(member.value), newline);
}

Result<std::string> changed_item(const YamlList& list, std::string_view text, std::size_t index, const Value& wanted) {
  const YamlItem item = SB_TRY(list.item(index));
  const Value& there = list.items().items()[index];
  const std::string_view newline = newline_of(text);
  const std::string indent(item.indent, ' ');
  std::string out(text), added;
  // From last to first, so that offsets stay valid.
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::string>> edits;
  for (const Value::Member& member : there.members()) {
    const Value* now = wanted.find(member.name);
    if (now != nullptr && *now == member.value) continue;
    const auto lines = list.member(index, item, member.name);
    if (!lines) {  // only as a whole
      const std::string whole = yaml_item(wanted, std::string(item.dash, ' '), newline);
      return out.replace(item.begin, item.end - item.begin, whole);
    }
    edits.emplace_back(*lines, now == nullptr ? "" : indent + member_line({member.name, *now}, newline));
  }
  for (const Value::Member& member : wanted.members()) {
    if (there.find(member.name) == nullptr) added += indent + member_line(member, newline);
  }
  if (!added.empty()) {
    if (item.end > 0 && out[item.end - 1] != '\n') added.insert(0, newline);
    out.insert(item.end, added);
  }
  std::ranges::sort(edits, std::greater<>());
  for (const auto& [lines, line] : edits) out.replace(lines.first, lines.second - lines.first, line);
  return out;
}

// The client must read all else as before.
Result<std::string> checked(std::string text, const std::string& path, std::string_view list, const Value& expected) {
  const auto now = read_yaml_list(path, text, list);
  if (now && now->root == expected) return text;
  return fail(ErrorCode::kInternal, "this configuration cannot be edited safely",
              "Add the output of --print by hand; nothing was changed", {path, "", 0, 0});
}

}  // namespace

std::string yaml_item(const Value& item, std::string_view indent, std::string_view newline) {
  std::string out;
  for (const Value::Member& member : item.members()) {
    out += fmt::format("{}{} {}", indent, out.empty() ? "-" : " ", member_line(member, newline));
  }
  return out;
}

Result<Document> read_yaml_list(const std::string& path, std::string_view text, std::string_view list) {
  auto document = parse_document(path, std::string(text), Syntax::kYaml);
  if (!document) {
    Error error = document.error();
    error.message = "the configuration cannot be read: " + error.message;
    error.remedy = "Fix the file first; nothing was changed";
    return std::unexpected(std::move(error));
  }
  const Value* items = document->root.find(list);
  const bool is_wrong_root = !document->root.is_object();
  if (!is_wrong_root && (!items || items->is_array() || items->is_null())) return document;
  return fail(ErrorCode::kInvalid,
              fmt::format("is {}, but must be {}", kind_name(is_wrong_root ? document->root.kind() : items->kind()),
                          is_wrong_root ? "an object" : "a list"),
              "Fix it first; nothing was changed", document->location_of(is_wrong_root ? "" : "/" + std::string(list)));
}

Result<std::string> with_yaml_item(const std::string& path, std::string_view text, std::string_view list,
                                   const Value& item) {
  if (text.starts_with(kByteOrderMark)) {
    const std::string rest = SB_TRY(with_yaml_item(path, text.substr(kByteOrderMark.size()), list, item));
    return std::string(kByteOrderMark) + rest;
  }
  const Document document = SB_TRY(read_yaml_list(path, text, list));
  const YamlList there(document, list);
  const auto index = there.position(*item.string_at("name"));
  const std::string_view newline = newline_of(text);
  Value expected = document.root;
  if (index) {
    expected.find(list)->items()[*index] = item;
    return checked(SB_TRY(changed_item(there, text, *index, item)), path, list, expected);
  }
  if (there.is_empty()) expected.set(list, Value::array());
  expected.find(list)->push_back(item);
  std::string out(text);
  std::size_t at = out.size();
  std::string added;
  if (document.root.find(list) == nullptr) {
    added = fmt::format("{}:{}{}", list, newline, yaml_item(item, "  ", newline));
  } else if (there.is_empty()) {
    const std::size_t line = SB_TRY(there.key_line());
    const std::size_t end = there.line_end(line);
    const std::size_t begin = end - there.line_at(static_cast<int>(line)).size();
    const std::size_t value = out.find(':', begin) + 1;
    const std::size_t rest = std::min(out.find_first_of("#\r\n", value), end);
    const bool has_comment = rest < end && out[rest] == '#';
    out.replace(value, rest - value, has_comment ? " " : "");
    at = end - (rest - value) + (has_comment ? 1 : 0);
    added = yaml_item(item, "  ", newline);
  } else {
    const YamlItem last = SB_TRY(there.item(there.items().size() - 1));
    at = last.end;
    added = yaml_item(item, std::string(last.dash, ' '), newline);
  }
  if (at > 0 && out[at - 1] != '\n') added.insert(0, newline);
  return checked(out.insert(at, added), path, list, expected);
}

Result<std::string> without_yaml_item(const std::string& path, std::string_view text, std::string_view list,
                                      std::string_view name, bool remove_empty_list) {
  if (text.starts_with(kByteOrderMark)) {
    const std::string rest =
        SB_TRY(without_yaml_item(path, text.substr(kByteOrderMark.size()), list, name, remove_empty_list));
    return std::string(kByteOrderMark) + rest;
  }
  const Document document = SB_TRY(read_yaml_list(path, text, list));
  const YamlList there(document, list);
  const auto index = there.position(name);
  if (!index) return std::string(text);
  const YamlItem item = SB_TRY(there.item(*index));
  Value expected = document.root;
  Value& items = *expected.find(list);
  items.items().erase(items.items().begin() + static_cast<std::ptrdiff_t>(*index));
  std::string out(text);
  out.erase(item.begin, item.end - item.begin);
  if (items.size() == 0) {
    const auto line = static_cast<std::size_t>(there.location().line);
    const std::size_t end = there.line_end(line);
    const std::size_t begin = end - there.line_at(static_cast<int>(line)).size();
    if (remove_empty_list) {
      out.erase(begin, end - begin);
      expected.erase(list);
    } else {
      out.insert(out.find(':', begin) + 1, " []");
    }
  }
  return checked(std::move(out), path, list, expected);
}

}  // namespace sb::hook

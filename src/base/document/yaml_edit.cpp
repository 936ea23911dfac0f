#include "base/document/yaml_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace sb {
namespace {

std::string pointer_of(std::span<const std::string> path) {
  std::string pointer;
  for (const std::string& key : path) pointer += "/" + escape_pointer(key);
  return pointer;
}

// How many keys of the path exist.
std::size_t existing(const Value& root, std::span<const std::string> path) {
  const Value* at = &root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    at = at->is_object() ? at->find(path[i]) : nullptr;
    if (at == nullptr) return i;
  }
  return path.size();
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank_or_comment(std::string_view line) {
  const std::string_view rest = trimmed(line);
  return rest.empty() || rest.front() == '#';
}

// A key as YAML needs it: plain if it cannot be taken for anything else.
std::string key_text(const std::string& key) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool is_word = !key.empty() && to_lower(key.front()) >= 'a' && to_lower(key.front()) <= 'z';
  return is_word && std::ranges::all_of(key, is_plain) ? key : to_json(Value(key));
}

// Strings without quotes where that reads the same.
std::string value_text(const Value& value) {
  if (!value.is_string()) return to_json(value);
  const std::string& text = value.as_string();
  const auto document = parse_document("", "v: " + text, Syntax::kYaml);
  const bool is_same = document && document->root.find("v") != nullptr && *document->root.find("v") == value;
  return is_same && text.find('\n') == std::string::npos ? text : to_json(value);
}

// Where the comment at the end of `line` begins, with the blanks before it; the line's end if there is none.
std::size_t comment_of(std::string_view line, std::size_t from) {
  char quote = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == from || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return trimmed_end(line.substr(0, i)).size();
    }
  }
  return trimmed_end(line).size();
}

// The line's value replaced; nothing if the line does not start with the key.
std::optional<std::string> replaced(std::string_view line, std::size_t column, const Value& value) {
  if (column != indent_of(line)) return std::nullopt;
  const std::size_t colon = line.find(':', column);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t end = std::max(comment_of(line, colon + 1), colon + 1);
  return fmt::format("{}: {}{}", line.substr(0, colon), value_text(value), line.substr(end));
}

std::string added_lines(std::span<const std::string> path, std::size_t indent, const Value& value) {
  std::string text;
  for (std::size_t i = 0; i + 1 < path.size(); ++i, indent += 2) {
    text += fmt::format("{}{}:\n", std::string(indent, ' '), key_text(path[i]));
  }
  return text + fmt::format("{}{}: {}\n", std::string(indent, ' '), key_text(path.back()), value_text(value));
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The changed text, if it can be had by changing or adding lines; it may still be wrong.
std::optional<std::string> changed(const Document& document, std::span<const std::string> path, const Value& value) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(document.text)) lines.emplace_back(line);
  const std::size_t known = existing(document.root, path);
  if (known == 0) return joined(lines) + added_lines(path, 0, value);
  const SourceLocation at = document.location_of(pointer_of(path.first(known)));
  if (at.line < 1 || static_cast<std::size_t>(at.line) > lines.size()) return std::nullopt;
  const std::size_t row = static_cast<std::size_t>(at.line) - 1;
  const std::size_t column = indent_of(lines[row]);
  if (known == path.size()) {
    auto line = replaced(lines[row], static_cast<std::size_t>(at.column) - 1, value);
    if (!line) return std::nullopt;
    lines[row] = std::move(*line);
    return joined(lines);
  }
  // Below the parent's line, as far in as what is there.
  std::size_t indent = column + 2;
  for (std::size_t next = row + 1; next < lines.size(); ++next) {
    if (is_blank_or_comment(lines[next])) continue;
    if (indent_of(lines[next]) > column) indent = indent_of(lines[next]);
    break;
  }
  lines[row] += "\n" + added_lines(path.subspan(known), indent, value);
  lines[row].pop_back();
  return joined(lines);
}

}  // namespace

void set_value_at(Value& root, std::span<const std::string> path, const Value& value) {
  if (path.empty()) {
    root = value;
    return;
  }
  Value inner = root.is_object() && root.find(path.front()) != nullptr ? *root.find(path.front()) : Value();
  if (!root.is_object()) root = Value::object({});
  set_value_at(inner, path.subspan(1), value);
  root.set(path.front(), inner);
}

Result<std::string> with_yaml_value(const Document& document, std::span<const std::string> path, const Value& value) {
  Value wanted = document.root;
  set_value_at(wanted, path, value);
  if (auto text = changed(document, path, value)) {
    const auto result = parse_document(document.name, *text);
    if (result && to_canonical_json(result->root) == to_canonical_json(wanted)) return std::move(*text);
  }
  return fail(ErrorCode::kInvalid, "this value cannot be changed alone, because of how the file is written",
              "Edit the file", document.location_of(pointer_of(path.first(existing(document.root, path)))));
}

}  // namespace sb

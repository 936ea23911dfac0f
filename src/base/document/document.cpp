#include "base/document/document.hpp"

#include <fmt/format.h>

#include "base/document/json_tree.hpp"
#include "base/document/yaml_tree.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb {
namespace {

struct LineColumn {
  int line = 1;
  int column = 1;
};

LineColumn line_column_at(std::string_view text, std::size_t offset) {
  LineColumn at;
  offset = std::min(offset, text.size());
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

// Checks that apply to both JSON and YAML.
Status check_text(std::string_view text) {
  if (text.size() > limits::kDocumentBytes) {
    return fail(ErrorCode::kLimit, fmt::format("the document is larger than {} bytes", limits::kDocumentBytes),
                "Split it");
  }
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, "the document is not UTF-8", "Save it as UTF-8");
  if (text.find('\0') != std::string_view::npos)
    return fail(ErrorCode::kInvalid, "the document contains a NUL byte", "Remove it");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "the document is empty", "Add a declaration to it");
  }
  return {};
}

bool starts_like_json(std::string_view text) {
  const char first = text[text.find_first_not_of(" \t\r\n")];
  return first == '{' || first == '[';
}

bool is_yaml_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

Result<Value> tree_of(const Document& document, Syntax syntax) {
  if (syntax == Syntax::kYaml || !starts_like_json(document.text)) {
    if (syntax != Syntax::kJson) return yaml_tree(document.text);
  }
  auto tree = json_tree(document.text);
  if (tree) return std::move(*tree);
  // A YAML flow mapping also starts with a brace. A text that is neither, and whose name does not say which it should
  // be, is reported as JSON.
  if (syntax == Syntax::kAuto && !document.name.ends_with(".json")) {
    auto yaml = yaml_tree(document.text);
    if (yaml || is_yaml_name(document.name)) return yaml;
  }
  Error error = std::move(tree.error().error);
  if (error.location.pointer.empty()) {
    const LineColumn at = line_column_at(document.text, tree.error().offset);
    error.location.line = at.line;
    error.location.column = at.column;
  }
  return std::unexpected(std::move(error));
}

}  // namespace

std::string escape_pointer(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

SourceLocation Document::location_of(std::string_view pointer) const {
  SourceLocation place{name, std::string(pointer), 0, 0};
  if (const auto offset = offset_in_yaml(text, pointer)) {
    const LineColumn at = line_column_at(text, *offset);
    place.line = at.line;
    place.column = at.column;
  }
  return place;
}

Result<Value> parse_json(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes) {
    return fail(ErrorCode::kLimit, fmt::format("the JSON is larger than {} bytes", bounds.bytes), "Send less");
  }
  auto built = json_tree(text, bounds);
  if (built) return std::move(*built);
  Error error = std::move(built.error().error);
  const LineColumn at = line_column_at(text, built.error().offset);
  error.location.line = at.line;
  error.location.column = at.column;
  return std::unexpected(std::move(error));
}

Result<Document> parse_document(std::string name, std::string text, Syntax syntax) {
  Document document{std::move(name), std::move(text), {}};
  if (document.text.starts_with("\xEF\xBB\xBF")) document.text.erase(0, 3);
  const Status fits = check_text(document.text);
  Result<Value> tree = fits ? tree_of(document, syntax) : std::unexpected(fits.error());
  if (!tree) {
    Error error = std::move(tree).error();
    if (!error.location.pointer.empty()) error.location = document.location_of(error.location.pointer);
    error.location.file = document.name;
    return std::unexpected(std::move(error));
  }
  document.root = std::move(*tree);
  return document;
}

Result<Document> load_document(const Files& files, const std::string& path) {
  auto text = SB_TRY(files.read(path, limits::kDocumentBytes));
  return parse_document(path, std::move(text));
}

}  // namespace sb

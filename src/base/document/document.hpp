// A file written by people, parsed into a tree that knows the location of each of its parts.
//
// JSON takes a fast path that stores no locations; they are looked up by pointer only when a fault is reported. Both
// syntaxes reject duplicate keys, a second document in the file, bytes that are not UTF-8, and anything over the limits
// of base/limits.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace sb {

class Files;

struct Document {
  std::string name;  // shown in errors: a path, or <stdin>
  std::string text;
  Value root;

  // Location of the value at this pointer; for a member of an object, the location of its key.
  SourceLocation location_of(std::string_view pointer) const;
};

enum class Syntax { kAuto, kJson, kYaml };  // kAuto: JSON if the first character is { or [, otherwise YAML

Result<Document> parse_document(std::string name, std::string text, Syntax syntax = Syntax::kAuto);
Result<Document> load_document(const Files& files, const std::string& path);

// JSON without a name or locations, for machine-generated data (blobs, hook events, stored rows). Pass larger bounds
// when the data wraps content that was already allowed up to the default bounds.
struct JsonBounds {
  std::size_t bytes = limits::kDocumentBytes;
  std::size_t depth = limits::kDocumentDepth;
  std::size_t nodes = limits::kDocumentNodes;
};
Result<Value> parse_json(std::string_view text, const JsonBounds& bounds = {});

// Escapes `~` and `/` for use in a pointer.
std::string escape_pointer(std::string_view name);

}  // namespace sb

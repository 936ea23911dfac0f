// A file people write, as a tree that knows where each of its parts stands.
//
// JSON takes a fast path that keeps no places; they are looked up, by pointer, only when a fault must be told.
// Duplicate keys are refused in both languages, and so are a second document in the file, bytes that are not UTF-8, and
// anything over the limits of base/limits.hpp.
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

  // Where the value at this pointer stands; of an object's member, where its key stands.
  SourceLocation location_of(std::string_view pointer) const;
};

enum class Syntax { kAuto, kJson, kYaml };  // kAuto: JSON when the first character is { or [, else YAML

Result<Document> parse_document(std::string name, std::string text, Syntax syntax = Syntax::kAuto);
Result<Document> load_document(const Files& files, const std::string& path);

// JSON without a name or places, for data of machines (blobs, hook events, stored rows). Bounds of their own are for
// those who wrap what others were allowed to send.
struct JsonBounds {
  std::size_t bytes = limits::kDocumentBytes;
  std::size_t depth = limits::kDocumentDepth;
  std::size_t nodes = limits::kDocumentNodes;
};
Result<Value> parse_json(std::string_view text, const JsonBounds& bounds = {});

// `~` and `/` escaped for use in a pointer.
std::string escape_pointer(std::string_view name);

}  // namespace sb

// A JSON Schema (draft-07) parsed once into typed nodes.
//
// Parsing rejects what could not be enforced: unknown and newer keywords, a `$ref` that points outside the schema,
// patterns that do not compile, schemas that apply themselves to the same value endlessly. Immutable; may be shared
// between threads. Only the checking code in this folder uses the nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "base/text/pattern.hpp"

namespace sb::workflow {

enum class SchemaType { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject };
std::string_view with_article(SchemaType type);  // "a string"

struct SchemaNode {
  struct Text {
    std::string expression;  // as written, or a format's name
    Pattern pattern;
  };
  struct ForNames {
    Text names;
    const SchemaNode* node;
  };
  struct Dependency {
    std::string name;
    std::vector<std::string> required;
    const SchemaNode* node = nullptr;  // or this
  };

  std::size_t index = 0;       // in SchemaTree::nodes
  std::optional<bool> always;  // a schema that is true or false

  std::vector<SchemaType> types;
  std::optional<Value> constant;
  std::optional<Value::Array> choices;
  std::optional<double> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::optional<Text> pattern, format;
  bool unique_items = false;

  std::vector<std::string> required;
  std::vector<std::pair<std::string, const SchemaNode*>> properties;
  std::vector<ForNames> pattern_properties;
  std::vector<Dependency> dependencies;
  const SchemaNode* additional_properties = nullptr;
  const SchemaNode* property_names = nullptr;

  const SchemaNode* items = nullptr;
  std::optional<std::vector<const SchemaNode*>> tuple;  // `items` as a list
  const SchemaNode* additional_items = nullptr;
  const SchemaNode* contains = nullptr;

  std::vector<const SchemaNode*> all_of, any_of, one_of;  // a `$ref` is an all_of of one
  const SchemaNode* none_of = nullptr;                    // `not`
  const SchemaNode* condition = nullptr;                  // `if`
  const SchemaNode* consequent = nullptr;                 // `then`
  const SchemaNode* alternative = nullptr;                // `else`

  const SchemaNode* property(std::string_view name) const;
};

struct SchemaTree {
  std::vector<std::unique_ptr<SchemaNode>> nodes;
  const SchemaNode* root = nullptr;
};

// kInvalid with SourceLocation::pointer into the schema; kLimit.
Result<SchemaTree> read_schema_tree(const Value& schema);

}  // namespace sb::workflow

// A tool described once: its inputs as data. What clients are told of them (inputSchema), how they are checked, what is
// suggested when they are wrong and the corrected call all come from here. Pure.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "engine/session/sessions.hpp"

namespace sb::mcp {

struct Field {
  enum class Kind {
    kText,
    kPath,    // absolute
    kCommit,  // 40 hex digits
    kChoice,  // one of `choices`
    kFlag,
    kObject,   // with `members`; without any: whatever is in it
    kTexts,    // a list of texts
    kList,     // a list of anything
    kJson,     // an object; also a text that holds one
    kJsonText  // a text that holds an object; also the object
  };

  std::string_view name = {};
  Kind kind = Kind::kText;
  std::string_view description = {};  // for the model; empty where the name says it
  bool is_required = false;
  std::size_t max_bytes = 0;  // of texts; 0: as the engine allows
  bool may_be_empty = false;  // of texts
  std::vector<std::string_view> choices = {};
  std::vector<Field> members = {};
  std::string_view placeholder = {};  // for the corrected call: of a text, or as JSON of a kJson
};

// Another name under which an input is taken, though nobody is told of it.
struct Alias {
  std::string_view name = {};
  std::string_view of;  // a field, or one member of an object: `output.notesMarkdown`
};

struct ToolSpec {
  std::string_view name, title;
  std::string_view description;  // when to use it
  std::vector<Field> fields;
  std::vector<Alias> aliases = {};
  bool refuses_unknown = true;  // else they are ignored with a note
  bool is_read_only = false, is_idempotent = false;
  Value output = {};  // outputSchema; null for tools that answer with text alone
};

// As tools/list shows it.
Value tool_item(const ToolSpec& spec);

// An object schema for outputs: each of `properties` is {name, schema}; those whose name ends in `?` may be missing.
Value object_schema(std::vector<Value::Member> properties);
Value list_schema(Value items);
Value type_schema(std::string_view type);

// What a call was given: every field of its right kind, aliases under their own name, nulls as if absent.
struct Inputs {
  Value given;                     // an object
  std::vector<std::string> notes;  // what was made of what was sent

  std::string text(std::string_view name) const { return given.string_at(name).value_or(""); }
  bool flag(std::string_view name) const { return given[name].is_bool() && given[name].as_bool(); }
  std::vector<std::string> texts(std::string_view name) const;
  std::string note() const;  // all in one line; empty when there are none
};

// VALIDATION_ERROR with {validationErrors: [{path, message}], suggestions: [{kind: unknown_key, key, didYouMean,
// similarity} | {kind: missing_required, param} | {kind: invalid_enum, param, didYouMean?, allowedValues}],
// correctTemplate}. All faults at once.
std::expected<Inputs, engine::SessionError> read_inputs(const ToolSpec& spec, const Value& arguments);

// The same error for a fault that a tool finds by itself. `corrections` go into the template; a null takes the member
// out of it.
engine::SessionError input_error(const ToolSpec& spec, const Inputs& inputs, std::string_view path, std::string message,
                                 const std::vector<Value::Member>& corrections);

}  // namespace sb::mcp

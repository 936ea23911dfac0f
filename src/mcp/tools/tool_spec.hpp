// A tool described once, with its inputs as data: the inputSchema for clients, the checks, the suggestions for wrong
// inputs and the corrected call are all derived from it. Pure.
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
    kObject,   // with `members`; without any: any content
    kTexts,    // a list of strings
    kList,     // a list of anything
    kJson,     // an object; also a string that contains one
    kJsonText  // a string that contains an object; also the object
  };

  std::string_view name = {};
  Kind kind = Kind::kText;
  std::string_view description = {};  // for the model; empty if the name says it
  bool is_required = false;
  std::size_t max_bytes = 0;  // of strings; 0: limited only by the engine
  bool may_be_empty = false;  // of strings
  std::vector<std::string_view> choices = {};
  std::vector<Field> members = {};
  std::string_view placeholder = {};  // for the corrected call: a string, or JSON for a kJson
};

// An alternative, undocumented name of an input.
struct Alias {
  std::string_view name = {};
  std::string_view of;  // a field, or a member of an object: `output.notesMarkdown`
};

struct ToolSpec {
  std::string_view name, title;
  std::string_view description;  // when to use it
  std::vector<Field> fields;
  std::vector<Alias> aliases = {};
  bool refuses_unknown = true;  // otherwise they are ignored with a note
  bool is_read_only = false, is_idempotent = false;
  Value output = {};  // outputSchema; null for tools that return only text
};

// As shown by tools/list.
Value tool_item(const ToolSpec& spec);

// An object schema for outputs: each of `properties` is {name, schema}; names that end in `?` are optional.
Value object_schema(std::vector<Value::Member> properties);
Value list_schema(Value items);
Value type_schema(std::string_view type);

// The inputs of a call: every field of the right kind, aliases under the real name, nulls treated as absent.
struct Inputs {
  Value given;                     // an object
  std::vector<std::string> notes;  // how unusual input was interpreted

  std::string text(std::string_view name) const { return given.string_at(name).value_or(""); }
  bool flag(std::string_view name) const { return given[name].is_bool() && given[name].as_bool(); }
  std::vector<std::string> texts(std::string_view name) const;
  std::string note() const;  // all in one line; empty if there are none
};

// VALIDATION_ERROR with {validationErrors: [{path, message}], suggestions: [{kind: unknown_key, key, didYouMean,
// similarity} | {kind: missing_required, param} | {kind: invalid_enum, param, didYouMean?, allowedValues}],
// correctTemplate}. Reports all faults together.
std::expected<Inputs, engine::SessionError> read_inputs(const ToolSpec& spec, const Value& arguments);

// The same error for a fault that a tool finds by itself. `corrections` are put into the template; a null removes the
// member from it.
engine::SessionError input_error(const ToolSpec& spec, const Inputs& inputs, std::string_view path, std::string message,
                                 const std::vector<Value::Member>& corrections);

}  // namespace sb::mcp

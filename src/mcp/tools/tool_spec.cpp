#include "mcp/tools/tool_spec.hpp"

#include <fmt/format.h>

namespace sb::mcp {
namespace {

Value schema_of(const std::vector<Field>& fields, bool is_closed);

Value schema_of(const Field& field) {
  Value schema = Value::object();
  switch (field.kind) {
    case Field::Kind::kText:
    case Field::Kind::kPath:
      schema.set("type", "string");
      break;
    case Field::Kind::kCommit:
      schema.set("type", "string");
      schema.set("pattern", "^[0-9a-fA-F]{40}$");
      break;
    case Field::Kind::kChoice: {
      schema.set("type", "string");
      Value choices = Value::array();
      for (const std::string_view choice : field.choices) choices.push_back(choice);
      schema.set("enum", std::move(choices));
      break;
    }
    case Field::Kind::kFlag:
      schema.set("type", "boolean");
      break;
    case Field::Kind::kObject:
      schema = field.members.empty() ? type_schema("object") : schema_of(field.members, true);
      break;
    case Field::Kind::kTexts:
      schema = list_schema(type_schema("string"));
      break;
    case Field::Kind::kList:
      schema.set("type", "array");
      break;
    case Field::Kind::kJson:
      // One type, since some clients support no more: other accepted forms are not listed.
      schema.set("type", "object");
      break;
    case Field::Kind::kJsonText:
      schema.set("type", "string");
      break;
  }
  if (field.max_bytes > 0) schema.set("maxLength", field.max_bytes);
  if (!field.description.empty()) schema.set("description", field.description);
  return schema;
}

Value schema_of(const std::vector<Field>& fields, bool is_closed) {
  Value properties = Value::object();
  Value required = Value::array();
  for (const Field& field : fields) {
    properties.set(field.name, schema_of(field));
    if (field.is_required) required.push_back(field.name);
  }
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (required.size() > 0) schema.set("required", std::move(required));
  if (is_closed) schema.set("additionalProperties", false);
  return schema;
}

}  // namespace

Value tool_item(const ToolSpec& spec) {
  // Closed only if nothing else is accepted: a client may check calls against it before it sends them.
  Value item = Value::object({{"name", spec.name},
                              {"title", spec.title},
                              {"description", spec.description},
                              {"inputSchema", schema_of(spec.fields, spec.refuses_unknown && spec.aliases.empty())},
                              {"annotations", Value::object({{"readOnlyHint", spec.is_read_only},
                                                             {"destructiveHint", false},
                                                             {"idempotentHint", spec.is_idempotent},
                                                             {"openWorldHint", false}})}});
  if (!spec.output.is_null()) item.set("outputSchema", spec.output);
  return item;
}

Value type_schema(std::string_view type) {
  return Value::object({{"type", type}});
}

Value list_schema(Value items) {
  return Value::object({{"type", "array"}, {"items", std::move(items)}});
}

Value object_schema(std::vector<Value::Member> properties) {
  Value known = Value::object();
  Value required = Value::array();
  for (Value::Member& property : properties) {
    const bool may_be_missing = property.name.ends_with('?');
    if (may_be_missing) property.name.pop_back();
    if (!may_be_missing) required.push_back(property.name);
    known.set(property.name, std::move(property.value));
  }
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(known)}});
  if (required.size() > 0) schema.set("required", std::move(required));
  return schema;
}

std::vector<std::string> Inputs::texts(std::string_view name) const {
  std::vector<std::string> out;
  const Value& list = given[name];
  if (!list.is_array()) return out;
  for (const Value& item : list.items()) out.push_back(item.as_string());
  return out;
}

std::string Inputs::note() const {
  return notes.empty() ? "" : fmt::format("Note: {}.", fmt::join(notes, "; "));
}

}  // namespace sb::mcp

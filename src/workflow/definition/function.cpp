// Functions: named instructions that steps refer to or call with arguments.
#include <fmt/format.h>

#include <algorithm>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

enum class ParameterType { kString, kNumber, kBoolean, kArray, kObject };

constexpr Table<ParameterType> kParameterTypes[] = {{"string", ParameterType::kString},
                                                    {"number", ParameterType::kNumber},
                                                    {"boolean", ParameterType::kBoolean},
                                                    {"array", ParameterType::kArray},
                                                    {"object", ParameterType::kObject}};
constexpr Table<int> kScopes[] = {{"workflow", 0}, {"loop", 1}, {"step", 2}};

bool is_of_type(const Value& value, std::string_view type) {
  const auto* const found = std::ranges::find(kParameterTypes, type, &Table<ParameterType>::first);
  if (found == std::end(kParameterTypes)) return true;
  switch (found->second) {
    case ParameterType::kString:
      return value.is_string();
    case ParameterType::kNumber:
      return value.is_number();
    case ParameterType::kBoolean:
      return value.is_bool();
    case ParameterType::kArray:
      return value.is_array();
    case ParameterType::kObject:
      return value.is_object();
  }
  return true;
}

FunctionParameter read_parameter(const Reader& reader) {
  FunctionParameter parameter;
  Fields fields = reader.fields();
  parameter.name = name_of(fields, "name");
  const auto type = fields.get("type");
  if (type && type->choice<ParameterType>(kParameterTypes)) parameter.type = type->value().as_string();
  parameter.is_required = flag_of(fields, "required");
  parameter.description = text_of(fields, "description");
  for (const Reader& item : items_of(fields, "enum", {.min_items = 1})) {
    const Value& value = item.value();
    if (!value.is_string() && !value.is_number() && !value.is_bool()) {
      fault(item, "wrong_kind", fmt::format("expected a string, number or boolean, found {}", kind_name(value.kind())),
            "List only plain values");
    }
    parameter.choices.push_back(value);
  }
  if (const auto value = fields.get("default")) parameter.default_value = value->value();
  finish(fields, {"name", "type"});
  return parameter;
}

FunctionDefinition read_function(const Reader& reader) {
  FunctionDefinition function;
  Fields fields = reader.fields();
  function.name = name_of(fields, "name");
  function.definition = text_of(fields, "definition");
  for (const Reader& item : items_of(fields, "parameters")) function.parameters.push_back(read_parameter(item));
  const auto scope = fields.get("scope");
  if (scope && scope->choice<int>(kScopes)) function.scope = scope->value().as_string();
  finish(fields, {"name", "definition"});
  return function;
}

bool is_choice(const Value& choices, const Value& value) {
  return choices.is_null() || std::ranges::find(choices.items(), value) != choices.items().end();
}

void check_argument(const Reader& reader, const FunctionParameter& parameter, const Value& value) {
  const Reader at = reader.at(value);
  if (!is_of_type(value, parameter.type)) {
    fault(at, "bad_argument",
          fmt::format("\"{}\" takes a value of the type {}, not {}", parameter.name, parameter.type,
                      kind_name(value.kind())),
          "Change the value, or the type of the parameter");
  } else if (!is_choice(parameter.choices, value)) {
    fault(at, "bad_argument", fmt::format("\"{}\" takes one of {}", parameter.name, to_json(parameter.choices)),
          "Use one of these");
  }
}

void check_call(const Reader& reader, const FunctionCall& call, const StepReadContext& reading) {
  const auto found =
      std::ranges::find_if(reading.functions.rbegin(), reading.functions.rend(),
                           [&](const FunctionDefinition* function) { return function->name == call.name; });
  if (found == reading.functions.rend()) {
    std::vector<std::string> known;
    for (const FunctionDefinition* function : reading.functions) known.push_back(function->name);
    fault(reader, "unknown_function", fmt::format("no function is called \"{}\"", call.name),
          did_you_mean(call.name, known, "Define it in functionDefinitions"));
    return;
  }
  const Value& args = reader.value()["args"];
  for (const FunctionParameter& parameter : (*found)->parameters) {
    if (const Value* value = args.find(parameter.name)) {
      check_argument(reader, parameter, *value);
    } else if (parameter.is_required && parameter.default_value.is_null()) {
      fault(reader, "bad_argument", fmt::format("\"{}\" needs the argument \"{}\"", call.name, parameter.name),
            fmt::format("Add {}: to args", parameter.name));
    }
  }
}

FunctionCall read_call_of(const Reader& reader, const StepReadContext& reading) {
  FunctionCall call;
  Fields fields = reader.fields();
  call.name = name_of(fields, "name");
  call.args = Value::object();
  const auto args = fields.get("args");
  if (args) {
    args->fields();
    if (args->value().is_object()) call.args = args->value();
  }
  const bool is_whole = finish(fields, {"name", "args"});
  if (is_whole && is_name(call.name) && args->value().is_object()) check_call(reader, call, reading);
  return call;
}

}  // namespace

std::vector<FunctionDefinition> read_functions(Fields& fields, Duplicates duplicates) {
  std::vector<FunctionDefinition> functions;
  for (const Reader& item : items_of(fields, "functionDefinitions", {.duplicates = duplicates}))
    functions.push_back(read_function(item));
  return functions;
}

void read_function_use(Fields& fields, StepReadContext& reading, Step& step) {
  step.functions = read_functions(fields, Duplicates::kAllowed);
  const std::size_t around = reading.functions.size();
  for (const FunctionDefinition& function : step.functions) reading.functions.push_back(&function);
  for (const Reader& item : items_of(fields, "functionCalls"))
    step.function_calls.push_back(read_call_of(item, reading));
  reading.functions.resize(around);
  for (const Reader& item : items_of(fields, "functionReferences")) {
    auto text = read_text(item);
    if (!text) continue;
    if (!text->ends_with("()") || !is_name(std::string_view(*text).substr(0, text->size() - 2))) {
      fault(item, "bad_name", fmt::format("\"{}\" is not a reference to a function", text->substr(0, 80)),
            "Write its name and (), for example checkList()");
      continue;
    }
    text->resize(text->size() - 2);
    step.function_references.push_back(std::move(*text));
  }
}

}  // namespace sb::workflow

#include <chrono>
#include <thread>

#include "fixture_service.hpp"

namespace sb::fixture {
namespace {

// A WAV file without samples.
constexpr std::string_view kSilentWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

Value image() {
  return Value::object({{"type", "image"}, {"data", kPixelPng}, {"mimeType", "image/png"}});
}

Value embedded(std::string_view uri, std::string_view type, std::string_view text) {
  return Value::object(
      {{"type", "resource"}, {"resource", Value::object({{"uri", uri}, {"mimeType", type}, {"text", text}})}});
}

// The suite requires a pause between messages, to see that they arrive one by one.
void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void add(FixtureTools& tools, std::string name, std::string description, Value result) {
  tools[std::move(name)] = {
      std::move(description), no_arguments(),
      [result = std::move(result)](const Value&, mcp::Call&) { return mcp::HandlerResult(result); }};
}

mcp::HandlerResult log_three(mcp::Call& call) {
  for (const std::string_view text : {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    call.sink->log(mcp::LogLevel::kInfo, "fixture", Value(text));
    pause();
  }
  return text_result("Tool with logging executed successfully");
}

mcp::HandlerResult progress_three(mcp::Call& call) {
  for (const int progress : {0, 50, 100}) {
    call.sink->progress(progress, 100, "");
    pause();
  }
  return text_result("Tool with progress executed successfully");
}

mcp::HandlerResult reconnect(mcp::Call& call) {
  call.sink->close_stream();
  pause();
  return text_result("Reconnection test completed successfully");
}

// With keywords that a server might drop: anchors, composition, conditions.
Value schema_2020_12() {
  const Value text = Value::object({{"type", "string"}});
  const auto needs = [](std::string_view name) {
    return Value::object({{"required", Value(Value::Array{Value(name)})}});
  };
  const Value address = Value::object({{"$anchor", "addressDef"},
                                       {"type", "object"},
                                       {"properties", Value::object({{"street", text}, {"city", text}})}});
  const Value either = Value::object({{"anyOf", Value(Value::Array{needs("phone"), needs("email")})}});
  const Value by_phone =
      Value::object({{"properties", Value::object({{"contactMethod", Value::object({{"const", "phone"}})}})},
                     {"required", Value::array({"contactMethod"})}});
  return Value::object(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
       {"type", "object"},
       {"$defs", Value::object({{"address", address}})},
       {"properties", Value::object({{"name", text},
                                     {"address", Value::object({{"$ref", "#/$defs/address"}})},
                                     {"contactMethod",
                                      Value::object({{"type", "string"}, {"enum", Value::array({"phone", "email"})}})},
                                     {"phone", text},
                                     {"email", text}})},
       {"allOf", Value(Value::Array{either})},
       {"if", by_phone},
       {"then", needs("phone")},
       {"else", needs("email")},
       {"additionalProperties", false}});
}

}  // namespace

void add_content_tools(FixtureTools& tools) {
  add(tools, "test_simple_text", "Returns a text", text_result("This is a simple text response for testing."));
  add(tools, "test_image_content", "Returns an image", mcp::tool_result({image()}));
  add(tools, "test_audio_content", "Returns audio",
      mcp::tool_result({Value::object({{"type", "audio"}, {"data", kSilentWav}, {"mimeType", "audio/wav"}})}));
  add(tools, "test_embedded_resource", "Returns a resource",
      mcp::tool_result({embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")}));
  add(tools, "test_multiple_content_types", "Returns a text, an image and a resource",
      mcp::tool_result(
          {mcp::text_content("Multiple content types test:"), image(),
           embedded("test://mixed-content-resource", "application/json", R"({"test":"data","value":123})")}));
  add(tools, "test_error_handling", "Always fails",
      mcp::tool_result({mcp::text_content("This tool intentionally returns an error for testing")}, true));
  tools["test_tool_with_logging"] = {"Logs three times", no_arguments(),
                                     [](const Value&, mcp::Call& call) { return log_three(call); }};
  tools["test_logging_tool"] = tools["test_tool_with_logging"];
  tools["test_tool_with_progress"] = {"Reports progress three times", no_arguments(),
                                      [](const Value&, mcp::Call& call) { return progress_three(call); }};
  tools["test_reconnection"] = {"Ends its stream before its result is ready", no_arguments(),
                                [](const Value&, mcp::Call& call) { return reconnect(call); }};
  tools["json_schema_2020_12_tool"] = {"Tool with JSON Schema 2020-12 features", schema_2020_12(),
                                       [](const Value& arguments, mcp::Call&) {
                                         return mcp::HandlerResult(text_result("Called with " + to_json(arguments)));
                                       }};
  const Value region = Value::object({{"type", "string"}, {"x-mcp-header", "Region"}});
  tools["test_header_parameter"] = {
      "Takes a parameter that is also sent as a header",
      Value::object({{"type", "object"}, {"properties", Value::object({{"region", region}})}}),
      [](const Value& arguments, mcp::Call&) {
        return mcp::HandlerResult(text_result("region " + arguments.string_at("region").value_or("is not given")));
      }};
}

void add_list_tools(FixtureTools& tools, FixtureLists& lists) {
  for (const std::string& list : {std::string("tool"), std::string("prompt")}) {
    tools["test_trigger_" + list + "_change"] = {"Changes the list of " + list + "s", no_arguments(),
                                                 [list, &lists](const Value&, mcp::Call&) {
                                                   lists.change(list + "s");
                                                   return mcp::HandlerResult(text_result("The list has changed"));
                                                 }};
  }
}

}  // namespace sb::fixture

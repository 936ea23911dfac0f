#include <fmt/format.h>

#include "fixture_service.hpp"

namespace sb::fixture {
namespace {

Value message(Value content) {
  return Value::object({{"role", "user"}, {"content", std::move(content)}});
}

Value text_message(std::string text) {
  return message(mcp::text_content(std::move(text)));
}

Value messages(Value::Array all) {
  return Value::object({{"messages", Value(std::move(all))}});
}

Value argument(std::string_view name, std::string_view description) {
  return Value::object({{"name", name}, {"description", description}, {"required", true}});
}

Value described(std::string_view name, std::string_view description, Value::Array arguments = {}) {
  Value prompt = Value::object({{"name", name}, {"description", description}});
  if (!arguments.empty()) prompt.set("arguments", Value(std::move(arguments)));
  return prompt;
}

mcp::HandlerResult simple(const Value&, mcp::Call&) {
  return messages({text_message("This is a simple prompt for testing.")});
}

mcp::HandlerResult with_arguments(const Value& arguments, mcp::Call&) {
  return messages(
      {text_message(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'", arguments.string_at("arg1").value_or(""),
                                arguments.string_at("arg2").value_or("")))});
}

mcp::HandlerResult with_resource(const Value& arguments, mcp::Call&) {
  const Value resource = Value::object({{"uri", arguments.string_at("resourceUri").value_or("test://example-resource")},
                                        {"mimeType", "text/plain"},
                                        {"text", "Embedded resource content for testing."}});
  return messages({message(Value::object({{"type", "resource"}, {"resource", resource}})),
                   text_message("Please process the embedded resource above.")});
}

mcp::HandlerResult with_image(const Value&, mcp::Call&) {
  return messages({message(Value::object({{"type", "image"}, {"data", kPixelPng}, {"mimeType", "image/png"}})),
                   text_message("Please analyze the image above.")});
}

mcp::HandlerResult that_asks(const Value&, mcp::Call& call) {
  const Value* given = filled_in(call, "user_context");
  if (given == nullptr) {
    return ask("user_context", "What context should the prompt use?",
               Value::object({{"context", Value::object({{"type", "string"}})}}), {"context"}, {});
  }
  return messages({text_message("Use this context: " + given->string_at("context").value_or(""))});
}

}  // namespace

FixturePrompts fixture_prompts() {
  FixturePrompts prompts;
  prompts["test_simple_prompt"] = {described("test_simple_prompt", "A prompt without arguments"), simple};
  prompts["test_prompt_with_arguments"] = {
      described("test_prompt_with_arguments", "A prompt with two arguments",
                {argument("arg1", "First test argument"), argument("arg2", "Second test argument")}),
      with_arguments};
  prompts["test_prompt_with_embedded_resource"] = {
      described("test_prompt_with_embedded_resource", "A prompt that contains a resource",
                {argument("resourceUri", "URI of the resource to embed")}),
      with_resource};
  prompts["test_prompt_with_image"] = {described("test_prompt_with_image", "A prompt that contains an image"),
                                       with_image};
  prompts["test_input_required_result_prompt"] = {
      described("test_input_required_result_prompt", "A prompt that asks a person first"), that_asks};
  return prompts;
}

}  // namespace sb::fixture

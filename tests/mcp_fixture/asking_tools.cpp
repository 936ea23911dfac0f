#include <fmt/format.h>

#include "fixture_service.hpp"

namespace sb::fixture {
namespace {

Value of_type(std::string_view type) {
  return Value::object({{"type", type}});
}

Value with_default(Value schema, Value value) {
  schema.set("default", std::move(value));
  return schema;
}

Value titled(std::string_view keyword, std::string_view what) {
  Value all = Value::array();
  for (const auto& [value, name] : {std::pair{"value1", "First"}, {"value2", "Second"}, {"value3", "Third"}}) {
    all.push_back(Value::object({{"const", value}, {"title", fmt::format("{} {}", name, what)}}));
  }
  Value schema = Value::object();
  schema.set(keyword, std::move(all));
  return schema;
}

Value sampling(const std::string& prompt, int tokens) {
  const Value message =
      Value::object({{"role", "user"}, {"content", Value::object({{"type", "text"}, {"text", prompt}})}});
  return Value::object({{"messages", Value(Value::Array{message})}, {"maxTokens", tokens}});
}

std::string sampled_text(const Value& result) {
  return result["content"].string_at("text").value_or("(no text)");
}

mcp::HandlerResult cannot(std::string_view what) {
  return mcp::tool_result({mcp::text_content(fmt::format("This client does not support {}", what))}, true);
}

// The result of an elicitation in the form the suite expects; an error if there is none.
mcp::HandlerResult elicitation_result(const mcp::Input& input, std::string_view begin) {
  if (input.kind == mcp::Input::Kind::kFailed) return cannot("elicitation");
  if (input.kind == mcp::Input::Kind::kUnanswered) return cannot("answering in time");
  const Value* content = input.value.find("content");
  return text_result(fmt::format("{}action={}, content={}", begin, input.value.string_at("action").value_or("none"),
                                 content == nullptr ? "{}" : to_json(*content)));
}

Value defaults_schema() {
  Value status = of_type("string");
  status.set("enum", Value::array({"active", "inactive", "pending"}));
  return Value::object({{"name", with_default(of_type("string"), "John Doe")},
                        {"age", with_default(of_type("integer"), 30)},
                        {"score", with_default(of_type("number"), 95.5)},
                        {"status", with_default(status, "active")},
                        {"verified", with_default(of_type("boolean"), true)}});
}

Value enums_schema() {
  const Value options = Value::array({"option1", "option2", "option3"});
  Value untitled = of_type("string");
  untitled.set("enum", options);
  Value single = titled("oneOf", "Option");
  single.set("type", "string");
  Value legacy = of_type("string");
  legacy.set("enum", Value::array({"opt1", "opt2", "opt3"}));
  legacy.set("enumNames", Value::array({"Option One", "Option Two", "Option Three"}));
  const auto many = [](Value items) { return Value::object({{"type", "array"}, {"items", std::move(items)}}); };
  return Value::object({{"untitledSingle", untitled},
                        {"titledSingle", single},
                        {"legacyEnum", legacy},
                        {"untitledMulti", many(untitled)},
                        {"titledMulti", many(titled("anyOf", "Choice"))}});
}

void add_form(FixtureTools& tools, std::string name, std::string description, std::string message, Value properties) {
  const auto fill_form = [message, properties](const Value&, mcp::Call& call) -> mcp::HandlerResult {
    if (const mcp::Input* input = call.input("form")) return elicitation_result(*input, "Elicitation completed: ");
    return ask("form", message, properties, {}, {});
  };
  tools[std::move(name)] = {std::move(description), no_arguments(), fill_form};
}

Value one_string(std::string_view name, std::string_view description) {
  Value properties = Value::object();
  properties.set(name, Value::object({{"type", "string"}, {"description", description}}));
  return Value::object(
      {{"type", "object"}, {"properties", properties}, {"required", Value(Value::Array{Value(name)})}});
}

mcp::HandlerResult elicit(const Value& arguments, mcp::Call& call) {
  if (const mcp::Input* input = call.input("user")) return elicitation_result(*input, "User response: ");
  const Value username = Value::object({{"type", "string"}, {"description", "User's response"}});
  const Value email = Value::object({{"type", "string"}, {"description", "User's email address"}});
  return ask("user", arguments.string_at("message").value_or("Who are you?"),
             Value::object({{"username", username}, {"email", email}}), {"username", "email"}, {});
}

mcp::HandlerResult elicit_url(const Value&, mcp::Call& call) {
  if (const mcp::Input* input = call.input("page")) return elicitation_result(*input, "Page visited: ");
  mcp::InputRequired asked;
  asked.requests.push_back({"page", "elicitation/create",
                            Value::object({{"mode", "url"},
                                           {"message", "Please look at this page"},
                                           {"elicitationId", "fixture-page"},
                                           {"url", "http://127.0.0.1/page"}})});
  return asked;
}

mcp::HandlerResult sample(const Value& arguments, mcp::Call& call) {
  const mcp::Input* input = call.input("model");
  if (input == nullptr) {
    mcp::InputRequired asked;
    asked.requests.push_back(
        {"model", "sampling/createMessage", sampling(arguments.string_at("prompt").value_or(""), 100)});
    return asked;
  }
  if (input->kind != mcp::Input::Kind::kAnswered) return cannot("sampling");
  return text_result("LLM response: " + sampled_text(input->value));
}

mcp::HandlerResult need_sampling(const Value&, mcp::Call& call) {
  if (call.client.has_sampling) return text_result("The client can sample");
  return mcp::RpcError{mcp::code::kMissingClientCapability, "this tool needs a client that can sample",
                       Value::object({{"requiredCapabilities", Value::object({{"sampling", Value::object()}})}})};
}

}  // namespace

void add_asking_tools(FixtureTools& tools) {
  tools["test_sampling"] = {"Asks the client's model", one_string("prompt", "What to ask the model"), sample};
  tools["test_elicitation"] = {"Asks the client's user", one_string("message", "What to ask the user"), elicit};
  tools["test_elicitation_url"] = {"Sends the client's user to a page", no_arguments(), elicit_url};
  tools["test_missing_capability"] = {"Works only for clients that can sample", no_arguments(), need_sampling};
  add_form(tools, "test_elicitation_sep1034_defaults", "Asks with default values",
           "Please review and update the form fields with defaults", defaults_schema());
  add_form(tools, "test_elicitation_sep1330_enums", "Asks with lists to choose from", "Please select options",
           enums_schema());
}

}  // namespace sb::fixture

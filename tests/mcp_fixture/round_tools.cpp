// Tools whose first result is a question, in all the forms the suite tests.
#include "fixture_service.hpp"

namespace sb::fixture {
namespace {

Value property(std::string_view name, std::string_view type) {
  Value properties = Value::object();
  properties.set(name, Value::object({{"type", type}}));
  return properties;
}

mcp::InputRequest sampling_request(std::string key, std::string_view prompt, int tokens) {
  const Value message =
      Value::object({{"role", "user"}, {"content", Value::object({{"type", "text"}, {"text", prompt}})}});
  return {std::move(key), "sampling/createMessage",
          Value::object({{"messages", Value(Value::Array{message})}, {"maxTokens", tokens}})};
}

mcp::InputRequest roots_request(std::string key) {
  return {std::move(key), "roots/list", Value::object()};
}

mcp::InputRequired ask_name(Value state = {}) {
  return ask("user_name", "What is your name?", property("name", "string"), {"name"}, std::move(state));
}

bool is_answered(const mcp::Call& call, std::string_view key) {
  const mcp::Input* input = call.input(key);
  return input != nullptr && input->kind == mcp::Input::Kind::kAnswered && input->value.is_object();
}

mcp::HandlerResult greet(const Value&, mcp::Call& call) {
  const Value* given = filled_in(call, "user_name");
  if (given == nullptr) return ask_name();
  return text_result("Hello, " + given->string_at("name").value_or("stranger") + "!");
}

mcp::HandlerResult sample_capital(const Value&, mcp::Call& call) {
  if (!is_answered(call, "capital_question")) {
    mcp::InputRequired asked;
    asked.requests.push_back(sampling_request("capital_question", "What is the capital of France?", 100));
    return asked;
  }
  return text_result("The model says: " +
                     call.input("capital_question")->value["content"].string_at("text").value_or("nothing"));
}

mcp::HandlerResult list_roots(const Value&, mcp::Call& call) {
  if (!is_answered(call, "client_roots")) {
    mcp::InputRequired asked;
    asked.requests.push_back(roots_request("client_roots"));
    return asked;
  }
  return text_result("Roots: " + to_json(call.input("client_roots")->value["roots"]));
}

mcp::HandlerResult keep_state(const Value&, mcp::Call& call) {
  const bool has_state = call.state.string_at("kept") == "by the client";
  if (!has_state || filled_in(call, "confirm") == nullptr) {
    return ask("confirm", "Please confirm", property("ok", "boolean"), {"ok"},
               Value::object({{"kept", "by the client"}}));
  }
  return text_result("state-ok");
}

mcp::HandlerResult ask_three(const Value&, mcp::Call& call) {
  if (!is_answered(call, "user_name") || !is_answered(call, "greeting") || !is_answered(call, "client_roots")) {
    mcp::InputRequired asked = ask_name(Value::object({{"asked", "three"}}));
    asked.requests.push_back(sampling_request("greeting", "Generate a greeting", 50));
    asked.requests.push_back(roots_request("client_roots"));
    return asked;
  }
  return text_result("All three are answered");
}

mcp::HandlerResult ask_twice(const Value&, mcp::Call& call) {
  const std::string name = call.state.string_at("name").value_or("");
  if (const Value* given = filled_in(call, "step2"); given != nullptr && !name.empty()) {
    return text_result(name + " likes " + given->string_at("color").value_or("no colour"));
  }
  if (const Value* given = filled_in(call, "step1"); given != nullptr && !call.state.is_null()) {
    return ask("step2", "Step 2: What is your favorite color?", property("color", "string"), {"color"},
               Value::object({{"name", given->string_at("name").value_or("Somebody")}}));
  }
  return ask("step1", "Step 1: What is your name?", property("name", "string"), {"name"},
             Value::object({{"round", 1}}));
}

// Asks only what the client declared it can answer.
mcp::HandlerResult ask_what_fits(const Value&, mcp::Call& call) {
  mcp::InputRequired asked;
  if (call.client.has_form_elicitation && !is_answered(call, "user_name")) asked = ask_name();
  if (call.client.has_sampling && !is_answered(call, "greeting")) {
    asked.requests.push_back(sampling_request("greeting", "Generate a greeting", 50));
  }
  if (asked.requests.empty()) return text_result("Nothing more to ask");
  return asked;
}

mcp::HandlerResult ask_on_a_stream(const Value& arguments, mcp::Call& call) {
  call.sink->progress(0, 1, "about to ask");
  return greet(arguments, call);
}

}  // namespace

void add_round_tools(FixtureTools& tools) {
  const auto add = [&](std::string_view name, std::string description,
                       mcp::HandlerResult (*call)(const Value&, mcp::Call&)) {
    tools["test_input_required_result_" + std::string(name)] = {std::move(description), no_arguments(), call};
  };
  add("elicitation", "Asks a person for a name", greet);
  add("sampling", "Asks the model for a capital", sample_capital);
  add("list_roots", "Asks for the client's roots", list_roots);
  add("request_state", "Lets the client carry a state", keep_state);
  add("tampered_state", "Lets the client carry a state it must not change", keep_state);
  add("multiple_inputs", "Asks three questions in one result", ask_three);
  add("multi_round", "Asks twice", ask_twice);
  add("capabilities", "Asks only what the client can answer", ask_what_fits);
  tools["test_streaming_elicitation"] = {"Reports progress, then asks", no_arguments(), ask_on_a_stream};
}

}  // namespace sb::fixture

#include "fixture_service.hpp"

#include <fmt/format.h>

namespace sb::fixture {
namespace {

constexpr std::string_view kStaticText = "test://static-text";
constexpr std::string_view kStaticBinary = "test://static-binary";
constexpr std::string_view kWatched = "test://watched-resource";
constexpr std::string_view kTemplateBegin = "test://template/";
constexpr std::string_view kTemplateEnd = "/data";

Value contents(const std::string& uri, std::string_view type, std::string_view member, std::string text) {
  Value item = Value::object({{"uri", uri}, {"mimeType", type}});
  item.set(member, std::move(text));
  return Value::object({{"contents", Value(Value::Array{std::move(item)})}});
}

// The `{id}` of test://template/{id}/data; nothing for another URI.
std::optional<std::string> template_id(std::string_view uri) {
  if (!uri.starts_with(kTemplateBegin) || !uri.ends_with(kTemplateEnd)) return {};
  if (uri.size() <= kTemplateBegin.size() + kTemplateEnd.size()) return {};
  return std::string(uri.substr(kTemplateBegin.size(), uri.size() - kTemplateBegin.size() - kTemplateEnd.size()));
}

}  // namespace

void FixtureLists::change(const std::string& list) {
  const std::scoped_lock lock(mutex_);
  ++changes_[list];
}

int FixtureLists::changes(const std::string& list) const {
  const std::scoped_lock lock(mutex_);
  const auto found = changes_.find(list);
  return found == changes_.end() ? 0 : found->second;
}

Value no_arguments() {
  return Value::object({{"type", "object"}, {"properties", Value::object()}});
}

Value text_result(std::string text) {
  return mcp::tool_result({mcp::text_content(std::move(text))});
}

mcp::InputRequired ask(std::string key, std::string message, Value properties, std::vector<std::string> required,
                       Value state) {
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (!required.empty()) schema.set("required", Value::array(std::move(required)));
  mcp::InputRequired asked;
  asked.requests.push_back(
      {std::move(key), "elicitation/create",
       Value::object({{"mode", "form"}, {"message", std::move(message)}, {"requestedSchema", std::move(schema)}})});
  asked.state = std::move(state);
  return asked;
}

const Value* filled_in(const mcp::Call& call, std::string_view key) {
  const mcp::Input* input = call.input(key);
  if (input == nullptr || input->kind != mcp::Input::Kind::kAnswered) return nullptr;
  if (input->value.string_at("action") != "accept") return nullptr;
  const Value* content = input->value.find("content");
  return content != nullptr && content->is_object() ? content : nullptr;
}

FixtureService::FixtureService(FixtureLists& lists) : lists_(lists), prompts_(fixture_prompts()) {
  add_content_tools(tools_);
  add_asking_tools(tools_);
  add_round_tools(tools_);
  add_list_tools(tools_, lists_);
}

Value FixtureService::tools() {
  Value all = Value::array();
  for (const auto& [name, tool] : tools_) {
    all.push_back(
        Value::object({{"name", name}, {"description", tool.description}, {"inputSchema", tool.input_schema}}));
  }
  if (lists_.changes("tools") % 2 == 1) {
    all.push_back(Value::object({{"name", "test_tool_that_came"},
                                 {"description", "Present after an odd number of changes"},
                                 {"inputSchema", no_arguments()}}));
  }
  return all;
}

mcp::HandlerResult FixtureService::call_tool(std::string_view name, const Value& arguments, mcp::Call& call) {
  const auto found = tools_.find(name);
  if (found == tools_.end()) {
    return mcp::RpcError{net::rpc::kInvalidParams, fmt::format("unknown tool {}", quote_json(name))};
  }
  return found->second.call(arguments, call);
}

Value FixtureService::resources() {
  const auto item = [](std::string_view uri, std::string_view name, std::string_view description,
                       std::string_view type) {
    return Value::object({{"uri", uri}, {"name", name}, {"description", description}, {"mimeType", type}});
  };
  return Value(Value::Array{item(kStaticText, "static-text", "A text that never changes", "text/plain"),
                            item(kStaticBinary, "static-binary", "A one-pixel image", "image/png"),
                            item(kWatched, "watched-resource", "A resource to subscribe to", "text/plain")});
}

Value FixtureService::resource_templates() {
  return Value(Value::Array{Value::object({{"uriTemplate", "test://template/{id}/data"},
                                           {"name", "template-data"},
                                           {"description", "Data of one id"},
                                           {"mimeType", "application/json"}})});
}

std::optional<mcp::HandlerResult> FixtureService::read_resource(const std::string& uri, mcp::Call&) {
  if (uri == kStaticText)
    return contents(uri, "text/plain", "text", "This is the content of the static text resource.");
  if (uri == kStaticBinary) return contents(uri, "image/png", "blob", std::string(kPixelPng));
  if (uri == kWatched) return contents(uri, "text/plain", "text", "Watched resource content");
  const auto id = template_id(uri);
  if (!id) return {};
  return contents(uri, "application/json", "text",
                  to_json(Value::object({{"id", *id}, {"templateTest", true}, {"data", "Data for ID: " + *id}})));
}

bool FixtureService::has_resource(const std::string& uri) {
  return uri == kStaticText || uri == kStaticBinary || uri == kWatched || template_id(uri).has_value();
}

std::string FixtureService::fingerprint(const std::string& what) {
  if (what == kToolList) return std::to_string(lists_.changes("tools"));
  if (what == kPromptList) return std::to_string(lists_.changes("prompts"));
  return what;
}

Value FixtureService::prompts() {
  Value all = Value::array();
  for (const auto& [name, prompt] : prompts_) all.push_back(prompt.described);
  if (lists_.changes("prompts") % 2 == 1) {
    all.push_back(
        Value::object({{"name", "test_prompt_that_came"}, {"description", "Present after an odd number of changes"}}));
  }
  return all;
}

std::optional<mcp::HandlerResult> FixtureService::get_prompt(std::string_view name, const Value& arguments,
                                                             mcp::Call& call) {
  const auto found = prompts_.find(name);
  if (found == prompts_.end()) return {};
  return found->second.get(arguments, call);
}

std::optional<mcp::Completion> FixtureService::complete(const Value& reference, std::string_view,
                                                        std::string_view begun, const Value&) {
  const std::string name = reference.string_at("name").value_or("");
  if (reference.string_at("type") == "ref/prompt" && !prompts_.contains(name)) return {};
  std::vector<std::string> fitting;
  for (const std::string_view word : {"paris", "park", "party", "test", "text"}) {
    if (word.starts_with(begun)) fitting.emplace_back(word);
  }
  return mcp::Completion(std::move(fitting));
}

}  // namespace sb::fixture

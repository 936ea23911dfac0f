#include "mcp/peer/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/document/reader.hpp"
#include "mcp/limits.hpp"
#include "mcp/peer/shapes.hpp"
#include "store/paging.hpp"

namespace sb::mcp {

namespace {

using net::rpc::kInvalidParams;

// How long a client may cache a result. Lists change rarely, and listeners are notified; a resource may change at any
// moment.
constexpr std::int64_t kListLifeMs = 10'000;

RpcError invalid(std::string message, Value data = {}) {
  return {kInvalidParams, std::move(message), std::move(data)};
}

Value cacheable(Value result, std::int64_t life_ms, Revision revision) {
  if (!is_stateless(revision)) return result;
  if (result.find("ttlMs") == nullptr) result.set("ttlMs", life_ms);
  if (result.find("cacheScope") == nullptr) result.set("cacheScope", "private");
  return result;
}

// What an item of a list is known by.
std::string key_of(const Value& item) {
  for (const char* member : {"name", "uri", "uriTemplate"}) {
    if (auto key = item.string_at(member)) return std::move(*key);
  }
  return {};
}

// Where the page after the item with this key begins. If it is gone, lists being sorted, the items behind its place.
std::size_t page_after(const Value::Array& items, const std::string& key) {
  const auto found = std::ranges::find(items, key, key_of);
  if (found != items.end()) return static_cast<std::size_t>(found - items.begin()) + 1;
  const auto next = std::ranges::find_if(items, [&](const Value& item) { return key_of(item) > key; });
  return static_cast<std::size_t>(next - items.begin());
}

HandlerResult page_of(Value all, std::string_view member, std::string_view method, const Value& params,
                      Revision revision) {
  std::size_t offset = 0;
  if (const Value* cursor = params.find("cursor")) {
    const auto last = store::row_of_cursor(method, cursor->is_string() ? cursor->as_string() : "");
    if (!last) return invalid("invalid cursor for this list; omit it to start at the first page");
    offset = page_after(all.items(), last->key);
  }
  Value page = Value::array();
  Value::Array& items = all.items();
  const std::size_t end = std::min(items.size(), offset + limits::kPageItems);
  const std::string last = end > offset ? key_of(items[end - 1]) : "";
  for (std::size_t i = offset; i < end; ++i) page.push_back(adapted_item(std::move(items[i]), revision));
  Value result = Value::object({{std::string(member), std::move(page)}});
  if (end < items.size()) result.set("nextCursor", store::cursor_after(method, {last, "", ""}));
  return cacheable(std::move(result), kListLifeMs, revision);
}

// The error for an unknown name, with the name that was probably meant.
std::string unknown_name(std::string_view kind, std::string_view name, const Value& items) {
  std::vector<std::string> names;
  for (const Value& item : items.items())
    if (auto known = item.string_at("name")) names.push_back(std::move(*known));
  const std::string near = nearest_name(name, names);
  std::string text = fmt::format("No {} named {}.", kind, quote_json(name));
  if (!near.empty()) text += fmt::format(" Did you mean {}?", quote_json(near));
  return text;
}

HandlerResult call_tool(Service& service, const Value& params, Call& call) {
  const auto name = params.string_at("name");
  if (!name) return invalid("params.name must be the name of a tool");
  const Value* arguments = params.find("arguments");
  if (arguments != nullptr && !arguments->is_object()) return invalid("params.arguments must be an object");
  static const Value kNone = Value::object();
  return service.call_tool(*name, arguments != nullptr ? *arguments : kNone, call);
}

HandlerResult read_resource(Service& service, const Value& params, Call& call) {
  const auto uri = params.string_at("uri");
  if (!uri) return invalid("params.uri must be the URI of a resource");
  auto outcome = service.read_resource(*uri, call);
  if (!outcome) {
    const int code = is_stateless(call.revision) ? kInvalidParams : code::kResourceNotFound;
    return RpcError{code, fmt::format("Resource {} not found.", quote_json(*uri)), Value::object({{"uri", *uri}})};
  }
  if (auto* result = std::get_if<Value>(&*outcome)) return cacheable(std::move(*result), 0, call.revision);
  return std::move(*outcome);
}

HandlerResult get_prompt(Service& service, const Value& params, Call& call) {
  const auto name = params.string_at("name");
  if (!name) return invalid("params.name must be the name of a prompt");
  const Value* given = params.find("arguments");
  const Value arguments = given != nullptr ? *given : Value::object();
  if (!arguments.is_object()) return invalid("params.arguments must be an object");
  for (const Value::Member& argument : arguments.members())
    if (!argument.value.is_string()) return invalid(fmt::format("params.arguments.{} must be a string", argument.name));
  auto outcome = service.get_prompt(*name, arguments, call);
  if (!outcome) return invalid(unknown_name("prompt", *name, service.prompts()));
  return std::move(*outcome);
}

HandlerResult complete(Service& service, const Value& params) {
  const Value& reference = params["ref"];
  const auto kind = reference.string_at("type");
  const bool is_whole =
      (kind == "ref/prompt" && reference.string_at("name")) || (kind == "ref/resource" && reference.string_at("uri"));
  if (!is_whole)
    return invalid(R"(params.ref must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …})");
  const auto argument = params["argument"].string_at("name");
  const auto begun = params["argument"].string_at("value");
  if (!argument || !begun) return invalid("params.argument must have name and value, both strings");
  const auto found = service.complete(reference, *argument, *begun, params["context"]);
  if (!found) {
    const std::string_view member = kind == "ref/prompt" ? "name" : "uri";
    return invalid(fmt::format("Nothing named {} to complete.", quote_json(*reference.string_at(member))));
  }
  const std::size_t count = std::min(found->values.size(), limits::kCompletions);
  const auto begin = found->values.begin();
  Value values = Value::array(std::vector<std::string>(begin, begin + static_cast<long>(count)));
  return Value::object(
      {{"completion",
        Value::object({{"values", std::move(values)}, {"total", found->total}, {"hasMore", count < found->total}})}});
}

bool is_any(std::string_view method, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, method) != names.end();
}

}  // namespace

bool is_service_method(std::string_view method, const ServerFacts& facts) {
  if (is_any(method, {"tools/list", "tools/call"})) return true;
  if (is_any(method, {"resources/list", "resources/templates/list", "resources/read"})) return facts.has_resources;
  if (is_any(method, {"prompts/list", "prompts/get"})) return facts.has_prompts;
  return method == "completion/complete" && facts.has_completions;
}

HandlerResult answer_request(Service& service, const ServerFacts&, std::string_view method, const Value& params,
                             Call& call) {
  const Revision revision = call.revision;
  HandlerResult outcome = [&]() -> HandlerResult {
    if (method == "tools/list") return page_of(service.tools(), "tools", method, params, revision);
    if (method == "tools/call") return call_tool(service, params, call);
    if (method == "resources/list") return page_of(service.resources(), "resources", method, params, revision);
    if (method == "resources/templates/list")
      return page_of(service.resource_templates(), "resourceTemplates", method, params, revision);
    if (method == "resources/read") return read_resource(service, params, call);
    if (method == "prompts/list") return page_of(service.prompts(), "prompts", method, params, revision);
    if (method == "prompts/get") return get_prompt(service, params, call);
    if (method == "completion/complete") return complete(service, params);
    return RpcError{net::rpc::kMethodNotFound, fmt::format("Method {} not found.", quote_json(method))};
  }();
  if (auto* result = std::get_if<Value>(&outcome)) return adapted_result(std::move(*result), revision);
  return outcome;
}

Value with_era_members(Value result, Revision revision, const ServerFacts& facts) {
  if (!is_stateless(revision)) return result;
  if (result.find("resultType") == nullptr) result.set("resultType", "complete");
  Value meta = result["_meta"].is_object() ? result["_meta"] : Value::object();
  meta.set("io.modelcontextprotocol/serverInfo", adapted_info(facts.info, revision));
  result.set("_meta", std::move(meta));
  return result;
}

Value capabilities_of(const ServerFacts& facts, Revision revision) {
  const Value changes = Value::object({{"listChanged", true}});
  Value capabilities = Value::object({{"tools", changes}});
  if (facts.has_resources) capabilities.set("resources", Value::object({{"subscribe", true}, {"listChanged", true}}));
  if (facts.has_prompts) capabilities.set("prompts", changes);
  if (facts.has_completions && revision >= Revision::k2025_03_26) capabilities.set("completions", Value::object());
  if (facts.has_logging) capabilities.set("logging", Value::object());
  return capabilities;
}

}  // namespace sb::mcp

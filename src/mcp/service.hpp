// What a server offers, independent of transports and eras: the interface between the protocol and its application.
// Signalbox's own Service is tools/tool_service.hpp; the one for the conformance suite is with the tests.
//
// Lists are returned whole; the protocol pages them. An item is what the wire shows ({name, title, description, …});
// members that a revision does not support are removed later (`title` before 2025-06-18, `outputSchema`, `icons` …).
//
// Threads: every worker has its own Service, called only from that thread. Handlers must not throw.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.hpp"

namespace sb::mcp {

// The same for all workers during the lifetime of the server.
struct ServerFacts {
  Value info;                     // {name, title, version, …}
  std::string instructions = {};  // how to use the tools together, for the model
  bool has_resources = false;
  bool has_prompts = false;
  bool has_completions = false;
  bool has_logging = false;
};

// Possible values for an argument, best first; `total` counts those that are not listed, too.
struct Completion {
  Completion(std::vector<std::string> all) : values(std::move(all)), total(values.size()) {}
  Completion(std::vector<std::string> some, std::size_t of) : values(std::move(some)), total(of) {}

  std::vector<std::string> values;
  std::size_t total;
};

class Service {
 public:
  virtual ~Service() = default;

  virtual Value tools() = 0;  // array of {name, description, inputSchema, …}
  // RpcError kInvalidParams for an unknown tool.
  virtual HandlerResult call_tool(std::string_view name, const Value& arguments, Call& call) = 0;

  virtual Value resources() { return Value::array(); }
  virtual Value resource_templates() { return Value::array(); }
  // {contents: […]}; nothing if there is none with that name (the era has its own code for that).
  virtual std::optional<HandlerResult> read_resource(const std::string& uri, Call& call);
  virtual bool has_resource(const std::string& uri) { return !uri.empty(); }
  // Changes when a read would return something else; called about once a second, and soon after a tool call, for
  // subscribed resources. "" stands for the list of resources; "tools" and "prompts" for those lists, with the names
  // below.
  virtual std::string fingerprint(const std::string& what) { return what; }
  static constexpr std::string_view kToolList = "list:tools", kResourceList = "list:resources",
                                    kPromptList = "list:prompts";

  virtual Value prompts() { return Value::array(); }
  // {description?, messages: […]}; nothing if there is none with that name.
  virtual std::optional<HandlerResult> get_prompt(std::string_view name, const Value& arguments, Call& call);
  // At most 100 are shown, and the total. Nothing if the reference names nothing.
  virtual std::optional<Completion> complete(const Value& reference, std::string_view argument, std::string_view begun,
                                             const Value& context);
};

inline std::optional<HandlerResult> Service::read_resource(const std::string&, Call&) {
  return {};
}
inline std::optional<HandlerResult> Service::get_prompt(std::string_view, const Value&, Call&) {
  return {};
}
inline std::optional<Completion> Service::complete(const Value&, std::string_view, std::string_view, const Value&) {
  return {};
}

// A tool's result, in the form every tool returns it.
Value text_content(std::string text);
Value tool_result(std::vector<Value> content, bool is_error = false);
// The same as text and as structuredContent.
Value structured_result(Value structured);

}  // namespace sb::mcp

#include "mcp/tools/tool_service.hpp"

#include <fmt/format.h>

#include "base/document/reader.hpp"
#include "mcp/tools/prompts.hpp"
#include "mcp/tools/resources.hpp"
#include "mcp/tools/tool_answers.hpp"

namespace sb::mcp {

Value ToolService::tools() {
  Value items = Value::array();
  for (const Tool& tool : tools_) items.push_back(tool_item(tool.spec));
  return items;
}

HandlerResult ToolService::call_tool(std::string_view name, const Value& arguments, Call& call) {
  std::vector<std::string> names;
  for (const Tool& tool : tools_) {
    names.emplace_back(tool.spec.name);
    if (tool.spec.name != name) continue;
    const auto inputs = read_inputs(tool.spec, arguments);
    if (!inputs) return error_result(inputs.error());
    return tool.run(worker_, tool.spec, *inputs, call);
  }
  const std::string nearest = nearest_name(name, names);
  return RpcError{net::rpc::kInvalidParams,
                  fmt::format("Unknown tool {}. {}", quote_json(name),
                              nearest.empty() ? fmt::format("The tools are {}", fmt::join(names, ", "))
                                              : fmt::format("Did you mean {}?", nearest))};
}

Value ToolService::resources() {
  return listed_resources();
}

Value ToolService::resource_templates() {
  return listed_templates();
}

std::optional<HandlerResult> ToolService::read_resource(const std::string& uri, Call&) {
  return resource_contents(worker_, uri);
}

bool ToolService::has_resource(const std::string& uri) {
  return uri == kTagsUri || !session_of_uri(uri).empty();
}

std::string ToolService::fingerprint(const std::string& what) {
  if (what == kPromptList || what == kTagsUri) return workflows_fingerprint(worker_);
  if (const std::string session = session_of_uri(what); !session.empty()) return session_fingerprint(worker_, session);
  return {};
}

Value ToolService::prompts() {
  return listed_prompts(worker_);
}

std::optional<HandlerResult> ToolService::get_prompt(std::string_view name, const Value& arguments, Call&) {
  return prompt_messages(worker_, name, arguments);
}

std::optional<Completion> ToolService::complete(const Value& reference, std::string_view argument,
                                                std::string_view begun, const Value&) {
  if (reference.string_at("type") == "ref/resource") {
    if (reference.string_at("uri") != kSessionTemplate || argument != "id") return {};
    return session_ids(worker_, begun);
  }
  return prompt_completions(worker_, reference.string_at("name").value_or(""), argument, begun);
}

}  // namespace sb::mcp

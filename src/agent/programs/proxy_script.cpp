// The part of proxy_wire.hpp for scripted models: converts requests of the three APIs to the common form, and replies
// back.
#include <fmt/format.h>

#include <algorithm>

#include "agent/programs/proxy_wire.hpp"
#include "base/document/document.hpp"

namespace sb::agent {
namespace {

using From = Message::From;

constexpr const char* kShell = "exec_command";  // of Codex

std::string text_of(const Value& content) {
  if (content.is_string()) return content.as_string();
  std::string text;
  if (!content.is_array()) return text;
  for (const Value& block : content.items()) {
    const auto part = block.string_at("text");
    if (!part) continue;
    if (!text.empty()) text += '\n';
    text += *part;
  }
  return text;
}

Value script_text_block(std::string text) {
  return Value::object({{"type", "text"}, {"text", std::move(text)}});
}

Value call_block(const Value& id, const Value& name, Value input) {
  return Value::object({{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", std::move(input)}});
}

Value result_block(const Value& id, std::string text, bool is_error = false) {
  return Value::object(
      {{"type", "tool_result"}, {"tool_use_id", id}, {"content", std::move(text)}, {"is_error", is_error}});
}

Value arguments_of(const Value& text) {
  if (!text.is_string()) return Value::object();
  auto read = parse_json(text.as_string());
  return read ? std::move(*read) : Value::object();
}

void add(ModelRequest& request, From from, Value block) {
  if (request.messages.empty() || request.messages.back().from != from) request.messages.push_back({from, {}});
  request.messages.back().content.push_back(std::move(block));
}

const Value::Array& items_at(const Value& value, std::string_view name) {
  static const Value::Array none;
  const Value& found = value[name];
  return found.is_array() ? found.items() : none;
}

void read_messages(const Value& body, ModelRequest& request) {
  if (const std::string system = text_of(body["system"]); !system.empty()) request.system.push_back(system);
  for (const Value& message : items_at(body, "messages")) {
    const From from = message.string_at("role") == "assistant" ? From::kAssistant : From::kUser;
    const Value& content = message["content"];
    if (content.is_string()) add(request, from, script_text_block(content.as_string()));
    if (!content.is_array()) continue;
    for (const Value& block : content.items()) {
      const Value& error = block["is_error"];
      add(request, from,
          block.string_at("type") == "tool_result"
              ? result_block(block["tool_use_id"], text_of(block["content"]), error.is_bool() && error.as_bool())
              : block);
    }
  }
  for (const Value& tool : items_at(body, "tools")) {
    request.tools.push_back(
        {tool.string_at("name").value_or(""), tool.string_at("description").value_or(""), tool["input_schema"]});
  }
}

void read_response_item(const Value& item, ModelRequest& request) {
  const std::string type = item.string_at("type").value_or("message");
  if (type == "message") {
    const std::string role = item.string_at("role").value_or("user");
    const std::string text = text_of(item["content"]);
    if (role == "developer" || role == "system") {
      request.system.push_back(text);
    } else {
      add(request, role == "assistant" ? From::kAssistant : From::kUser, script_text_block(text));
    }
  } else if (type == "function_call") {
    add(request, From::kAssistant, call_block(item["call_id"], item["name"], arguments_of(item["arguments"])));
  } else if (type.ends_with("_call_output") && item.find("call_id") != nullptr) {
    const Value& output = item["output"];
    add(request, From::kUser, result_block(item["call_id"], output.is_object() ? to_json(output) : text_of(output)));
  }
}

void read_response_tool(const Value& tool, const std::string& prefix, ModelRequest& request) {
  const std::string name = tool.string_at("name").value_or(tool.string_at("type").value_or(""));
  for (const Value& inner : items_at(tool, "tools")) read_response_tool(inner, name + "__", request);
  if (tool.find("tools") != nullptr) return;
  request.tools.push_back({prefix + name, tool.string_at("description").value_or(""), tool["parameters"]});
}

void read_responses(const Value& body, ModelRequest& request) {
  if (const auto instructions = body.string_at("instructions")) request.system.push_back(*instructions);
  const Value& input = body["input"];
  if (input.is_string()) add(request, From::kUser, script_text_block(input.as_string()));
  for (const Value& item : items_at(body, "input")) read_response_item(item, request);
  for (const Value& tool : items_at(body, "tools")) read_response_tool(tool, "", request);
}

void read_chat(const Value& body, ModelRequest& request) {
  for (const Value& message : items_at(body, "messages")) {
    const std::string role = message.string_at("role").value_or("user");
    const std::string text = text_of(message["content"]);
    if (role == "system" || role == "developer") {
      request.system.push_back(text);
    } else if (role == "tool") {
      add(request, From::kUser, result_block(message["tool_call_id"], text));
    } else {
      const From from = role == "assistant" ? From::kAssistant : From::kUser;
      if (!text.empty()) add(request, from, script_text_block(text));
      for (const Value& call : items_at(message, "tool_calls")) {
        const Value& function = call["function"];
        add(request, from, call_block(call["id"], function["name"], arguments_of(function["arguments"])));
      }
    }
  }
  for (const Value& tool : items_at(body, "tools")) {
    const Value& function = tool["function"];
    request.tools.push_back({function.string_at("name").value_or(""), function.string_at("description").value_or(""),
                             function["parameters"]});
  }
}

// The tool that the script names, under the program's name for it.
std::string known_name(const std::string& wanted, const std::vector<ToolDeclaration>& tools) {
  const std::string ending = "__" + wanted;
  for (const ToolDeclaration& tool : tools) {
    if (tool.name == wanted || tool.name.ends_with(ending)) return tool.name;
  }
  return wanted;
}

bool is_declared(std::string_view name, const std::vector<ToolDeclaration>& tools) {
  return std::ranges::any_of(tools, [&](const ToolDeclaration& tool) { return tool.name == name; });
}

std::string shell_word(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// A script's call on the work tree as a shell command, for a program that has only a shell. Nothing: some other tool.
std::optional<std::string> as_command(const std::string& name, const Value& input) {
  const std::string path = input.string_at("file_path").value_or("");
  if (name == "Bash") return input.string_at("command").value_or("");
  if (name == "Read") return fmt::format("cat -- {}", shell_word(path));
  if (name != "Write") return std::nullopt;
  return fmt::format("mkdir -p -- \"$(dirname -- {0})\" && printf %s {1} > {0}", shell_word(path),
                     shell_word(input.string_at("content").value_or("")));
}

std::string event_text(const Value& data) {
  return fmt::format("event: {}\ndata: {}\n\n", data.string_at("type").value_or(""), to_json(data));
}

std::string_view message_stop_name(StopReason stop) {
  switch (stop) {
    case StopReason::kToolUse:
      return "tool_use";
    case StopReason::kMaxTokens:
      return "max_tokens";
    case StopReason::kRefusal:
      return "refusal";
    default:
      return "end_turn";
  }
}

Value message_usage(const Usage& usage) {
  return Value::object({{"input_tokens", usage.input},
                        {"output_tokens", usage.output},
                        {"cache_creation_input_tokens", usage.cache_write},
                        {"cache_read_input_tokens", usage.cache_read}});
}

std::string message_stream(const Value& message) {
  Value start = message;
  start.set("content", Value::array());
  start.set("stop_reason", Value());
  std::string text = event_text(Value::object({{"type", "message_start"}, {"message", start}}));
  int index = 0;
  for (const Value& block : message["content"].items()) {
    const bool is_call = block.string_at("type") == "tool_use";
    Value empty = block;
    if (is_call) empty.set("input", Value::object());
    if (!is_call) empty.set("text", "");
    const Value delta = is_call
                            ? Value::object({{"type", "input_json_delta"}, {"partial_json", to_json(block["input"])}})
                            : Value::object({{"type", "text_delta"}, {"text", block["text"]}});
    text += event_text(Value::object({{"type", "content_block_start"}, {"index", index}, {"content_block", empty}}));
    text += event_text(Value::object({{"type", "content_block_delta"}, {"index", index}, {"delta", delta}}));
    text += event_text(Value::object({{"type", "content_block_stop"}, {"index", index}}));
    ++index;
  }
  const Value end = Value::object({{"stop_reason", message["stop_reason"]}, {"stop_sequence", Value()}});
  text += event_text(Value::object({{"type", "message_delta"}, {"delta", end}, {"usage", message["usage"]}}));
  return text + event_text(Value::object({{"type", "message_stop"}}));
}

// Text and calls; a program accepts nothing else from a script.
Value::Array plain_blocks(const ModelReply& reply, const std::vector<ToolDeclaration>& tools) {
  Value::Array blocks;
  for (const Value& block : reply.content) {
    const std::string type = block.string_at("type").value_or("");
    if (type == "text") blocks.push_back(script_text_block(block.string_at("text").value_or("")));
    if (type != "tool_use") continue;
    const std::string wanted = block.string_at("name").value_or("");
    const std::string name = known_name(wanted, tools);
    const auto command = is_declared(name, tools) ? std::nullopt : as_command(wanted, block["input"]);
    if (command && is_declared(kShell, tools)) {
      blocks.push_back(call_block(block["id"], kShell, Value::object({{"cmd", *command}})));
    } else {
      blocks.push_back(call_block(block["id"], name, block["input"]));
    }
  }
  return blocks;
}

WireReply on_messages(const Value& request, const Value::Array& blocks, const ModelReply& reply, std::string_view id) {
  const Value message = Value::object({{"id", fmt::format("msg_{}", id)},
                                       {"type", "message"},
                                       {"role", "assistant"},
                                       {"model", request["model"]},
                                       {"content", blocks},
                                       {"stop_reason", message_stop_name(reply.stop)},
                                       {"stop_sequence", Value()},
                                       {"usage", message_usage(reply.usage)}});
  if (!wants_stream(request)) return {"application/json", to_json(message)};
  return {"text/event-stream", message_stream(message)};
}

Value response_item(const Value& block, std::string_view id) {
  if (block.string_at("type") == "text") {
    const Value part =
        Value::object({{"type", "output_text"}, {"text", block["text"]}, {"annotations", Value::array()}});
    return Value::object({{"type", "message"},
                          {"id", fmt::format("msg_{}", id)},
                          {"role", "assistant"},
                          {"status", "completed"},
                          {"content", Value(Value::Array{part})}});
  }
  Value item = Value::object({{"type", "function_call"},
                              {"id", fmt::format("fc_{}", id)},
                              {"call_id", block["id"]},
                              {"status", "completed"},
                              {"arguments", to_json(block["input"])}});
  const std::string name = block.string_at("name").value_or("");
  const std::size_t split = name.starts_with("mcp__") ? name.find("__", 5) : std::string::npos;
  if (split == std::string::npos) {
    item.set("name", name);
  } else {
    item.set("name", name.substr(split + 2));
    item.set("namespace", name.substr(0, split));
  }
  return item;
}

WireReply on_responses(const Value& request, const Value::Array& blocks, const ModelReply& reply, std::string_view id) {
  Value output = Value::array();
  for (const Value& block : blocks) output.push_back(response_item(block, fmt::format("{}_{}", id, output.size())));
  const std::int64_t input = reply.usage.input + reply.usage.cache_read;
  const Value usage =
      Value::object({{"input_tokens", input},
                     {"input_tokens_details", Value::object({{"cached_tokens", reply.usage.cache_read}})},
                     {"output_tokens", reply.usage.output},
                     {"total_tokens", input + reply.usage.output}});
  Value whole = Value::object({{"id", fmt::format("resp_{}", id)},
                               {"object", "response"},
                               {"created_at", 1},
                               {"status", "completed"},
                               {"model", request["model"]},
                               {"output", output},
                               {"usage", usage}});
  if (!wants_stream(request)) return {"application/json", to_json(whole)};
  Value begun = whole;
  begun.set("status", "in_progress");
  begun.set("output", Value::array());
  begun.set("usage", Value());
  std::string text = event_text(Value::object({{"type", "response.created"}, {"response", begun}}));
  int index = 0;
  for (const Value& item : output.items()) {
    text +=
        event_text(Value::object({{"type", "response.output_item.added"}, {"output_index", index}, {"item", item}}));
    text += event_text(Value::object({{"type", "response.output_item.done"}, {"output_index", index}, {"item", item}}));
    ++index;
  }
  text += event_text(Value::object({{"type", "response.completed"}, {"response", whole}}));
  return {"text/event-stream", std::move(text)};
}

WireReply on_chat(const Value& request, const Value::Array& blocks, const ModelReply& reply, std::string_view id) {
  std::string text;
  Value calls = Value::array();
  for (const Value& block : blocks) {
    if (block.string_at("type") == "text") {
      text += block.string_at("text").value_or("");
      continue;
    }
    const Value function = Value::object({{"name", block["name"]}, {"arguments", to_json(block["input"])}});
    calls.push_back(
        Value::object({{"index", calls.size()}, {"id", block["id"]}, {"type", "function"}, {"function", function}}));
  }
  Value message = Value::object({{"role", "assistant"}, {"content", text}});
  const std::string stop = calls.size() > 0 ? "tool_calls" : "stop";
  if (calls.size() > 0) message.set("tool_calls", std::move(calls));
  const std::int64_t input = reply.usage.input + reply.usage.cache_read;
  const Value usage = Value::object({{"prompt_tokens", input},
                                     {"completion_tokens", reply.usage.output},
                                     {"total_tokens", input + reply.usage.output}});
  const bool is_stream = wants_stream(request);
  const Value choice =
      Value::object({{"index", 0}, {is_stream ? "delta" : "message", message}, {"finish_reason", stop}});
  const Value whole = Value::object({{"id", fmt::format("chatcmpl-{}", id)},
                                     {"object", is_stream ? "chat.completion.chunk" : "chat.completion"},
                                     {"created", 1},
                                     {"model", request["model"]},
                                     {"choices", Value(Value::Array{choice})},
                                     {"usage", usage}});
  if (!is_stream) return {"application/json", to_json(whole)};
  return {"text/event-stream", fmt::format("data: {}\n\ndata: [DONE]\n\n", to_json(whole))};
}

}  // namespace

Result<ModelRequest> request_from(Wire wire, const Value& body) {
  const std::string_view conversation = wire == Wire::kResponses ? "input" : "messages";
  if (!body.is_object() || body.find(conversation) == nullptr) {
    return fail(ErrorCode::kInvalid, fmt::format("the request has no `{}`", conversation));
  }
  ModelRequest request;
  switch (wire) {
    case Wire::kMessages:
      read_messages(body, request);
      break;
    case Wire::kResponses:
      read_responses(body, request);
      break;
    case Wire::kChat:
      read_chat(body, request);
      break;
  }
  return request;
}

Value::Array tool_results(Wire wire, const Value& body) {
  Value::Array results;
  auto request = request_from(wire, body);
  for (Message& message : request ? request->messages : std::vector<Message>()) {
    for (Value& block : message.content) {
      if (block.string_at("type") == "tool_result") results.push_back(std::move(block));
    }
  }
  return results;
}

WireReply reply_on(Wire wire, const Value& request_body, const ModelReply& reply, std::string_view id) {
  const auto request = request_from(wire, request_body);
  const auto blocks = plain_blocks(reply, request ? request->tools : std::vector<ToolDeclaration>());
  switch (wire) {
    case Wire::kMessages:
      return on_messages(request_body, blocks, reply, id);
    case Wire::kResponses:
      return on_responses(request_body, blocks, reply, id);
    case Wire::kChat:
      return on_chat(request_body, blocks, reply, id);
  }
  return {};
}

}  // namespace sb::agent

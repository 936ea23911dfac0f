#include "agent/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sb::agent {

namespace {

constexpr std::array<std::string_view, 5> kStopNames = {"end_turn", "tool_use", "max_tokens", "refusal", "other"};
constexpr std::array<std::string_view, 13> kErrorNames = {
    "unreachable", "rate_limited", "overloaded", "cut",    "auth",     "request", "too_long",
    "malformed",   "too_large",    "budget",     "script", "diverged", "stopped"};

// What is wrong with the block; empty if nothing is.
std::string_view lack_of(const Value& block) {
  if (!block.is_object()) return "is not an object";
  const auto type = block.string_at("type");
  if (!type) return "has no type";
  if (*type == "text" && !block.string_at("text")) return "is a text block without text";
  if (*type != "tool_use") return {};
  if (block.string_at("name").value_or("").empty()) return "is a tool_use without a name";
  if (block.string_at("id").value_or("").empty()) return "is a tool_use without an id";
  if (!block.find("input")) return "is a tool_use without input";
  return {};
}

}  // namespace

Value to_value(const ModelRequest& request) {
  Value value = Value::object();
  value.set("system", Value::array(request.system));
  Value::Array messages;
  for (const Message& message : request.messages) {
    messages.push_back(Value::object(
        {{"role", message.from == Message::From::kUser ? "user" : "assistant"}, {"content", Value(message.content)}}));
  }
  value.set("messages", std::move(messages));
  Value::Array tools;
  for (const ToolDeclaration& tool : request.tools) {
    tools.push_back(
        Value::object({{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.input_schema}}));
  }
  value.set("tools", std::move(tools));
  value.set("max_tokens", request.max_tokens);
  if (request.temperature) value.set("temperature", *request.temperature);
  return value;
}

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  return *this;
}

Value to_value(const Usage& usage) {
  Value value = Value::object({{"input", usage.input}, {"output", usage.output}});
  if (usage.cache_read > 0) value.set("cache_read", usage.cache_read);
  if (usage.cache_write > 0) value.set("cache_write", usage.cache_write);
  return value;
}

std::int64_t token_count(const Value& value) {
  constexpr std::int64_t kMost = 1'000'000'000;  // so that sums and prices cannot overflow
  return value.is_integer() ? std::clamp<std::int64_t>(value.as_integer(), 0, kMost) : 0;
}

Usage usage_from(const Value& value) {
  return {.input = token_count(value["input"]),
          .output = token_count(value["output"]),
          .cache_read = token_count(value["cache_read"]),
          .cache_write = token_count(value["cache_write"])};
}

std::string_view to_string(StopReason reason) {
  return kStopNames[static_cast<std::size_t>(reason)];
}

StopReason stop_reason_named(std::string_view name) {
  const auto found = std::ranges::find(kStopNames, name);
  if (name == "stop_sequence") return StopReason::kEndTurn;
  return found == kStopNames.end() ? StopReason::kOther : static_cast<StopReason>(found - kStopNames.begin());
}

Result<Value::Array> blocks_from(const Value& value) {
  if (!value.is_array()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("The content of a message is {}, not a list", kind_name(value.kind())));
  }
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    const std::string_view lack = lack_of(value.items()[i]);
    if (!lack.empty()) return fail(ErrorCode::kInvalid, fmt::format("Content block {} {}", i, lack));
  }
  return value.items();
}

Value to_value(const ModelReply& reply) {
  Value value = Value::object({{"content", Value(reply.content)},
                               {"stop", to_string(reply.stop)},
                               {"usage", to_value(reply.usage)},
                               {"model", reply.model}});
  if (!reply.mark.empty()) value.set("mark", reply.mark);
  return value;
}

Result<ModelReply> reply_from(const Value& value) {
  if (!value.is_object()) {
    return fail(ErrorCode::kInvalid, fmt::format("A reply is {}, not an object", kind_name(value.kind())));
  }
  ModelReply reply;
  reply.content = SB_TRY(blocks_from(value["content"]));
  reply.stop = stop_reason_named(value.string_at("stop").value_or(""));
  reply.usage = usage_from(value["usage"]);
  reply.model = value.string_at("model").value_or("");
  reply.mark = value.string_at("mark").value_or("");
  return reply;
}

std::string_view to_string(ModelError::Kind kind) {
  return kErrorNames[static_cast<std::size_t>(kind)];
}

std::optional<ModelError::Kind> model_error_named(std::string_view name) {
  const auto found = std::ranges::find(kErrorNames, name);
  if (found == kErrorNames.end()) return std::nullopt;
  return static_cast<ModelError::Kind>(found - kErrorNames.begin());
}

std::span<const std::string_view> model_error_names() {
  return kErrorNames;
}

}  // namespace sb::agent

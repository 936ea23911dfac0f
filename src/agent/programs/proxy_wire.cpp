#include "agent/programs/proxy_wire.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/model/exchange.hpp"
#include "base/document/document.hpp"

namespace sb::agent {
namespace {

// A line of a stream, or a whole reply that is not a stream.
constexpr std::size_t kEventLineBytes = 16u << 20;

std::int64_t count_at(const Value& value, std::string_view name) {
  const Value& found = value[name];
  return found.is_integer() ? std::max<std::int64_t>(found.as_integer(), 0) : 0;
}

StopReason message_stop(std::string_view name) {
  if (name == "end_turn" || name == "stop_sequence") return StopReason::kEndTurn;
  if (name == "tool_use") return StopReason::kToolUse;
  if (name == "max_tokens") return StopReason::kMaxTokens;
  if (name == "refusal") return StopReason::kRefusal;
  return StopReason::kOther;
}

bool has_call(const Value& output) {
  return output.is_array() && std::ranges::any_of(output.items(), [](const Value& item) {
           return item.string_at("type").value_or("").ends_with("_call");
         });
}

// Whether this event of a stream begins a call. Texts cannot look like one: their quotes are escaped.
bool begins_call(Wire wire, std::string_view event) {
  const auto has = [&](std::string_view part) { return event.find(part) != std::string_view::npos; };
  switch (wire) {
    case Wire::kMessages:
      return has("\"content_block_start\"") && has("\"tool_use\"");
    case Wire::kResponses:
      return has("\"response.output_item.added\"") && has("_call\"");
    case Wire::kChat:
      break;
  }
  if (!has("\"tool_calls\"")) return false;
  const auto read = parse_json(event);
  const Value& choices = read ? (*read)["choices"] : Value();
  return choices.is_array() && std::ranges::any_of(choices.items(), [](const Value& choice) {
           const Value& calls = choice["delta"]["tool_calls"];
           return calls.is_array() && calls.size() > 0;
         });
}

StopReason response_stop(const Value& response) {
  if (has_call(response["output"])) return StopReason::kToolUse;
  const auto why = response["incomplete_details"].string_at("reason");
  if (why == "max_output_tokens") return StopReason::kMaxTokens;
  return why ? StopReason::kOther : StopReason::kEndTurn;
}

StopReason chat_stop(std::string_view name) {
  if (name == "stop") return StopReason::kEndTurn;
  if (name == "tool_calls" || name == "function_call") return StopReason::kToolUse;
  if (name == "length") return StopReason::kMaxTokens;
  if (name == "content_filter") return StopReason::kRefusal;
  return StopReason::kOther;
}

using Kind = ModelError::Kind;

// Each API reports it in another place.
std::optional<ModelError> error_in(const Value& event) {
  const std::string type = event.string_at("type").value_or("");
  if (type == "response.failed") return error_in_stream(event["response"]["error"]);
  if (const Value& error = event["error"]; !error.is_null()) return error_in_stream(error);
  if (type == "error") return error_in_stream(event);
  return std::nullopt;
}

// The APIs' names for errors.
std::string_view anthropic_name(Kind kind) {
  switch (kind) {
    case Kind::kRateLimited:
      return "rate_limit_error";
    case Kind::kUnreachable:
    case Kind::kOverloaded:
    case Kind::kTruncated:
      return "overloaded_error";
    case Kind::kAuth:
      return "authentication_error";
    case Kind::kBudget:
    case Kind::kStopped:
      return "permission_error";
    case Kind::kTooLarge:
      return "request_too_large";
    default:
      return "invalid_request_error";
  }
}

std::string_view openai_name(Kind kind) {
  switch (kind) {
    case Kind::kRateLimited:
      return "rate_limit_exceeded";
    case Kind::kUnreachable:
    case Kind::kOverloaded:
    case Kind::kTruncated:
      return "server_error";
    case Kind::kAuth:
      return "invalid_api_key";
    case Kind::kBudget:
    case Kind::kStopped:
      return "insufficient_quota";
    case Kind::kContextTooLong:
      return "context_length_exceeded";
    default:
      return "invalid_request_error";
  }
}

int status_of(Kind kind, Wire wire) {
  switch (kind) {
    case Kind::kRateLimited:
      return 429;
    case Kind::kUnreachable:
    case Kind::kOverloaded:
    case Kind::kTruncated:
      return wire == Wire::kMessages ? 529 : 503;
    case Kind::kAuth:
      return 401;
    // Clients retry on 429 and 5xx; for these a retry is pointless.
    case Kind::kBudget:
    case Kind::kStopped:
      return 403;
    case Kind::kTooLarge:
      return 413;
    default:
      return 400;
  }
}

}  // namespace

std::optional<Wire> wire_of(std::string_view path) {
  if (path == "/v1/messages") return Wire::kMessages;
  if (path == "/v1/responses") return Wire::kResponses;
  if (path == "/v1/chat/completions") return Wire::kChat;
  return std::nullopt;
}

std::string_view api_of(Wire wire) {
  return wire == Wire::kMessages ? "anthropic" : "openai";
}

bool wants_stream(const Value& body) {
  const Value& stream = body["stream"];
  return stream.is_bool() && stream.as_bool();
}

void ReplyMeter::feed(std::string_view piece) {
  if (!is_known_ && !piece.empty()) {
    const std::size_t first = piece.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return;
    is_known_ = true;
    is_stream_ = piece[first] != '{';
  }
  while (!piece.empty()) {
    const std::size_t end = is_stream_ ? piece.find('\n') : std::string_view::npos;
    const std::string_view part = piece.substr(0, end);
    if (rest_.size() + part.size() <= kEventLineBytes) rest_ += part;
    if (end == std::string_view::npos) return;
    line(rest_);
    rest_.clear();
    piece.remove_prefix(end + 1);
  }
}

void ReplyMeter::finish() {
  if (is_stream_) {
    line(rest_);
  } else if (const auto whole = parse_json(rest_); whole && whole->is_object()) {
    has_ended_ = !is_error_body(rest_);
    if (!has_ended_) failure_ = error_from_response(200, rest_);
    model_ = whole->string_at("model").value_or("");
    if (wire_ == Wire::kMessages) {
      message_usage((*whole)["usage"]);
      stop_ = message_stop(whole->string_at("stop_reason").value_or(""));
    } else if (wire_ == Wire::kResponses) {
      response_event(Value::object({{"type", "response.completed"}, {"response", *whole}}));
    } else {
      chat_event(*whole);
    }
  }
  rest_.clear();
}

std::optional<ModelError> ReplyMeter::failure() const {
  if (failure_ || has_ended_) return failure_;
  return model_error(Kind::kTruncated, "The model's reply ended early").error();
}

void ReplyMeter::line(std::string_view text) {
  if (!text.starts_with("data:")) return;
  text.remove_prefix(5);
  if (const std::size_t begin = text.find_first_not_of(' '); begin != std::string_view::npos) {
    text.remove_prefix(begin);
  }
  if (wire_ == Wire::kChat && text.starts_with("[DONE]")) has_ended_ = true;
  has_call_ = has_call_ || begins_call(wire_, text);
  // Most of a stream are deltas, which have nothing needed here.
  const bool is_relevant =
      text.find("\"usage\"") != std::string_view::npos || text.find("_stop\"") != std::string_view::npos ||
      text.find("\"finish_reason\"") != std::string_view::npos || text.find("\"error\"") != std::string_view::npos;
  if (!is_relevant) return;
  const auto event = parse_json(text);
  if (!event || !event->is_object()) return;
  if (auto error = error_in(*event)) failure_ = std::move(error);
  switch (wire_) {
    case Wire::kMessages:
      return message_event(*event);
    case Wire::kResponses:
      return response_event(*event);
    case Wire::kChat:
      return chat_event(*event);
  }
}

void ReplyMeter::message_event(const Value& event) {
  const std::string type = event.string_at("type").value_or("");
  if (type == "message_start") {
    model_ = event["message"].string_at("model").value_or(model_);
    message_usage(event["message"]["usage"]);
  } else if (type == "message_delta") {
    message_usage(event["usage"]);
    if (const auto stop = event["delta"].string_at("stop_reason")) stop_ = message_stop(*stop);
  } else if (type == "message_stop") {
    has_ended_ = true;
  }
}

// Later events repeat the counts of earlier ones, or have more of them.
void ReplyMeter::message_usage(const Value& usage) {
  usage_.input = std::max(usage_.input, count_at(usage, "input_tokens"));
  usage_.output = std::max(usage_.output, count_at(usage, "output_tokens"));
  usage_.cache_read = std::max(usage_.cache_read, count_at(usage, "cache_read_input_tokens"));
  usage_.cache_write = std::max(usage_.cache_write, count_at(usage, "cache_creation_input_tokens"));
}

void ReplyMeter::openai_usage(const Value& usage, std::string_view input, std::string_view output) {
  if (!usage.is_object()) return;
  const std::int64_t cached = count_at(usage[fmt::format("{}_details", input)], "cached_tokens");
  usage_ = {.input = std::max<std::int64_t>(count_at(usage, input) - cached, 0),
            .output = count_at(usage, output),
            .cache_read = cached};
}

void ReplyMeter::response_event(const Value& event) {
  const std::string type = event.string_at("type").value_or("");
  const Value& response = event["response"];
  if (!response.is_object()) return;
  model_ = response.string_at("model").value_or(model_);
  openai_usage(response["usage"], "input_tokens", "output_tokens");
  if (type != "response.completed" && type != "response.incomplete") return;
  has_ended_ = true;
  stop_ = response_stop(response);
}

void ReplyMeter::chat_event(const Value& event) {
  model_ = event.string_at("model").value_or(model_);
  openai_usage(event["usage"], "prompt_tokens", "completion_tokens");
  const Value& choices = event["choices"];
  if (!choices.is_array()) return;
  for (const Value& choice : choices.items()) {
    const auto stop = choice.string_at("finish_reason");
    if (!stop) continue;
    stop_ = chat_stop(*stop);
    has_ended_ = true;  // some never send [DONE]
  }
}

WireError error_on(Wire wire, const ModelError& error) {
  WireError wire_error{.status = status_of(error.kind, wire), .body = {}};
  if (error.retry_after_ms) wire_error.retry_after_s = (*error.retry_after_ms + 999) / 1'000;
  const std::string message = error.error.to_string();
  if (wire == Wire::kMessages) {
    const Value inner = Value::object({{"type", anthropic_name(error.kind)}, {"message", message}});
    wire_error.body = to_json(Value::object({{"type", "error"}, {"error", inner}}));
  } else {
    const std::string name(openai_name(error.kind));
    wire_error.body = to_json(Value::object(
        {{"error", Value::object({{"message", message}, {"type", name}, {"param", Value()}, {"code", name}})}}));
  }
  return wire_error;
}

}  // namespace sb::agent

#include "net/json_rpc.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "net/limits.hpp"

namespace sb::net {
namespace {

Malformed invalid(Value id, std::string message, int code = rpc::kInvalidRequest) {
  return {std::move(id), {code, std::move(message)}};
}

// Parses an id; nothing if it is invalid. An integer may be written 1.0 or 1e3.
std::optional<Value> id_of(const Value& value) {
  if (value.is_string() || value.is_integer()) return value;
  if (!value.is_number()) return {};
  constexpr double kExact = 9'007'199'254'740'992.0;  // beyond this, doubles skip integers
  const double number = value.as_number();
  if (std::abs(number) > kExact || std::trunc(number) != number) return {};
  return Value(static_cast<long>(number));
}

RpcMessage read_call(Value& message, Value& method, const Value* given_id) {
  const std::optional<Value> id = given_id == nullptr ? std::nullopt : id_of(*given_id);
  const Value known = id.value_or(Value());
  if (given_id != nullptr && !id) return invalid({}, "\"id\" must be a string or an integer");
  if (!method.is_string())
    return invalid(known, fmt::format("\"method\" must be a string, not {}", kind_name(method.kind())));
  if (message.find("result") != nullptr || message.find("error") != nullptr) {
    return invalid(known, "a message has either \"method\" or \"result\" or \"error\"");
  }
  Value params = Value::object();
  if (Value* given = message.find("params"); given != nullptr && !given->is_null()) {
    if (!given->is_object()) {
      return invalid(known, fmt::format("\"params\" must be an object, not {}", kind_name(given->kind())),
                     rpc::kInvalidParams);
    }
    params = std::move(*given);
  }
  if (!id) return RpcNotification{method.as_string(), std::move(params)};
  return RpcRequest{known, method.as_string(), std::move(params)};
}

// Errors in a response are never reported under its id: the sender would take that as the response to one of its own
// requests.
RpcMessage read_response(Value& message, const Value* given_id) {
  Value* result = message.find("result");
  Value* error = message.find("error");
  if (result != nullptr && error != nullptr) return invalid({}, "a response has either \"result\" or \"error\"");
  const bool has_id = given_id != nullptr && !given_id->is_null();
  const std::optional<Value> id = has_id ? id_of(*given_id) : std::nullopt;
  if (has_id && !id) return invalid({}, "\"id\" must be a string or an integer");
  if (result != nullptr) {
    if (!id) return invalid({}, "a response with a \"result\" needs the \"id\" of its request");
    return RpcResponse{*id, std::move(*result)};
  }
  const Value& code = (*error)["code"];
  const Value& text = (*error)["message"];
  if (!code.is_integer() || !text.is_string()) {
    return invalid({}, "\"error\" must be {\"code\": integer, \"message\": string}");
  }
  if (code.as_integer() < INT32_MIN || code.as_integer() > INT32_MAX) return invalid({}, "\"code\" is out of range");
  return RpcResponse{id.value_or(Value()),
                     RpcError{static_cast<int>(code.as_integer()), text.as_string(), (*error)["data"]}};
}

RpcMessage read_one(Value& message) {
  if (!message.is_object()) {
    return invalid({}, fmt::format("a message must be an object, not {}", kind_name(message.kind())));
  }
  Value* method = message.find("method");
  const Value* id = message.find("id");
  const bool is_response = method == nullptr && (message.find("result") != nullptr || message.find("error") != nullptr);
  const Value& version = std::as_const(message)["jsonrpc"];
  if (!version.is_string() || version.as_string() != "2.0") {
    const auto known = id == nullptr || is_response ? std::nullopt : id_of(*id);
    return invalid(known.value_or(Value()), "\"jsonrpc\" must be \"2.0\"");
  }
  if (is_response) return read_response(message, id);
  if (method != nullptr) return read_call(message, *method, id);
  const auto known = id == nullptr ? std::nullopt : id_of(*id);
  return invalid(known.value_or(Value()), "a message needs \"method\", \"result\" or \"error\"");
}

Value envelope() {
  Value message = Value::object();
  message.members().reserve(4);
  message.set("jsonrpc", "2.0");
  return message;
}

// The string that starts with the quote at `at`, quotes included; moves `at` past it. Nothing if it is unterminated.
std::optional<std::string_view> string_at(std::string_view bytes, std::size_t& at) {
  const std::size_t begin = at++;
  while (at < bytes.size() && bytes[at] != '"') at += bytes[at] == '\\' ? 2 : 1;
  if (at >= bytes.size()) return {};
  return bytes.substr(begin, ++at - begin);
}

// The id of a request that could not be parsed: the value after "id" in the outermost object. The sender waits for a
// response with that id. Nothing if there is no method, since a response gets no response, or if there are two ids.
Value id_in_unreadable(std::string_view bytes) {
  int depth = 0;
  bool has_method = false;
  std::string_view name;  // the last string in the outermost object
  Value id;
  int ids = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const char c = bytes[at];
    if (c == '"') {
      const auto text = string_at(bytes, at);
      if (!text) break;
      if (depth == 1 && name == "\"id\"") id = parse_json(*text).value_or(Value());
      if (depth == 1) name = *text;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 1) name = {};
    if (c == ':' && depth == 1 && name == "\"method\"") has_method = true;
    if (c == ':' && depth == 1 && name == "\"id\"") ++ids;
    if (depth == 1 && name == "\"id\"" && (c == '-' || (c >= '0' && c <= '9'))) {
      const std::size_t end = std::min(bytes.find_first_not_of("+-.eE0123456789", at), bytes.size());
      id = parse_json(bytes.substr(at, end - at)).value_or(Value());
      at = end;
      continue;
    }
    ++at;
  }
  return has_method && ids == 1 ? id_of(id).value_or(Value()) : Value();
}

bool is_half(std::string_view bytes, std::size_t at, char first, char last) {
  if (at + 6 > bytes.size() || bytes[at] != '\\' || bytes[at + 1] != 'u') return false;
  return to_lower(bytes[at + 2]) == 'd' && to_lower(bytes[at + 3]) >= first && to_lower(bytes[at + 3]) <= last;
}

// Programs that cut a text in the middle of a character write half of it, such as \ud83d alone, which UTF-8 cannot
// represent. Such a half becomes U+FFFD; nothing if there is none.
std::optional<std::string> with_whole_characters(std::string_view bytes) {
  std::string repaired;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] != '\\') {
      repaired += bytes[at++];
    } else if (is_half(bytes, at, '8', 'b') && is_half(bytes, at + 6, 'c', 'f')) {
      repaired += bytes.substr(at, 12);
      at += 12;
    } else if (is_half(bytes, at, '8', 'f')) {
      repaired += "\\ufffd";
      at += 6;
    } else {
      repaired += bytes.substr(at, 2);
      at += 2;
    }
  }
  return repaired == bytes ? std::nullopt : std::optional(std::move(repaired));
}

Result<Value> parse_message(std::string_view bytes) {
  const JsonBounds bounds{.bytes = limits::kMessageBytes, .depth = limits::kMessageDepth};
  auto parsed = parse_json(bytes, bounds);
  if (parsed || parsed.error().code == ErrorCode::kLimit) return parsed;
  const auto repaired = with_whole_characters(bytes);
  return repaired ? parse_json(*repaired, bounds) : parsed;
}

}  // namespace

RpcRead read_rpc(std::string_view bytes) {
  RpcRead read;
  Result<Value> parsed = parse_message(bytes);
  if (!parsed) {
    const Error& error = parsed.error();
    const int code = error.code == ErrorCode::kLimit ? rpc::kInvalidRequest : rpc::kParseError;
    read.messages.push_back(
        invalid(id_in_unreadable(bytes), fmt::format("invalid message: {}", error.to_string()), code));
    return read;
  }
  if (!parsed->is_array()) {
    read.messages.push_back(read_one(*parsed));
    return read;
  }
  // An invalid batch is answered as one message.
  auto& items = parsed->items();
  if (items.empty()) {
    read.messages.push_back(invalid({}, "a batch needs at least one message"));
  } else if (items.size() > limits::kBatchMessages) {
    read.messages.push_back(invalid(
        {}, fmt::format("{} messages in a batch; at most {} are allowed", items.size(), limits::kBatchMessages)));
  } else {
    read.is_batch = true;
    read.messages.reserve(items.size());
    for (Value& item : items) read.messages.push_back(read_one(item));
  }
  return read;
}

Value rpc_request(Value id, std::string_view method, Value params) {
  Value message = envelope();
  message.set("id", std::move(id));
  message.set("method", method);
  if (!params.is_null()) message.set("params", std::move(params));
  return message;
}

Value rpc_notification(std::string_view method, Value params) {
  Value message = envelope();
  message.set("method", method);
  if (!params.is_null()) message.set("params", std::move(params));
  return message;
}

Value rpc_result(Value id, Value result) {
  Value message = envelope();
  message.set("id", std::move(id));
  message.set("result", std::move(result));
  return message;
}

Value rpc_error(Value id, const RpcError& error) {
  Value message = envelope();
  if (!id.is_null()) message.set("id", std::move(id));
  Value body = Value::object({{"code", error.code}, {"message", error.message}});
  if (!error.data.is_null()) body.set("data", error.data);
  message.set("error", std::move(body));
  return message;
}

}  // namespace sb::net

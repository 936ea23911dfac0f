// JSON-RPC 2.0 messages as MCP uses them: read from bytes, made, written. Pure.
//
// read() never trusts: bytes that are no JSON, no object, not UTF-8, too deep, with names twice, with an id of another
// kind than string or integer come back as Malformed with the error response that answers them, under the id the
// sender waits with where one can be made out. Half a surrogate pair, which some programs send, becomes U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document/value.hpp"

namespace sb::net {

// The protocol's own codes, and MCP's.
namespace rpc {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
}  // namespace rpc

struct RpcError {
  int code = rpc::kInternalError;
  std::string message;
  Value data = {};  // left out when null
};

struct RpcRequest {
  Value id;  // string or integer
  std::string method;
  Value params;  // object; empty where absent
};
struct RpcNotification {
  std::string method;
  Value params;
};
struct RpcResponse {
  Value id;
  std::variant<Value, RpcError> outcome;
};
struct Malformed {
  Value id;  // null where it could not be read
  RpcError error;
};
using RpcMessage = std::variant<RpcRequest, RpcNotification, RpcResponse, Malformed>;

struct RpcRead {
  std::vector<RpcMessage> messages;  // never empty
  bool is_batch = false;
};
RpcRead read_rpc(std::string_view bytes);

Value rpc_request(Value id, std::string_view method, Value params);
Value rpc_notification(std::string_view method, Value params);
Value rpc_result(Value id, Value result);
Value rpc_error(Value id, const RpcError& error);  // an id of null is left out where the schema wants it so

}  // namespace sb::net

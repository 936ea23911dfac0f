// JSON-RPC 2.0 messages as MCP uses them: parsing, building, serializing. Pure.
//
// read() trusts nothing: bytes that are not a JSON object, not UTF-8, too deep, with duplicate names, or with an id
// that is neither string nor integer come back as Malformed, with the error response to send, under the sender's id if
// it can be determined. Half a surrogate pair, which some programs send, becomes U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document/value.hpp"

namespace sb::net {

// The codes of JSON-RPC and of MCP.
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
  Value data = {};  // omitted if null
};

struct RpcRequest {
  Value id;  // string or integer
  std::string method;
  Value params;  // object; empty if absent
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
  Value id;  // null if it could not be read
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
Value rpc_error(Value id, const RpcError& error);  // a null id is omitted, as the schema requires

}  // namespace sb::net

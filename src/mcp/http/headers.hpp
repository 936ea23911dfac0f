// Checks the headers of the stateless era against the body, and determines the era of a POST. Pure.
//
// `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, and for arguments that a tool's schema marks with `x-mcp-header`
// also `Mcp-Param-…` repeat what the body says, so that intermediaries need not parse it. A missing or different header
// is rejected: an intermediary would have acted on another request than the one received here. A value of
// `=?base64?…?=` stands for the bytes it encodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mcp/peer/revision.hpp"
#include "net/http_listener.hpp"
#include "net/json_rpc.hpp"

namespace sb::mcp {

// By tool: the header's name after `Mcp-Param-`, and the path of the argument it repeats.
struct ParamHeader {
  std::string header;
  std::vector<std::string> path;
};
using ParamHeaders = std::map<std::string, std::vector<ParamHeader>, std::less<>>;
ParamHeaders param_headers_of(const Value& tools);

// The header without surrounding white space; nothing if absent.
std::optional<std::string_view> trimmed_header(const net::HttpRequest& request, std::string_view name);

// The version that a message's `_meta` claims, of any kind; null if it claims none.
const Value* claimed_version(const net::RpcMessage& message);
// Whether it is of the stateless era: the message or the header says so.
bool is_of_stateless_era(const net::HttpRequest& request, const net::RpcMessage& message);

// Checks a request of the stateless era before it is handled: its `_meta`, then its headers. Nothing for an unsupported
// version, which has its own error.
std::optional<net::RpcError> stateless_fault(const net::HttpRequest& request, const net::RpcRequest& message,
                                             const ParamHeaders& param_headers);

// Whether an Accept header allows that type (`text/event-stream`); an absent header allows everything.
bool accepts(const net::HttpRequest& request, std::string_view type);
bool is_json(const net::HttpRequest& request);

}  // namespace sb::mcp

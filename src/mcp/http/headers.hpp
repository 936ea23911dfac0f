// What the stateless era's headers must say about the body, and which era a POST is of. Pure.
//
// `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, and for arguments that a tool's schema marks with `x-mcp-header`
// also `Mcp-Param-…` repeat what the body says, so that those in between need not read it. One that is missing or says
// something else is refused: what lies in between has then acted on another request than the one that came here.
// A value of `=?base64?…?=` stands for the bytes it encodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mcp/peer/revision.hpp"
#include "net/http_listener.hpp"
#include "net/json_rpc.hpp"

namespace sb::mcp {

// AttachedBy tool: the header's name behind `Mcp-Param-`, and the path of the argument it repeats.
struct ParamHeader {
  std::string header;
  std::vector<std::string> path;
};
using ParamHeaders = std::map<std::string, std::vector<ParamHeader>, std::less<>>;
ParamHeaders param_headers_of(const Value& tools);

// The header without white space around it; nothing where there is none.
std::optional<std::string_view> trimmed_header(const net::HttpRequest& request, std::string_view name);

// The version a message's `_meta` claims, of whatever kind; null where it claims none.
const Value* claimed_version(const net::RpcMessage& message);
// Whether it is of the stateless era: it says so itself, or the header does.
bool is_of_stateless_era(const net::HttpRequest& request, const net::RpcMessage& message);

// What is wrong with a request of the stateless era before it is looked at: its `_meta`, then its headers. Nothing for
// a version we do not have, which has an error of its own.
std::optional<net::RpcError> stateless_fault(const net::HttpRequest& request, const net::RpcRequest& message,
                                             const ParamHeaders& param_headers);

// Whether an Accept header takes that type (`text/event-stream`); none takes everything.
bool accepts(const net::HttpRequest& request, std::string_view type);
bool is_json(const net::HttpRequest& request);

}  // namespace sb::mcp

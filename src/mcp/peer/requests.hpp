// A request that a Service answers: tools, resources, prompts, completion; from the wire's parameters to the wire's
// result, in every revision. Runs on a worker; no transport, no waiting.
//
// Covers tools/list, tools/call, resources/list, resources/templates/list, resources/read, prompts/list, prompts/get,
// completion/complete, with their pages (cursor: opaque, a wrong one is kInvalidParams), what a revision does not know
// taken off, what it demands added (resultType, ttlMs and cacheScope of the stateless era) and its own error codes.
#pragma once

#include "mcp/service.hpp"

namespace sb::mcp {

// Whether the method is one of the above and the server has it.
bool is_service_method(std::string_view method, const ServerFacts& facts);
// `params` with `_meta` and the retry's fields still in it. An InputRequired only comes out of the methods that may ask
// (tools/call, prompts/get, resources/read).
HandlerResult answer_request(Service& service, const ServerFacts& facts, std::string_view method, const Value& params,
                             Call& call);
// The era's own members added to a finished result (resultType, serverInfo in _meta).
Value with_era_members(Value result, Revision revision, const ServerFacts& facts);

// Capabilities as `initialize` and `server/discover` announce them.
Value capabilities_of(const ServerFacts& facts, Revision revision);

}  // namespace sb::mcp

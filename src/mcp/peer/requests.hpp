// Requests that a Service answers: tools, resources, prompts, completion. Converts parameters and results between the
// wire and the Service, in every revision. Runs on a worker; no transport, no waiting.
//
// Covers tools/list, tools/call, resources/list, resources/templates/list, resources/read, prompts/list, prompts/get,
// completion/complete, with paging (the cursor is opaque, an invalid one is kInvalidParams). Removes what a revision
// does not support, adds what it requires (resultType, ttlMs and cacheScope of the stateless era) and uses its error
// codes.
#pragma once

#include "mcp/service.hpp"

namespace sb::mcp {

// Whether the method is one of the above and the server supports it.
bool is_service_method(std::string_view method, const ServerFacts& facts);
// `params` still contain `_meta` and the fields of a repeated call. Only methods that may ask return an InputRequired
// (tools/call, prompts/get, resources/read).
HandlerResult answer_request(Service& service, const ServerFacts& facts, std::string_view method, const Value& params,
                             Call& call);
// Adds the era's own members to a finished result (resultType, serverInfo in _meta).
Value with_era_members(Value result, Revision revision, const ServerFacts& facts);

// Capabilities as `initialize` and `server/discover` announce them.
Value capabilities_of(const ServerFacts& facts, Revision revision);

}  // namespace sb::mcp

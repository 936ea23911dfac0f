// Adapts outgoing items to a revision: removes members it does not support yet, converts unsupported blocks to text.
// Pure.
#pragma once

#include "mcp/peer/revision.hpp"

namespace sb::mcp {

// An item of a list: a tool, a resource, a template, a prompt.
Value adapted_item(Value item, Revision revision);
// A result with `content`, `messages` or `contents`; other results are returned unchanged.
Value adapted_result(Value result, Revision revision);
// A server's {name, version, …}.
Value adapted_info(Value info, Revision revision);
// The parameters of a request to the client.
Value adapted_question(Value params, Revision revision);

}  // namespace sb::mcp

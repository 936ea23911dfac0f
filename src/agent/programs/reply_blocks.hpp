// What a model's reply says and which tools it calls, from its bytes on the wire, streamed or whole. Pure.
#pragma once

#include <string_view>

#include "agent/programs/proxy_wire.hpp"
#include "base/document/value.hpp"

namespace sb::agent {

struct ReplyBlocks {
  // Texts and calls in the common form (agent/model/model.hpp), without thinking. A call of an MCP tool has the name
  // mcp__SERVER__NAME, whatever the API.
  Value::Array blocks = {};
  bool is_malformed = false;  // a part of the reply is not JSON, and missing here
};
ReplyBlocks reply_blocks(Wire wire, std::string_view reply);

}  // namespace sb::agent

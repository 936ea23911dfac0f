// How an agent runs the child sessions that a step has started: by agents of its own where its client can start some,
// else one after the other. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::mcp {

// `line`: the JSON line of an answer; `client`: the client's own name (clientInfo). Empty if no child can be run now.
std::string how_to_run_children(const Value& line, std::string_view client);

}  // namespace sb::mcp

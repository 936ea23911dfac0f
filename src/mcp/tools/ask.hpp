// The tool `ask`: a decision, flow or chain put to the person behind the client, or else into the inbox.
//
// {declaration: object or JSON or YAML text, workspacePath?: a folder}. The question is in the inbox before it is
// shown. A result is the outcome as `signalbox ask --json` prints it; while there is none, what is asked as text, and
// then one line of JSON: the same with `kind: "awaiting"` and the `command` with which a person answers. The same
// declaration in the same folder joins the question while nobody has read its outcome, so asking again is how the
// answer is picked up.
//
// What an agent declares is no policy: it may not set a default for silence, and cannot answer what it asks.
#pragma once

#include "mcp/call.hpp"
#include "mcp/tools/bench.hpp"

namespace sb::mcp {

Outcome ask(ToolBench& bench, const Value& arguments, Call& call);

}  // namespace sb::mcp

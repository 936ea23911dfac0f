// The tool `ask`: a decision, flow or chain put to the person behind the client, or else into the inbox.
//
// {declaration: object or JSON or YAML text, workspacePath?: a folder, again?: bool}. The question is in the inbox
// before it is shown. A result is the outcome as `signalbox ask --json` prints it; while there is none, what is asked
// as text, and then one line of JSON: the same with `kind: "awaiting"` and the `command` with which a person answers.
// The same declaration in the same folder joins the question while nobody else has read its outcome, so asking again is
// how the answer is picked up. A result may get lost on its way, so for sb::limits::kAnswerMaxAgeMs the same client is
// told the same outcome however often it asks, with a note ahead; `again` puts the question to the person anew. A
// signed outcome is told once: it approves one act.
//
// What an agent declares is no policy: it may not set a default for silence, and cannot answer what it asks.
#pragma once

#include <string_view>

#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

// A declaration that is taken, as JSON.
inline constexpr std::string_view kDeclarationExample =
    R"({"decision": "env", "instruction": "Which environment?", "options": ["staging", "live"]})";

HandlerResult ask(WorkerContext& worker, const Value& arguments, Call& call);

}  // namespace sb::mcp

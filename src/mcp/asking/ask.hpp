// The tool `ask`: shows a decision, flow or chain to the person behind the client, or puts it into the inbox.
//
// {declaration: object or JSON or YAML text, workspacePath?: a folder, again?: bool}. The question is in the inbox
// before it is shown. The result is the outcome as `signalbox ask --json` prints it. While there is none, the result is
// the question as text and one line of JSON: the same with `kind: "awaiting"` and the `command` with which a person
// answers. The same declaration in the same folder joins the open question until another caller has read its outcome,
// so the client picks up the answer by asking again. A result may get lost, so for sb::limits::kAnswerMaxAgeMs the same
// client gets the same outcome for every call, with a note before it; `again` asks the person again. A signed outcome
// is returned once: it approves one action.
//
// An agent's declaration is not policy: it cannot set a default for missing answers, and the agent cannot answer it.
#pragma once

#include <string_view>

#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

// Accepted declarations, as JSON, one of each kind.
inline constexpr std::string_view kDeclarationExample =
    R"({"decision": "env", "instruction": "Which environment?", "options": ["staging", "live"]})";
inline constexpr std::string_view kFlowExample =
    R"({"flow": "release", "steps": [{"key": "branch", "instruction": "Which branch?", "options": ["main", "hotfix"]}, )"
    R"({"key": "env", "instruction": "Which environments?", "select": "many", "options": ["staging", "live"]}]})";
inline constexpr std::string_view kChainExample =
    R"({"chain": "scope", "skill": "plan", "relation": "independent", "options": [{"key": "E1", "label": "Slack bot", )"
    R"("eli10": "Answers in Slack.", "recommend": {"choice": "include", "reason": "most requests"}}, {"key": "E2", )"
    R"("label": "Digest", "eli10": "A daily mail.", "recommend": {"choice": "defer", "reason": "needs the bot"}, )"
    R"("requires": ["E1"]}]})";

HandlerResult ask(WorkerContext& worker, const Value& arguments, Call& call);

}  // namespace sb::mcp

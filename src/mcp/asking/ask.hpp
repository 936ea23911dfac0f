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

// Accepted declarations, one of each kind. The longer ones without quotes: an agent reads them on every start.
inline constexpr std::string_view kDeclarationExample =
    R"({"decision": "env", "instruction": "Which environment?", "options": ["staging", "live"]})";
inline constexpr std::string_view kFlowExample =
    "{flow: ship, steps: [{key: branch, instruction: 'Which branch?', options: [main, dev]}, {key: env, instruction: "
    "'Which environments?', select: many, options: [test, live]}]}";
inline constexpr std::string_view kChainExample =
    "{chain: scope, skill: plan, relation: independent, options: [{key: E1, label: Bot, eli10: Answers in chat., "
    "recommend: {choice: include, reason: asked for}}, {key: E2, label: Digest, eli10: A mail., recommend: {choice: "
    "cut, reason: unused}, requires: [E1]}]}";

HandlerResult ask(WorkerContext& worker, const Value& arguments, Call& call);

}  // namespace sb::mcp

// Decisions that come up inside start_workflow and continue_workflow, carried to the person behind the client.
#pragma once

#include <optional>
#include <string_view>

#include "engine/answer.hpp"
#include "mcp/call.hpp"
#include "mcp/tools/bench.hpp"

namespace sb::mcp {

// Both tools begin with this: a call that asked before, and is called again, goes on where it asked instead of doing
// its work twice. Nothing: it asked nothing before.
std::optional<Outcome> carried_on(ToolBench& bench, Call& call);

// `answer` of continue_workflow: a person's answer that the agent passes on. Nothing when it is recorded and the call
// may go on; else the error.
std::optional<Outcome> relay_answer(ToolBench& bench, const Value& answer, Call& call);

// Both tools end with this. An answer that awaits no decision is given as it is; `note` as answer_result has it.
Outcome carry_decision(ToolBench& bench, engine::Answer answer, Call& call, std::string_view note = {});

}  // namespace sb::mcp

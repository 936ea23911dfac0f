// Decisions that come up inside start_workflow and continue_workflow, carried to the person behind the client.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "engine/session/sessions.hpp"
#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

// Both tools begin with this: a call that asked before, and is called again, goes on where it asked instead of doing
// its work twice. Nothing: it asked nothing before.
std::optional<HandlerResult> resume_pending_call(WorkerContext& worker, Call& call);

// `answer` of continue_workflow, {decision, options | text | values, reason?}: a person's answer that the agent passes
// on. It goes into engine::ContinueRequest::answer, where it is refused unless the user allows it. kInvalid names the
// member that is wrong and the nearest right one.
Result<engine::RelayedAnswer> relayed_answer(const Value& answer, const Call& call);

// Both tools end with this. An answer that awaits no decision is given as it is; `note` as answer_result has it.
HandlerResult ask_for_decision(WorkerContext& worker, engine::SessionResponse answer, Call& call,
                               std::string_view note = {});

}  // namespace sb::mcp

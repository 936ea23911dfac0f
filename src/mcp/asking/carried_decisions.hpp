// Decisions that come up inside start_workflow and continue_workflow, shown to the person behind the client.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "engine/session/sessions.hpp"
#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

// Both tools begin with this: a repeated call that asked before continues where it asked instead of doing its work
// twice. Returns nothing if the call has not asked before.
std::optional<HandlerResult> resume_pending_call(WorkerContext& worker, Call& call);

// `answer` of continue_workflow, {decision, options | text | values, reason?}: a person's answer relayed by the agent.
// It goes into engine::ContinueRequest::answer, which rejects it unless the user allows relaying. kInvalid names the
// wrong member and the nearest valid one.
Result<engine::RelayedAnswer> relayed_answer(const Value& answer, const Call& call);

// Both tools end with this. An answer that waits for no decision is returned unchanged; `note` as in answer_result.
HandlerResult ask_for_decision(WorkerContext& worker, engine::SessionResponse answer, Call& call,
                               std::string_view note = {});

}  // namespace sb::mcp

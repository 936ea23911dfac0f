// The response to each event: the bytes for the host, usually none. An error means that the hook failed; the caller
// logs it and prints nothing to the host.
#pragma once

#include <string>

#include "base/seams.hpp"
#include "hook/error_log.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

struct HookContext {
  const Seams& seams;
  ErrorLog& log;
};

// A call of a question tool, before the person sees it: denied when it differs from the plan or when the person's
// preferences answer all of it; otherwise not touched.
Result<std::string> before_question(const HookEvent& event, const HookContext& hook_context);

// The same call afterwards: records what the person did, one record per question.
Result<std::string> after_question(const HookEvent& event, const HookContext& hook_context);

// A call of the tool `ask`, which may have asked the person in the client's form: what is said after it is said after
// an answer.
Result<std::string> after_ask(const HookEvent& event, const HookContext& hook_context);

// The agent stops: lints its last message where the user enabled that.
Result<std::string> at_stop(const HookEvent& event, const HookContext& hook_context);

// A call that changes files or runs a command: denied when the open step of a session does not allow it.
Result<std::string> before_change(const HookEvent& event, const HookContext& hook_context);

// A call that started or continued a session: the conversation works on that session from now on.
Result<std::string> after_workflow(const HookEvent& event, const HookContext& hook_context);

// A conversation begins, is resumed or was compacted: reports the open step, its required output and its token.
Result<std::string> at_session_start(const HookEvent& event, const HookContext& hook_context);
// The person sends a message: reports an answer that arrived meanwhile, once.
Result<std::string> at_prompt(const HookEvent& event, const HookContext& hook_context);
// The conversation has ended: it no longer works on any session.
Result<std::string> at_session_end(const HookEvent& event, const HookContext& hook_context);

// `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",…}}`
std::string deny_response(std::string_view reason);

// The folder of the event, absolute and free of links.
Result<std::string> folder_of(const HookEvent& event, const Seams& seams);

// `{"hookSpecificOutput":{"hookEventName":NAME,"additionalContext":TEXT}}`: a note to the model that blocks nothing.
std::string additional_context(std::string_view event_name, std::string_view text);

}  // namespace sb::hook

// What is answered to each event: the bytes for the host, mostly none. An error means the hook could not do its work;
// whoever calls logs it and says nothing to the host.
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

// A call of a question tool, before the person sees it: refused when it is not what was planned, or when the person's
// preferences answer all of it; otherwise left alone.
Result<std::string> before_question(const HookEvent& event, const HookContext& hook_context);

// The same call afterwards: what the person did, one record a question.
Result<std::string> after_question(const HookEvent& event, const HookContext& hook_context);

// The agent stops: its last message is held to the contract where the user has enabled that.
Result<std::string> at_stop(const HookEvent& event, const HookContext& hook_context);

// A call that changes files or runs a command: refused when the open step of a session does not allow it.
Result<std::string> before_change(const HookEvent& event, const HookContext& hook_context);

// A call that started or continued a session: the conversation works on it from now on.
Result<std::string> after_workflow(const HookEvent& event, const HookContext& hook_context);

// A conversation begins, is taken up again or was compacted: the open step, what it owes and the token for it.
Result<std::string> at_session_start(const HookEvent& event, const HookContext& hook_context);
// The person says something: an answer that arrived meanwhile is told, once.
Result<std::string> at_prompt(const HookEvent& event, const HookContext& hook_context);
// The conversation is over: it works on nothing any more.
Result<std::string> at_session_end(const HookEvent& event, const HookContext& hook_context);

// `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",…}}`
std::string deny_response(std::string_view reason);

// The folder the event is about, absolute and without links.
Result<std::string> folder_of(const HookEvent& event, const Seams& seams);

// `{"hookSpecificOutput":{"hookEventName":NAME,"additionalContext":TEXT}}`: a word to the model that decides nothing.
std::string additional_context(std::string_view event_name, std::string_view text);

}  // namespace sb::hook

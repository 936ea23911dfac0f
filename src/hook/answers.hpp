// What is answered to each event: the bytes for the host, mostly none. An error means the hook could not do its work;
// whoever calls logs it and says nothing to the host.
#pragma once

#include <string>

#include "base/seams.hpp"
#include "hook/error_log.hpp"
#include "hook/event.hpp"

namespace sb::hook {

struct Surroundings {
  const Seams& seams;
  ErrorLog& log;
};

// A call of a question tool, before the person sees it: refused when it is not what was planned, or when the person's
// preferences answer all of it; otherwise left alone.
Result<std::string> before_question(const HookEvent& event, const Surroundings& around);

// The same call afterwards: what the person did, one record a question.
Result<std::string> after_question(const HookEvent& event, const Surroundings& around);

// The agent stops: its last message is held to the contract where the user has enabled that.
Result<std::string> at_stop(const HookEvent& event, const Surroundings& around);

// The folder the event is about, absolute and without links.
Result<std::string> folder_of(const HookEvent& event, const Seams& seams);

// `{"hookSpecificOutput":{"hookEventName":NAME,"additionalContext":TEXT}}`: a word to the model that decides nothing.
std::string note_for(std::string_view event_name, std::string_view text);

}  // namespace sb::hook

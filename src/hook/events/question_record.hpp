// The question log line for one question of a call.
#pragma once

#include "base/document/value.hpp"
#include "base/seams.hpp"
#include "gstack/preference_files.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

// The fields known before an answer: skill, question_summary, options_count, session_id, tool_use_id, question_index.
// Pure.
Value question_record(const HookEvent& event, const CallQuestion& question, std::size_t index);

// The marker's id. Without a clear marker: `hook-` and 10 hex digits of the text and options; no preference is ever
// stored under such an id. Pure.
std::string record_id(const CallQuestion& question);

// Validates and appends; a record that already exists is not written again.
Status append_record(const Seams& seams, const gstack::PreferencePaths& place, Value record);

}  // namespace sb::hook

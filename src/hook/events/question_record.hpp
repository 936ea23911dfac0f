// One line of the question log about one question of a call.
#pragma once

#include "base/document/value.hpp"
#include "base/seams.hpp"
#include "gstack/preference_files.hpp"
#include "hook/events/event.hpp"

namespace sb::hook {

// What is known before anyone answered: skill, question_summary, options_count, session_id, tool_use_id,
// question_index. Pure.
Value question_record(const HookEvent& event, const CallQuestion& question, std::size_t index);

// The marker's id; for a question without a clear one `hook-` and 10 hex digits of its text and options, which no
// preference is ever stored under. Pure.
std::string record_id(const CallQuestion& question);

// Checked and appended; a record that is there already is left alone.
Status append_record(const Seams& seams, const gstack::PreferencePaths& place, Value record);

}  // namespace sb::hook

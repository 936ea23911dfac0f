// The log of asked questions, one JSON object per line in `question-log.jsonl` of the project.
//
// Members: skill, question_id, question_summary, user_choice, source, ts; where known category, door_type,
// options_count, recommended, followed_recommendation, free_text, session_id, tool_use_id, question_index. Others pass
// through. Lengths are counted as gstack counts them, in UTF-16 code units.
//
// Text that reads like an instruction to a model is rejected under gstack's name, as gstack does. Our own paths lose no
// event: they store it with `"screened":"instruction-like"`, and the blanks and colons of the phrase as \uXXXX, so that
// a parser gets the exact text but a model that sees the raw line does not get the phrase.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "gstack/preference_files.hpp"

namespace sb::gstack {

enum class LogRules {
  kGstack,  // what gstack's program accepts
  kOwn,     // also no options, more than 26, upper-case ids (lowered), instruction-like text (marked and escaped)
};

// The event as it will be stored: validated in gstack's order, texts truncated, defaults filled in. Pure. kInvalid
// names the problem in one sentence.
Result<Value> checked_question_event(Value event, LogRules rules, TimestampMs now);

// One line without its line feed.
std::string question_log_line(const Value& event);

enum class LogResult { kAppended, kDuplicate };

// Appends a validated event. A duplicate has the source, tool_use_id, question_id and question_index of one of the last
// 100 lines; an event without tool_use_id is never a duplicate.
Result<LogResult> append_question_event(Files& files, const PreferencePaths& place, const Value& checked);

}  // namespace sb::gstack

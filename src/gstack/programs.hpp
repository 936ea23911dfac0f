// Complete replacements for two programs of gstack: arguments in, exit code out. `signalbox-hook` and `signalbox` run
// them when called by these names, and `signalbox pref` is the first under our name.
//
// Same flags, output and exit codes as gstack's: 0 done, 1 rejected or failed, 2 a preference that did not come from
// the user. No profile is derived from the log.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/seams.hpp"

namespace sb::gstack {

inline constexpr std::string_view kQuestionPreferenceProgram = "gstack-question-preference";
inline constexpr std::string_view kQuestionLogProgram = "gstack-question-log";
// gstack's two hooks.
inline constexpr std::string_view kQuestionPreferenceHook = "question-preference-hook";
inline constexpr std::string_view kQuestionLogHook = "question-log-hook";

// The output of `--help`.
std::string question_preference_help(std::string_view called_as);

// `arguments` are those after the program's name; `called_as` is the prefix of messages.
int run_question_preference(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams);
int run_question_log(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams);

}  // namespace sb::gstack

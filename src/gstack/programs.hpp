// The two programs of gstack that we stand in for, whole: arguments in, exit code out. `signalbox-hook` and `signalbox`
// run them when called by these names, and `signalbox pref` is the first under ours.
//
// Same flags, output and exit codes as there: 0 done, 1 refused or broken, 2 a preference that did not come from the
// user. No profile is derived from the log.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/seams.hpp"

namespace sb::gstack {

inline constexpr std::string_view kQuestionPreferenceProgram = "gstack-question-preference";
inline constexpr std::string_view kQuestionLogProgram = "gstack-question-log";

// What `--help` prints.
std::string question_preference_help(std::string_view called_as);

// `arguments` are those behind the program's name; `called_as` stands before messages.
int run_question_preference(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams);
int run_question_log(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams);

}  // namespace sb::gstack

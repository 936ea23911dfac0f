#include "hook/program.hpp"

#include "base/limits.hpp"
#include "inbox/gstack_programs.hpp"

namespace sb::hook {

bool is_compatible_name(std::string_view program) {
  return program == inbox::kQuestionPreferenceProgram || program == inbox::kQuestionLogProgram;
}

int run_program(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams) {
  if (program == inbox::kQuestionPreferenceProgram) return inbox::run_question_preference(program, arguments, seams);
  if (program == inbox::kQuestionLogProgram) return inbox::run_question_log(program, arguments, seams);
  if (program == "signalbox-hook" && arguments.size() == 1 && arguments.front() == "--version") {
    seams.streams.out("signalbox-hook " SIGNALBOX_VERSION "\n");
    return seams.streams.flush() ? 0 : 3;
  }
  // The host may still be writing the event; leaving before it is read would break its pipe.
  (void)seams.streams.read_input(limits::kHookEventBytes);
  return 0;
}

}  // namespace sb::hook

#include "hook/program.hpp"

#include "base/limits.hpp"

namespace sb::hook {

bool is_compatible_name(std::string_view program) {
  return program == "gstack-question-preference" || program == "gstack-question-log";
}

int run_program(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams) {
  if (program == "signalbox-hook" && arguments.size() == 1 && arguments.front() == "--version") {
    seams.streams.out("signalbox-hook " SIGNALBOX_VERSION "\n");
    return seams.streams.flush() ? 0 : 3;
  }
  // The host may still be writing the event; leaving before it is read would break its pipe.
  (void)seams.streams.read_input(limits::kHookEventBytes);
  return 0;
}

}  // namespace sb::hook

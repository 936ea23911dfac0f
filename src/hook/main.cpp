#include <csignal>
#include <string>
#include <vector>

#include "hook/hook_program.hpp"

int main(int argc, char** argv) {
  // The host must not notice any failure: no output, exit 0. Only the compatible names have their own exit codes.
  bool is_compatible = false;
  try {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPIPE, &action, nullptr);
    sb::SystemStreams streams;
    sb::SystemFiles files;
    sb::SystemClock clock;
    sb::SystemRandom random;
    sb::SystemProcess process;
    const sb::Environment environment = sb::Environment::of_process();
    const std::string called_as = sb::base_name(argc > 0 ? argv[0] : "");
    is_compatible = sb::hook::is_compatible_name(called_as);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return sb::hook::run_process(called_as, arguments, {files, clock, random, process, environment, streams});
  } catch (...) {
    return is_compatible ? 1 : 0;
  }
}

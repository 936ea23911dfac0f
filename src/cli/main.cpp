#include <execinfo.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "hook/hook_program.hpp"
#include "host/hook_forward.hpp"
#include "sandbox/inside.hpp"

namespace {

// An empty handler instead of SIG_IGN: programs we start must not inherit SIG_IGN for SIGPIPE.
void ignore_sigpipe() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
}

// With little memory, an allocation that fails is reported; but the stack cannot grow any more, and the C library loads
// what it needs to pass an exception on only when it first does so. Both would end the program. So it has them from the
// start.
[[gnu::noinline]] void reserve_for_low_memory() {
  constexpr std::size_t kStackBytes = 256 << 10;
  [[maybe_unused]] volatile char stack[kStackBytes];
  for (std::size_t at = 0; at < kStackBytes; at += 4096) stack[at] = 0;
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = sb::sandbox::run_if_inside(argc, argv)) return *code;
  sb::SystemStreams streams;
  try {
    reserve_for_low_memory();
    ignore_sigpipe();
    sb::SystemFiles files;
    sb::SystemClock clock;
    sb::SystemRandom random;
    sb::SystemProcess process;
    const sb::Environment environment = sb::Environment::take_from_process();
    const sb::Seams seams{files, clock, random, process, environment, streams};
    const std::string program = sb::base_name(argc > 0 ? argv[0] : "signalbox");
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (sb::hook::is_compatible_name(program)) return sb::hook::run_program(program, arguments, seams);
    // As silent as signalbox-hook itself, even when the output cannot be written: the host must not notice.
    const bool is_hook = arguments == std::vector<std::string>{"hook"} || sb::hook::is_hook_name(program);
    if (is_hook) return sb::hook::run_process(program, {}, seams);
    if (arguments == std::vector<std::string>{"forward-hook"}) return sb::host::forward_hook(seams);
    return sb::cli::run(sb::cli::commands(), arguments, seams);
  } catch (const std::bad_alloc&) {
    streams.err("signalbox: out of memory\n");
  } catch (const std::exception& error) {
    streams.err(std::string("signalbox: internal error: ") + error.what() + "\n");
  }
  return sb::cli::kExitInternal;
}

// `signalbox hook`: what signalbox-hook does, for hosts that are told to call the one program.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "hook/program.hpp"

namespace sb::cli {

Action declare_hook(CLI::App&) {
  return [](Context& context) { return hook::run_program("signalbox-hook", context.arguments, context.seams); };
}

}  // namespace sb::cli

#include "cli/command.hpp"
#include "hook/hook_program.hpp"

namespace sb::cli {

Action declare_statusline(App&) {
  return [](Context& context) { return hook::run_process("signalbox-hook", {"statusline"}, context.seams); };
}

}  // namespace sb::cli

// `signalbox store`: checks and repairs the file that holds everything.
#include "cli/store/store_commands.hpp"

namespace sb::cli {

Action declare_store(App& app) {
  app.require_subcommand(1);
  const std::vector<Subcommand> all{declare_store_repair(app), declare_store_verify(app)};
  return [&app, all](Context& context) {
    for (const Subcommand& each : all) {
      if (app.got_subcommand(each.app)) return each.action(context);
    }
    return kExitUsage;
  };
}

}  // namespace sb::cli

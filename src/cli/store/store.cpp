// `signalbox store`: checks and repairs the store.
#include <fmt/format.h>

#include "cli/store/store_commands.hpp"

namespace sb::cli {

// What the session started with: every step needs it.
bool is_of_start(const engine::Damage& damage) {
  return damage.message.ends_with("named by event 1");
}

std::string way_out_of(const std::string& session, const engine::Damage& damage) {
  if (is_of_start(damage)) {
    return fmt::format(
        "If its workflow is installed as it was, signalbox store repair stores it again. If not, the session cannot "
        "continue; end it: signalbox session stop {}",
        session);
  }
  return fmt::format("Go back to a step before it: signalbox session fork {} --node N", session);
}

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

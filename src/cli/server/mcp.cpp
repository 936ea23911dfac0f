// `signalbox mcp`: the MCP server for coding agents, on stdin and stdout.
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "cli/server/mcp_commands.hpp"
#include "mcp/limits.hpp"
#include "mcp/tools/signalbox_server.hpp"

namespace sb::cli {

Action declare_mcp(App& app) {
  app.require_subcommand(0, 1);
  auto hold = std::make_shared<std::string>();
  app.add_option("--hold", *hold,
                 "How long a call waits for a person, where the client waits that long, such as 24h (default: 45s)");
  const std::vector<Subcommand> all{declare_mcp_install(app), declare_mcp_uninstall(app)};
  return [&app, all, hold](Context& context) {
    for (const Subcommand& each : all) {
      if (app.got_subcommand(each.app)) return each.action(context);
    }
    mcp::ServerParts parts = mcp::make_server_parts(context.seams);
    if (!hold->empty()) {
      const auto wanted = parse_duration_ms(*hold);
      if (!wanted) return report(context, wanted.error());
      parts.hold_ms = std::min(*wanted, mcp::limits::kLongestHoldMs);
    }
    return mcp::serve_stdio(std::move(parts), STDIN_FILENO, STDOUT_FILENO);
  };
}

}  // namespace sb::cli

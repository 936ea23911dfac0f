// `signalbox mcp`: the MCP server for coding agents, on stdin and stdout.
#include <unistd.h>

#include "cli/server/mcp_commands.hpp"
#include "mcp/tools/signalbox_server.hpp"

namespace sb::cli {

Action declare_mcp(App& app) {
  app.require_subcommand(0, 1);
  const std::vector<Subcommand> all{declare_mcp_install(app), declare_mcp_uninstall(app)};
  return [&app, all](Context& context) {
    for (const Subcommand& each : all) {
      if (app.got_subcommand(each.app)) return each.action(context);
    }
    return mcp::serve_stdio(mcp::make_server_parts(context.seams), STDIN_FILENO, STDOUT_FILENO);
  };
}

}  // namespace sb::cli

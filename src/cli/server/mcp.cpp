// `signalbox mcp`: the MCP server for coding agents, on stdin and stdout.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "cli/server/mcp_commands.hpp"
#include "inbox/client_tokens.hpp"
#include "mcp/limits.hpp"
#include "mcp/tools/signalbox_server.hpp"

namespace sb::cli {
namespace {

// Removes it from the environment of this process: what it starts, or what can list processes, has no use for it.
std::string take_secret(const Environment& environment) {
  const std::string secret = environment.get(inbox::kClientSecretVariable).value_or("");
  if (char* text = std::getenv(inbox::kClientSecretVariable)) std::memset(text, '-', std::strlen(text));
  ::unsetenv(inbox::kClientSecretVariable);
  return secret;
}

int serve_client(const Context& context, mcp::ServerParts parts) {
  const std::string secret = take_secret(context.seams.environment);
  const auto homes = sb::homes(context.seams.environment);
  if (secret.empty() || !homes) {
    return mcp::serve_stdio(std::move(parts), STDIN_FILENO, STDOUT_FILENO);
  }
  inbox::ClientTokens tokens(context.seams.files, *homes);
  tokens.note_uses(context.seams.clock);
  const auto caller = [&]() -> mcp::Caller {
    const auto holder = tokens.holder_of(secret);
    if (!holder || !holder->is_installed_client) return {};
    return {.principal = holder->name, .is_installed_client = true};
  };
  if (!caller().is_installed_client) {
    context.err(
        fmt::format("{} is not valid in this home, so no questions are asked in this client; run signalbox mcp "
                    "install again\n",
                    inbox::kClientSecretVariable));
  }
  return mcp::serve_stdio(std::move(parts), STDIN_FILENO, STDOUT_FILENO, caller);
}

}  // namespace

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
    return serve_client(context, std::move(parts));
  };
}

}  // namespace sb::cli

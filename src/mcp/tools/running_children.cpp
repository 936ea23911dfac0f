#include "mcp/tools/running_children.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace sb::mcp {
namespace {

struct ClientRow {
  std::string_view name;  // how the client's name begins
  std::string_view tool;  // that starts an agent
};

// What each calls itself over MCP, and its tool: seen with Claude Code 2.1.325, Codex 0.166 and OpenCode 1.18. A client
// that is not here may have one or not.
constexpr std::array<ClientRow, 3> kClients{{{"claude-code", "Agent (Task in older versions)"},
                                             {"codex", "spawn_agent, then wait_agent"},
                                             {"opencode", "task (subagent_type general)"}}};

bool is_runnable(const Value& child) {
  return child.find("continueToken") != nullptr && child.find("outcome") == nullptr;
}

}  // namespace

std::string how_to_run_children(const Value& line, std::string_view client) {
  const Value& children = line["children"];
  if (!children.is_array() || std::ranges::none_of(children.items(), is_runnable)) return {};
  const std::string name = to_lower(client);
  const auto row = std::ranges::find_if(kClients, [&](const ClientRow& each) { return name.starts_with(each.name); });
  if (row == kClients.end()) {
    return "\nIf you can start agents of your own, give each one of these tokens. If not, do the sessions yourself, "
           "one "
           "after the other, each to its end.\n";
  }
  return fmt::format(
      "\nStart an agent for each with your tool {}, and give it only this: call continue_workflow with its "
      "continueToken, and continue until that session is complete. If you may not, do them yourself, one after the "
      "other.\n",
      row->tool);
}

}  // namespace sb::mcp

// The events of clients other than Claude Code, in its form, and our answers in theirs. Codex needs no row: its events
// have that form. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::hook {

struct Renaming {
  std::string_view theirs, ours;
};

struct ClientEvents {
  std::string_view client;            // as in `signalbox-hook --client`
  std::span<const Renaming> events;   // the value of hook_event_name
  std::span<const Renaming> members;  // of the event
  std::span<const Renaming> tools;    // the value of tool_name
  std::span<const Renaming> inputs;   // members of tool_input
  std::string_view command_folder;    // the member of tool_input that says where a command runs; empty: none
  std::string_view mcp_begin;         // how names of MCP tools begin; empty: no such mark
  std::string_view mcp_separator;     // between server and tool
  bool has_short_answers = false;     // {"decision": "deny", "reason": …}
};

const ClientEvents* find_client_events(std::string_view client);

Value event_from(const ClientEvents& client, Value event);

// `answer` is JSON, or empty.
std::string answer_for(const ClientEvents& client, std::string_view answer);

}  // namespace sb::hook

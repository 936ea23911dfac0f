// Signalbox as an MCP server in the text of a client's configuration: found, put in, taken out; all else left as it is.
//
//   Claude Code  {"mcpServers": {"signalbox": {"command": "/usr/bin/signalbox", "args": ["mcp"]}}}
//   Codex        [mcp_servers.signalbox]
//                command = "/usr/bin/signalbox"
//                args = ["mcp"]
//
// Pure. An empty text stands for a configuration that is not there. `path` is only for errors, which are kInvalid with
// the place: for what cannot be read, and for what cannot be edited without touching more than the entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb::hook {

enum class Client { kClaudeCode, kCodex };
std::string_view display_name(Client client);  // Claude Code

// How the client reaches the server: it starts a program, or it connects.
struct ServerEntry {
  std::string command;  // empty when it connects
  std::vector<std::string> args;
  std::string url;
  std::string token_env = {};  // when it connects: the variable with the bearer token it sends; empty for none

  bool operator==(const ServerEntry&) const = default;
};

struct NamedEntry {
  std::string name;
  ServerEntry entry;
};

// It starts a program called signalbox with `mcp`, or connects to /mcp of this machine.
bool is_signalbox_entry(const ServerEntry& entry);

// Letters, digits, - and _, at most 64: both clients make names of tools of it.
bool is_server_name(std::string_view name);

// Every server that is configured, in the order of the file.
Result<std::vector<NamedEntry>> read_entries(Client client, const std::string& path, std::string_view text);

// What else stands in an entry of that name stays in it. The same text when nothing is to be changed.
Result<std::string> with_entry(Client client, const std::string& path, std::string_view text, const std::string& name,
                               const ServerEntry& entry);

// `remove_empty_container`: what held the entries goes too when it is empty then.
Result<std::string> without_entry(Client client, const std::string& path, std::string_view text,
                                  const std::string& name, bool remove_empty_container);

// Whether there is something that entries of this kind stand in.
Result<bool> has_container(Client client, const std::string& path, std::string_view text);

// The entry alone, as the client's configuration would have it.
std::string format_entry(Client client, const std::string& name, const ServerEntry& entry);

}  // namespace sb::hook

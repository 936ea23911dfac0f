// Finds, adds and removes Signalbox as an MCP server in the text of a client's configuration; everything else stays.
//
//   Claude Code  {"mcpServers": {"signalbox": {"command": "/usr/bin/signalbox", "args": ["mcp"]}}}
//   Codex        [mcp_servers.signalbox]
//                command = "/usr/bin/signalbox"
//                args = ["mcp", "--hold", "24h"]
//                tool_timeout_sec = 86400
//
// clients.hpp describes the form for each client.
//
// Pure. An empty text means that there is no configuration. `path` is only for errors, which are kInvalid with the
// location: for text that cannot be parsed, and for text that cannot be edited without touching more than the entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hook/install/clients.hpp"

namespace sb::hook {

// How the client reaches the server: by starting a program or by connecting.
struct ServerEntry {
  std::string command;  // empty when it connects
  std::vector<std::string> args;
  std::string url;
  std::string token_env = {};  // for a connection: the variable with the bearer token; empty for none
  // The client's secret (inbox/client_tokens.hpp), written out: an environment variable of the program, or the bearer
  // token of a connection. Empty: none of ours; what the user wrote stays.
  std::string secret = {};
  int tool_timeout_s = 0;  // Codex: how long it waits for a call; 0: its default

  bool operator==(const ServerEntry&) const = default;
};

struct NamedEntry {
  std::string name;
  ServerEntry entry;
};

// Whether it starts a program named signalbox with `mcp`, or connects to /mcp on this machine.
bool is_signalbox_entry(const ServerEntry& entry);

// Letters, digits, - and _, at most 64: both clients build tool names from it.
bool is_server_name(std::string_view name);

// Starts the program. Codex gives up on a call after a minute, and takes the dialog away that a person is reading; so
// it gets a long timeout, and the server a hold to match.
ServerEntry program_entry(Client client, const std::string& program);

// kInvalid for a token in a variable where we do not know how the client writes one.
Status check_entry(Client client, const ServerEntry& entry);

// Every configured server, in file order.
Result<std::vector<NamedEntry>> read_entries(Client client, const std::string& path, std::string_view text);

// Other members of the entry stay, and so does a timeout of the user's own: the hold is then shorter than that. Returns
// the same text when nothing changes.
Result<std::string> with_entry(Client client, const std::string& path, std::string_view text, const std::string& name,
                               const ServerEntry& entry);

// `remove_empty_container`: also removes the container of the entries when it becomes empty.
Result<std::string> without_entry(Client client, const std::string& path, std::string_view text,
                                  const std::string& name, bool remove_empty_container);

// Whether the container of the entries exists.
Result<bool> has_container(Client client, const std::string& path, std::string_view text);

// Only the entry, as it would appear in the client's configuration.
std::string format_entry(Client client, const std::string& name, const ServerEntry& entry);
// In the form that most clients read.
std::string format_common_entry(const std::string& name, const ServerEntry& entry);

}  // namespace sb::hook

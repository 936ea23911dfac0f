// The clients that we configure, one row each: where they keep their MCP servers, their hooks and their rules for
// agents, and in which form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "hook/install/stop_projects.hpp"

namespace sb::hook {

// The entry of a server. Its members that a shape does not name are the user's, and stay.
struct EntryShape {
  enum class File { kJson, kToml, kYamlList };
  File file = File::kJson;
  bool has_comments = false;                  // the client reads JSON with comments and trailing commas
  std::string_view container = "mcpServers";  // the member of the file that holds the entries
  std::string_view connection = {};    // the object in an entry that holds how to connect; empty: the entry itself
  std::string_view program_type = {};  // `type` of an entry that starts a program; empty: none
  std::string_view url_type = {};      // `type` of an entry that connects; empty: none
  std::string_view url = "url";
  bool is_one_command = false;  // program and arguments in one list
  std::string_view environment = "env";
  std::string_view headers_in = {};        // the object that holds the headers; empty: where the address is
  std::string_view variable_begin = "${";  // around a variable's name in a header, before }; empty: not known
  std::string_view defaults = "{}";        // further members, as JSON; they are added where they are absent
  std::string_view new_file = "{}\n";      // a file without entries
};

// How it calls the hook. kGroups and kList are JSON; kPlugin is a file of our own.
enum class HookForm { kNone, kGroups, kList, kPlugin };

// The position is that of the row in clients().
enum class Client { kClaudeCode, kCodex, kOpenCode, kGeminiCli, kQwenCode, kCopilotCli, kContinue, kCline };

// Below $HOME, and below a project. Empty: the client reads none there.
struct ClientFiles {
  std::string_view user, project;
};

struct ClientRow {
  Client client;
  std::string_view word;           // claude-code, as options take it
  std::string_view name;           // Claude Code
  std::string_view program;        // as found in PATH
  std::string_view home_variable;  // names a folder that replaces the first one of the user's files; empty: none
  const EntryShape* shape;
  HookForm hook_form;
  ClientFiles servers, rules, hooks;
};

std::span<const ClientRow> clients();
const ClientRow& row_of(Client client);
const ClientRow* find_client(std::string_view word);
std::vector<std::string> client_words();

// kInvalid where the client reads no such file, or the environment names no home.
Result<std::string> client_path(const ClientRow& row, const ClientFiles& files, InstallScope scope,
                                const std::string& project, const Environment& environment);

}  // namespace sb::hook

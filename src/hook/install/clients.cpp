#include "hook/install/clients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"

namespace sb::hook {
namespace {

using File = EntryShape::File;

// Claude Code shows its model only the names of tools, unless `alwaysLoad` is set.
constexpr EntryShape kClaudeShape{.url_type = "http", .defaults = R"({"alwaysLoad": true})"};
constexpr EntryShape kCodexShape{.file = File::kToml, .container = "mcp_servers"};
constexpr EntryShape kOpenCodeShape{.has_comments = true,
                                    .container = "mcp",
                                    .program_type = "local",
                                    .url_type = "remote",
                                    .is_one_command = true,
                                    .environment = "environment",
                                    .variable_begin = "{env:",
                                    .defaults = R"({"enabled": true})"};
constexpr EntryShape kGeminiShape{.has_comments = true, .url = "httpUrl"};
constexpr EntryShape kCopilotShape{.program_type = "local", .url_type = "http", .defaults = R"({"tools": ["*"]})"};
constexpr EntryShape kContinueShape{.file = File::kYamlList,
                                    .url_type = "streamable-http",
                                    .headers_in = "requestOptions",
                                    .variable_begin = "",
                                    .new_file = "name: Local Config\nversion: 1.0.0\nschema: v1\n"};
constexpr EntryShape kClineShape{
    .connection = "transport", .program_type = "stdio", .url_type = "streamableHttp", .variable_begin = ""};

constexpr ClientRow kClientRows[] = {
    {.client = Client::kClaudeCode,
     .word = "claude-code",
     .name = "Claude Code",
     .program = "claude",
     .home_variable = "CLAUDE_CONFIG_DIR",
     .shape = &kClaudeShape,
     .hook_form = HookForm::kGroups,
     .servers = {".claude.json", ".mcp.json"},
     .rules = {".claude/CLAUDE.md", "CLAUDE.md"},
     .hooks = {".claude/settings.json", ".claude/settings.json"}},
    {.client = Client::kCodex,
     .word = "codex",
     .name = "Codex",
     .program = "codex",
     .home_variable = "CODEX_HOME",
     .shape = &kCodexShape,
     .hook_form = HookForm::kGroups,
     .servers = {".codex/config.toml", ".codex/config.toml"},
     .rules = {".codex/AGENTS.md", "AGENTS.md"},
     .hooks = {".codex/hooks.json", ""}},
    {.client = Client::kOpenCode,
     .word = "opencode",
     .name = "OpenCode",
     .program = "opencode",
     .home_variable = "XDG_CONFIG_HOME",
     .shape = &kOpenCodeShape,
     .hook_form = HookForm::kPlugin,
     .servers = {".config/opencode/opencode.json", "opencode.json"},
     .rules = {".config/opencode/AGENTS.md", "AGENTS.md"},
     .hooks = {".config/opencode/plugin/signalbox.js", ".opencode/plugin/signalbox.js"}},
    {.client = Client::kGeminiCli,
     .word = "gemini-cli",
     .name = "Gemini CLI",
     .program = "gemini",
     .home_variable = "",
     .shape = &kGeminiShape,
     .hook_form = HookForm::kGroups,
     .servers = {".gemini/settings.json", ".gemini/settings.json"},
     .rules = {".gemini/GEMINI.md", "GEMINI.md"},
     .hooks = {".gemini/settings.json", ".gemini/settings.json"}},
    {.client = Client::kQwenCode,
     .word = "qwen-code",
     .name = "Qwen Code",
     .program = "qwen",
     .home_variable = "",
     .shape = &kGeminiShape,
     .hook_form = HookForm::kGroups,
     .servers = {".qwen/settings.json", ".qwen/settings.json"},
     .rules = {".qwen/QWEN.md", "QWEN.md"},
     .hooks = {".qwen/settings.json", ".qwen/settings.json"}},
    {.client = Client::kCopilotCli,
     .word = "copilot-cli",
     .name = "Copilot CLI",
     .program = "copilot",
     .home_variable = "COPILOT_HOME",
     .shape = &kCopilotShape,
     .hook_form = HookForm::kList,
     .servers = {".copilot/mcp-config.json", ""},
     .rules = {".copilot/copilot-instructions.md", "AGENTS.md"},
     .hooks = {".copilot/hooks/signalbox.json", ""}},
    {.client = Client::kContinue,
     .word = "continue",
     .name = "Continue",
     .program = "cn",
     .home_variable = "",
     .shape = &kContinueShape,
     .hook_form = HookForm::kNone,
     .servers = {".continue/config.yaml", ""},
     .rules = {".continue/rules/signalbox.md", ".continue/rules/signalbox.md"},
     .hooks = {}},
    {.client = Client::kCline,
     .word = "cline",
     .name = "Cline",
     .program = "cline",
     .home_variable = "",
     .shape = &kClineShape,
     .hook_form = HookForm::kNone,
     .servers = {".cline/data/settings/cline_mcp_settings.json", ""},
     .rules = {"Documents/Cline/Rules/signalbox.md", ".clinerules/signalbox.md"},
     .hooks = {}},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(kClientRows); ++i) {
    if (kClientRows[i].client != static_cast<Client>(i)) return false;
  }
  return std::size(kClientRows) == static_cast<std::size_t>(Client::kCline) + 1;
}
static_assert(is_in_order());

}  // namespace

std::span<const ClientRow> clients() {
  return kClientRows;
}

const ClientRow& row_of(Client client) {
  return kClientRows[static_cast<std::size_t>(client)];
}

const ClientRow* find_client(std::string_view word) {
  const auto found = std::ranges::find(kClientRows, word, &ClientRow::word);
  return found == std::end(kClientRows) ? nullptr : found;
}

std::vector<std::string> client_words() {
  std::vector<std::string> words;
  for (const ClientRow& row : kClientRows) words.emplace_back(row.word);
  return words;
}

Result<std::string> client_path(const ClientRow& row, const ClientFiles& files, InstallScope scope,
                                const std::string& project, const Environment& environment) {
  const bool is_project = scope == InstallScope::kProject;
  if (is_project && files.project.empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is configured only for you, not for a project", row.name),
                "Omit --project; nothing was changed");
  }
  if (is_project) return join_path(project, files.project);
  const bool has_variable = !row.home_variable.empty();
  if (const auto folder = has_variable ? environment.get(row.home_variable) : std::nullopt) {
    const std::size_t first = files.user.find('/');
    return join_path(*folder, first == std::string_view::npos ? files.user : files.user.substr(first + 1));
  }
  if (const auto home = environment.get("HOME")) return join_path(*home, files.user);
  return fail(ErrorCode::kInvalid,
              has_variable ? fmt::format("neither {} nor HOME is set", row.home_variable) : "HOME is not set",
              "Set it, or use --project");
}

}  // namespace sb::hook

#include "hook/events/client_events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "hook/install/hook_command.hpp"

namespace sb::hook {
namespace {

constexpr Renaming kGeminiNames[] = {{"BeforeTool", "PreToolUse"},
                                     {"AfterTool", "PostToolUse"},
                                     {"BeforeAgent", "UserPromptSubmit"},
                                     {"AfterAgent", "Stop"}};
constexpr Renaming kGeminiMembers[] = {{"prompt_response", "last_assistant_message"}};
constexpr Renaming kGeminiTools[] = {{"run_shell_command", "Bash"}, {"write_file", "Write"}, {"replace", "Edit"}};

constexpr Renaming kCopilotMembers[] = {{"tool_result", "tool_response"}};
constexpr Renaming kCopilotTools[] = {{"bash", "Bash"}, {"create", "Write"}, {"edit", "Edit"}};
constexpr Renaming kCopilotInputs[] = {{"path", "file_path"}};

constexpr Renaming kOpenCodeNames[] = {{"tool.execute.before", "PreToolUse"}, {"tool.execute.after", "PostToolUse"}};
constexpr Renaming kOpenCodeTools[] = {
    {"bash", "Bash"}, {"write", "Write"}, {"edit", "Edit"}, {"multiedit", "MultiEdit"}, {"apply_patch", "apply_patch"}};
constexpr Renaming kOpenCodeInputs[] = {{"filePath", "file_path"}, {"patchText", "command"}};

constexpr ClientEvents kClientEvents[] = {
    {.client = "gemini-cli",
     .events = kGeminiNames,
     .members = kGeminiMembers,
     .tools = kGeminiTools,
     .inputs = {},
     .command_folder = "dir_path",
     .mcp_begin = "mcp_",
     .mcp_separator = "_",
     .has_short_answers = true},
    {.client = "copilot-cli",
     .events = {},
     .members = kCopilotMembers,
     .tools = kCopilotTools,
     .inputs = kCopilotInputs,
     .command_folder = "",
     .mcp_begin = "",
     .mcp_separator = "-"},
    {.client = "opencode",
     .events = kOpenCodeNames,
     .members = {},
     .tools = kOpenCodeTools,
     .inputs = kOpenCodeInputs,
     .command_folder = "workdir",
     .mcp_begin = "",
     .mcp_separator = "_",
     .has_short_answers = true},
};

constexpr std::string_view kWorkflowTools[] = {"start_workflow", "continue_workflow"};

std::string renamed(std::span<const Renaming> names, std::string_view theirs) {
  const auto found = std::ranges::find(names, theirs, &Renaming::theirs);
  return std::string(found == names.end() ? theirs : found->ours);
}

void rename_members(std::span<const Renaming> names, Value& object) {
  if (!object.is_object()) return;
  for (const Renaming& each : names) {
    const Value* there = object.find(each.theirs);
    if (there == nullptr || object.find(each.ours) != nullptr) continue;
    Value value = *there;
    object.erase(each.theirs);
    object.set(each.ours, std::move(value));
  }
}

// mcp__SERVER__TOOL. A server's name may contain the separator; it is split behind it where the tool is one of ours.
std::string tool_from(const ClientEvents& client, std::string_view theirs) {
  const std::string ours = renamed(client.tools, theirs);
  const bool is_known =
      ours != theirs || std::ranges::find(client.tools, theirs, &Renaming::theirs) != client.tools.end();
  if (is_known || theirs.starts_with("mcp__") || !theirs.starts_with(client.mcp_begin)) return ours;
  const std::string_view name = theirs.substr(client.mcp_begin.size());
  std::size_t at = name.find(client.mcp_separator);
  for (const std::string_view tool : kWorkflowTools) {
    if (name.ends_with(tool)) at = name.size() - tool.size() - client.mcp_separator.size();
  }
  if (at == 0 || at >= name.size() || name.substr(at, client.mcp_separator.size()) != client.mcp_separator) return ours;
  return fmt::format("mcp__{}__{}", name.substr(0, at), name.substr(at + client.mcp_separator.size()));
}

}  // namespace

const ClientEvents* find_client_events(std::string_view client) {
  const auto found = std::ranges::find(kClientEvents, client, &ClientEvents::client);
  return found == std::end(kClientEvents) ? nullptr : found;
}

Value event_from(const ClientEvents& client, Value event) {
  if (!event.is_object()) return event;
  rename_members(client.members, event);
  if (const auto name = event.string_at("hook_event_name")) event.set("hook_event_name", renamed(client.events, *name));
  if (const auto tool = event.string_at("tool_name")) event.set("tool_name", tool_from(client, *tool));
  Value* input = event.find("tool_input");
  if (input == nullptr || !input->is_object()) return event;
  rename_members(client.inputs, *input);
  const auto command = input->string_at("command");
  const auto folder = client.command_folder.empty() ? std::nullopt : input->string_at(client.command_folder);
  if (command && folder && !folder->empty()) {
    input->set("command", fmt::format("cd {} && {}", shell_quoted(*folder), *command));
  }
  return event;
}

std::string answer_for(const ClientEvents& client, std::string_view answer) {
  Value value = parse_json(answer).value_or(Value());
  Value* output = value.find("hookSpecificOutput");
  if (output == nullptr) return std::string(answer);
  if (client.has_short_answers && output->string_at("permissionDecision") == "deny") {
    return to_json(
        Value::object({{"decision", "deny"}, {"reason", output->string_at("permissionDecisionReason").value_or("")}}));
  }
  const std::string name = output->string_at("hookEventName").value_or("");
  const auto theirs = std::ranges::find(client.events, name, &Renaming::ours);
  if (theirs != client.events.end()) output->set("hookEventName", theirs->theirs);
  return to_json(value);
}

}  // namespace sb::hook

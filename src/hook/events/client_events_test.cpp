#include "hook/events/client_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "hook/install/clients.hpp"

namespace sb::hook {
namespace {

std::string translated(std::string_view client, std::string_view event) {
  return to_json(event_from(*find_client_events(client), parse_json(event).value()));
}

TEST(ClientEvents, AreThoseOfTheClientsThatCallTheHookWithTheirName) {
  for (const ClientRow& row : clients()) {
    const bool is_like_claude = row.word == "claude-code" || row.word == "codex" || row.word == "qwen-code";
    const bool has_own_form = row.hook_form != HookForm::kNone && !is_like_claude;
    EXPECT_EQ(find_client_events(row.word) != nullptr, has_own_form) << row.word;
  }
}

TEST(ClientEvents, ToolsAndTheirArgumentsAreRenamed) {
  EXPECT_EQ(translated("gemini-cli",
                       R"({"hook_event_name":"BeforeTool","tool_name":"replace","tool_input":{"file_path":"a"}})"),
            R"({"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a"}})");
  EXPECT_EQ(translated("copilot-cli", R"({"tool_name":"Write","tool_input":{"path":"a"},"tool_result":{"b":1}})"),
            R"({"tool_name":"Write","tool_input":{"file_path":"a"},"tool_response":{"b":1}})");
  EXPECT_EQ(
      translated("opencode",
                 R"({"hook_event_name":"tool.execute.before","tool_name":"write","tool_input":{"filePath":"a"}})"),
      R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"}})");
}

TEST(ClientEvents, ACommandRunsInItsFolder) {
  EXPECT_EQ(
      translated("gemini-cli", R"({"tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"a b"}})"),
      R"({"tool_name":"Bash","tool_input":{"command":"cd 'a b' && ls","dir_path":"a b"}})");
}

TEST(ClientEvents, NamesOfMcpToolsAreSplit) {
  const auto name = [](std::string_view client, const std::string& tool) {
    return event_from(*find_client_events(client), Value::object({{"tool_name", tool}})).string_at("tool_name").value();
  };
  EXPECT_EQ(name("gemini-cli", "mcp_my_box_start_workflow"), "mcp__my_box__start_workflow");
  EXPECT_EQ(name("gemini-cli", "mcp_fs_write_file"), "mcp__fs__write_file");
  EXPECT_EQ(name("gemini-cli", "read_file"), "read_file");
  EXPECT_EQ(name("copilot-cli", "signalbox-continue_workflow"), "mcp__signalbox__continue_workflow");
  EXPECT_EQ(name("opencode", "signalbox_start_workflow"), "mcp__signalbox__start_workflow");
  EXPECT_EQ(name("opencode", "apply_patch"), "apply_patch");
  EXPECT_EQ(name("opencode", "start_workflow"), "start_workflow");
}

TEST(ClientEvents, AnAnswerHasTheFormOfTheClient) {
  const std::string deny =
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}})";
  const auto answer = [](std::string_view client, const std::string& text) {
    return answer_for(*find_client_events(client), text);
  };
  EXPECT_EQ(answer("gemini-cli", deny), R"({"decision":"deny","reason":"no"})");
  EXPECT_EQ(answer("opencode", deny), R"({"decision":"deny","reason":"no"})");
  EXPECT_EQ(answer("copilot-cli", deny), deny);
  EXPECT_EQ(answer("gemini-cli", ""), "");
  EXPECT_EQ(
      answer("gemini-cli", R"({"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}})"),
      R"({"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"x"}})");
}

}  // namespace
}  // namespace sb::hook

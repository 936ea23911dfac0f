// The tools that act on the session itself: complete_step, spawn_agent, ask, report_issue, signal.
//
// A call is prepared, its start is logged, it runs, its end is logged. After a crash in between, complete_step,
// spawn_agent and ask run again with the arguments logged at their start: each finds what it already did. Not
// thread-safe: one call at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/loop/work_context.hpp"
#include "agent/tools/tool.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::agent {

// What is logged when a call starts, in its own commit.
struct ToolStart {
  std::string token = {};                              // complete_step
  std::optional<decision::Declaration> question = {};  // ask: opened in the commit that logs the start
};

struct SessionToolResult {
  ToolResult result = {};
  std::vector<AgentLog::Entry> entries = {};  // logged with the end
  std::optional<WorkResult> left = {};        // set when there is no result yet or nothing more to do
  bool is_complete = false;                   // the workflow is complete
};

class SessionTools {
 public:
  explicit SessionTools(WorkContext& work_context);

  const std::vector<ToolDeclaration>& declarations() const { return declarations_; }
  const ToolDeclaration* find(std::string_view name) const;
  static bool handles(std::string_view name);
  // The call only writes a record: a crash cannot interrupt anything else.
  static bool only_logs(std::string_view name);
  std::string what(const ToolCall& call) const;  // one line for people

  Result<ToolStart> prepare(const ToolCall& call);
  // `token` and `decision` as logged.
  SessionToolResult run(const ToolCall& call, const std::string& token, const std::string& decision);

 private:
  SessionToolResult complete_step(const ToolCall& call, const std::string& token);
  SessionToolResult spawn_agent(const ToolCall& call);
  SessionToolResult ask(const std::string& decision);
  SessionToolResult report_issue(const ToolCall& call);
  SessionToolResult signal(const ToolCall& call);

  WorkContext& work_context_;
  std::vector<ToolDeclaration> declarations_;
};

// Builds the question of an `ask` call. kInvalid says what is wrong with it.
Result<decision::Declaration> question_from(const WorkContext& work_context, const ToolCall& call);

// The hint after a rejected step: first what is missing, then a complete example. Empty: none.
std::string hint_for_refusal(int refusals, const Value& blockers);

}  // namespace sb::agent

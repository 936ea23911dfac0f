// A session as an external agent program works on it: what the program sees and may submit, what it may spend, and what
// is logged (agent/loop/agent_log.hpp). One `turn` is one exchange with its model, as seen by the proxy: `bytes` has
// both sides as sent over the wire. Tool events are its calls over MCP, marked `led`; `program_tool` are its own.
//
// Threads: the ProgramDriver part on any thread, the rest on the thread that started the program.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/step_driver.hpp"
#include "agent/programs/agent_host.hpp"
#include "agent/programs/command_agent.hpp"
#include "agent/programs/program_log.hpp"
#include "agent/tools/session_tools.hpp"

namespace sb::agent {

class ProgramSession final : public ProgramDriver {
 public:
  // `upstream` null: the program has its own login.
  ProgramSession(const CommandParts& parts, const ModelSettings* upstream, std::string sandbox);
  // Must be called first. kInvalid: a scripted upstream that cannot be read.
  Status prepare();

  // The state of the session: the end of the work, or nothing when the program has something to do.
  std::optional<WorkResult> enter();
  // Logs `began`, or that the work continues after a crash; returns the program's prompt. `again`: after it stopped
  // early.
  Result<std::string> prompt(bool again);
  // The same with the last event of this piece of work.
  WorkResult finish(WorkResult ended);

  // Called about once a second while the program runs; passes progress on. False: the program must be stopped.
  bool should_continue();
  // Why it was stopped.
  std::optional<WorkResult> end_result();
  // What the program waited for; it may be started again then.
  std::optional<WorkResult> waiting_result();
  // The meaning of its model's last failure once the program has ended by itself.
  std::optional<WorkResult> outage();

  void note_activity() override;
  std::int64_t idle_timeout_ms() override { return agent::idle_timeout_ms(parts_.work_context.limits); }
  std::vector<ToolDeclaration> tools() override { return tools_.declarations(); }
  ToolResult call(const ToolCall& call, const ToolRun& run) override;
  std::string tool_denial(const ToolCall& call) override;
  std::optional<ModelError> refusal(const std::function<bool()>& should_continue) override;
  std::optional<ModelReply> final_reply() override;
  ModelResult reply(ModelRequest request) override;
  Result<bool> record_exchange(const ProxiedExchange& exchange) override;

 private:
  struct OpenAsk {
    std::string call, decision;
  };
  WorkContext tool_work_context();
  Status follow();
  Status commit(std::vector<AgentLog::Entry> entries, std::vector<AgentLog::Row> rows = {});
  void set_end(WorkResult ended);
  std::optional<WorkResult> over_limits();
  Status failed(const ModelError& failure, const Usage& usage);
  WorkResult ended_by(const ModelError& failure) const;
  std::string steering();
  std::vector<OpenAsk> open_asks();
  Status start_call(const ToolCall& call, std::string& token, std::string& decision);
  ToolResult end_call(const ToolCall& call, SessionToolResult done, std::int64_t ms);
  std::string note_repeats(const ToolCall& call, const std::string& result);
  TimestampMs now() const;

  const CommandParts& parts_;
  const ModelSettings* upstream_;
  const std::string sandbox_;
  std::unique_ptr<Model> scripted_;

  std::mutex call_mutex_;     // one tool at a time; a step's command or a child may take long
  WorkContext work_context_;  // for the tools
  SessionTools tools_;

  std::mutex mutex_;                             // guards everything below and the transcript
  std::vector<Progress> pending_progress_;       // reported by the working thread
  std::optional<WorkResult> end_result_, left_;  // left_: set by a tool that waits for someone
  std::optional<ModelError> last_failure_;
  std::int64_t retry_at_ms_ = 0;
  OwnCalls own_calls_;
  int calls_ = 0;
  int turns_after_end_ = 0;
  std::string step_, repeated_, answers_;  // answers_: of people, for the next prompt
  int repeats_ = 0;

  std::atomic<TimestampMs> last_activity_ms_ = 0,
                           finished_at_ms_ = 0;  // when nothing was left for the program; 0: not yet
  std::atomic<int> calls_running_ = 0, paused_requests_ = 0;
  std::atomic<bool> is_at_tools_ = false;  // the model's last reply called tools, which the program is running
};

}  // namespace sb::agent

// The loop in which a model works on a session: sends requests, runs the tools it calls, logs every turn, until the
// workflow is complete or one of the end states is reached.
//
// A turn is one commit if nothing in it has an effect outside; otherwise each effect is logged in a commit before it
// starts and in one after it ends. A crash therefore leaves at most one effect in doubt, and the agent is informed of
// it.
#pragma once

#include <memory>

#include "agent/loop/step_driver.hpp"
#include "agent/loop/transcript.hpp"
#include "agent/loop/work_context.hpp"
#include "agent/tools/session_tools.hpp"
#include "agent/tools/work_tools.hpp"

namespace sb::agent {

struct ChosenModel {
  Model* model = nullptr;
  const ModelSettings* settings = nullptr;
};

struct AgentLoopParts {
  WorkContext& work_context;
  Transcript& transcript;
  std::function<Result<ChosenModel>(const std::string& step)> choose;  // the model for this step
  Tools& tools;                                                        // that act on the work tree
  std::string sandbox;
};

class AgentLoop {
 public:
  explicit AgentLoop(AgentLoopParts parts);
  WorkResult work();

 private:
  struct Batch {
    std::vector<AgentLog::Entry> entries;
    std::vector<AgentLog::Row> rows;
  };

  // agent_loop.cpp
  std::optional<WorkResult> enter();
  std::optional<WorkResult> begin();
  std::optional<WorkResult> recover();
  std::optional<WorkResult> resume();
  std::optional<WorkResult> one_turn();
  std::optional<WorkResult> choose_model();
  std::optional<WorkResult> ask_model();
  std::optional<WorkResult> obey_control_requests();
  std::optional<WorkResult> read_control_requests();
  std::optional<WorkResult> stopped_by_others();
  ModelRequest next_request();
  bool note_reply(const ModelRequest& request, const ModelReply& reply, TimestampMs from, Batch& batch);
  std::optional<WorkResult> compact(std::string_view why);

  // calls.cpp: the model's tool calls
  std::optional<WorkResult> run_calls(std::vector<TurnCall> calls, Batch batch);
  std::optional<WorkResult> run_session_tool(const TurnCall& call, Batch& batch);
  std::optional<WorkResult> run_change(Tool& tool, const TurnCall& call, Batch& batch);
  void run_reads(const std::vector<std::pair<Tool*, const TurnCall*>>& reads, Batch& batch);
  Tool* find_tool(std::string_view name);
  std::string call_error(const ToolCall& call);  // unknown tool or invalid arguments
  void add_end(Batch& batch, const ToolCall& call, ToolResult result, std::int64_t ms);
  ToolRun tool_run();

  // ends.cpp: when the loop ends, and the hints before it does
  std::optional<WorkResult> model_failed(const ModelError& error);
  // A failed request; `at_ms` 0: no automatic retry.
  std::optional<WorkResult> log_retry(const ModelError& error, std::int64_t at_ms);
  std::optional<WorkResult> limit_reached();
  void add_nudges(Batch& batch);
  WorkResult finish(WorkResult ended, Batch batch = {});
  WorkResult suspend(WorkResult ended);  // to be continued later
  WorkResult with_totals(WorkResult ended);

  std::optional<WorkResult> commit(Batch& batch);  // appends and follows; kInternalError when the write failed
  Status follow();

  WorkContext& work_context_;
  Transcript& transcript_;
  std::function<Result<ChosenModel>(const std::string& step)> choose_;
  ChosenModel chosen_;
  Tools& tools_;
  std::string sandbox_;
  SessionTools session_tools_;
  std::vector<std::string> system_;
  std::string step_;
  bool was_compacted_ = false;  // compacted because the conversation was too long, and retried since
};

}  // namespace sb::agent

// The loop in which a model works a session: asks it, runs the tools it calls, keeps every turn, until the workflow is
// complete or one of the named ends is reached.
//
// A turn is one commit where nothing in it changes anything outside; else each change has its start in a commit before
// it and its end in one behind it. So a crash leaves at most one change in doubt, and that is told to the agent.
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
  std::function<Result<ChosenModel>(const std::string& step)> choose;  // who does this step
  Tools& tools;                                                        // that touch the work tree
  std::string sandbox;
};

class AgentLoop {
 public:
  explicit AgentLoop(AgentLoopParts parts);
  WorkResult work();

 private:
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
  std::optional<WorkResult> compact(std::string_view why);

  // calls.cpp: what the model called for
  struct Batch {
    std::vector<AgentLog::Entry> entries;
    std::vector<AgentLog::Row> rows;
  };
  std::optional<WorkResult> run_calls(std::vector<TurnCall> calls, Batch batch);
  std::optional<WorkResult> run_session_tool(const TurnCall& call, Batch& batch);
  std::optional<WorkResult> run_change(Tool& tool, const TurnCall& call, Batch& batch);
  void run_reads(const std::vector<std::pair<Tool*, const TurnCall*>>& reads, Batch& batch);
  Tool* find_tool(std::string_view name);
  std::string call_error(const ToolCall& call);  // unknown, or of the wrong shape
  void add_end(Batch& batch, const ToolCall& call, ToolResult result, std::int64_t ms);
  ToolRun tool_run();

  // ends.cpp: when it is over, and what is said before
  std::optional<WorkResult> model_failed(const ModelError& error);
  // A try that failed; `at_ms` 0: nobody tries again by himself.
  std::optional<WorkResult> log_retry(const ModelError& error, std::int64_t at_ms);
  std::optional<WorkResult> limit_reached();
  void add_nudges(Batch& batch);
  WorkResult finish(WorkResult ended, Batch batch = {});
  WorkResult suspend(WorkResult ended);  // to be gone on with
  WorkResult with_totals(WorkResult ended);

  std::optional<WorkResult> commit(Batch& batch);  // appends and follows; kInternalError when it could not be written
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
  bool was_compacted_ = false;  // because the conversation was too long, and it was asked again since
};

}  // namespace sb::agent

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

struct LoopParts {
  Duty& duty;
  Course& course;
  std::function<Result<ChosenModel>(const std::string& step)> choose;  // who does this step
  Tools& tools;                                                        // that touch the work tree
  std::string sandbox;
};

class Loop {
 public:
  explicit Loop(LoopParts parts);
  Ended work();

 private:
  // agent_loop.cpp
  std::optional<Ended> enter();
  std::optional<Ended> begin();
  std::optional<Ended> recover();
  std::optional<Ended> take_up();
  std::optional<Ended> one_turn();
  std::optional<Ended> choose_model();
  std::optional<Ended> ask_model();
  std::optional<Ended> heed_people();
  std::optional<Ended> hear_people();
  std::optional<Ended> stopped_by_others();
  ModelRequest next_request();
  std::optional<Ended> compact(std::string_view why);

  // calls.cpp: what the model called for
  struct Batch {
    std::vector<AgentLog::Entry> entries;
    std::vector<AgentLog::Row> rows;
  };
  std::optional<Ended> run_calls(std::vector<CourseCall> calls, Batch batch);
  std::optional<Ended> run_session_tool(const CourseCall& call, Batch& batch);
  std::optional<Ended> run_change(Tool& tool, const CourseCall& call, Batch& batch);
  void run_reads(const std::vector<std::pair<Tool*, const CourseCall*>>& reads, Batch& batch);
  Tool* find_tool(std::string_view name);
  std::string objection_to(const ToolCall& call);  // unknown, or of the wrong shape
  void add_end(Batch& batch, const ToolCall& call, ToolResult result, std::int64_t ms);
  ToolRun run_terms();

  // ends.cpp: when it is over, and what is said before
  std::optional<Ended> model_failed(const ModelError& error);
  // A try that failed; `at_ms` 0: nobody tries again by himself.
  std::optional<Ended> keep_setback(const ModelError& error, std::int64_t at_ms);
  std::optional<Ended> limit_reached();
  void add_nudges(Batch& batch);
  Ended finish(Ended ended, Batch batch = {});
  Ended leave(Ended ended);  // to be gone on with
  Ended with_totals(Ended ended);

  std::optional<Ended> keep(Batch& batch);  // appends and follows; kBroke when it could not be written
  Status follow();

  Duty& duty_;
  Course& course_;
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

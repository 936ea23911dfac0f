// What one piece of work on a session is done with: shared by the loop, the tools that move the session, and whoever
// leads an agent program. Holds references; lives as long as the work does.
#pragma once

#include <functional>
#include <mutex>

#include "agent/loop/agent_log.hpp"
#include "agent/loop/agent_runner.hpp"
#include "agent/loop/watchdog.hpp"
#include "agent/loop/worker.hpp"
#include "agent/secrets/redact.hpp"

namespace sb::agent {

struct WorkContext {
  const AgentRunnerParts& parts;
  const Assignment& assignment;
  WorkLimits limits;  // none of them 0 but tokens and money
  AgentLog& log;
  Watchdog& watchdog;
  const Redactor& redactor;
  const std::vector<std::string>& secrets;  // known values
  Worker& children;                         // who works the sessions below this one
  OnProgress on_progress;
  std::function<WorkLimits()> left;         // what of the limits is not used yet
  std::function<WorkResult()> totals = {};  // used so far
  // Whether the log has it that this child was begun; from several threads at once.
  std::function<bool(const std::string& session)> has_child = {};
  int turn = 0;

  void report(Progress::Kind kind, std::string text, std::string step = {}, std::int64_t until_ms = 0) const;
};

// Every 0 that means the default is the default.
WorkLimits with_defaults(WorkLimits limits);

}  // namespace sb::agent

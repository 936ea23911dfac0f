// Everything that one piece of work on a session needs: shared by the loop, the session tools, and the driver of an
// agent program. Holds references; lives as long as the work does.
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
  WorkLimits limits;  // only tokens and money may be 0
  AgentLog& log;
  Watchdog& watchdog;
  const Redactor& redactor;
  Worker& children;  // works on the child sessions
  OnProgress on_progress;
  std::function<WorkLimits()> left;         // the unused part of the limits
  std::function<WorkResult()> totals = {};  // used so far
  // Whether the log says that this child has begun; thread-safe.
  std::function<bool(const std::string& session)> has_child = {};
  int turn = 0;

  void report(Progress::Kind kind, std::string text, std::string step = {}, std::int64_t until_ms = 0) const;
};

// Replaces every 0 that means "default" by the default.
WorkLimits with_defaults(WorkLimits limits);

}  // namespace sb::agent

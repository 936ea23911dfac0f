// Looks after a session while somebody works it: what people ask of it, how long it has worked, whether there are signs
// of life. Asked again and again by whatever takes long; thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "agent/loop/agent_log.hpp"
#include "agent/loop/worker.hpp"

namespace sb::agent {

class Watchdog {
 public:
  // `above`: of whoever handed the session out; may be empty. `worked_ms`: before now.
  Watchdog(AgentLog& log, Clock& clock, const WorkLimits& limits, std::int64_t worked_ms, std::function<bool()> above);

  void note_activity();
  // While a model is waited for, silence is a stall; a tool has a time limit of its own.
  void expect_activity(bool expects);
  // Whether to go on; looks into the log a few times a second. After the first false always false.
  bool should_continue();
  // Why not. kKilled with an empty reason: left off, to be gone on with.
  std::optional<WorkResult> end();
  // Where people's events begin that were not looked at yet.
  void mark_seen(std::int64_t seq, const ControlRequests& requests);
  bool is_paused();
  // Returns when nobody wants it paused any more, or it is to end.
  void wait_while_paused();
  std::int64_t worked_ms();
  std::int64_t left_ms();

 private:
  void poll(bool now);
  void apply_requests(const ControlRequests& requests);

  AgentLog& log_;
  Clock& clock_;
  WorkLimits limits_;
  std::function<bool()> parent_continues_;
  std::mutex mutex_;
  std::int64_t worked_before_ms_, started_ms_, paused_ms_ = 0, active_ms_, polled_ms_ = 0;
  bool expects_activity_ = false, is_paused_ = false;
  std::int64_t seq_ = 0;
  std::optional<WorkResult> end_;
};

// The end of a session whose model gave no sign of life for as long as it may.
WorkResult stalled(const WorkLimits& limits);

}  // namespace sb::agent

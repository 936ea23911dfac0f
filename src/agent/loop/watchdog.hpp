// Watches over a session while it is worked on: people's requests, the time used, signs of life. Called repeatedly by
// everything that takes long; thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "agent/loop/agent_log.hpp"
#include "agent/loop/worker.hpp"

namespace sb::agent {

class Watchdog {
 public:
  // `above`: the watchdog check of the parent; may be empty. `worked_ms`: time used before now.
  Watchdog(AgentLog& log, Clock& clock, const WorkLimits& limits, std::int64_t worked_ms, std::function<bool()> above);

  void note_activity();
  // While waiting for a model, silence is a stall; a tool has its own time limit.
  void expect_activity(bool expects);
  // Whether to continue; reads the log a few times per second. Once false, always false.
  bool should_continue();
  // Why not. kKilled with an empty reason: interrupted, to be continued later.
  std::optional<WorkResult> end();
  // The position of the first event of people that was not looked at yet.
  void mark_seen(std::int64_t seq, const ControlRequests& requests);
  bool is_paused();
  // Returns when the pause has ended or the work is to end.
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

// The end of a session whose model was silent for longer than the limit.
WorkResult stalled(const WorkLimits& limits);

}  // namespace sb::agent

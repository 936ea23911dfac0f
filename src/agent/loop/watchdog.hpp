// Looks after a session while somebody works it: what people ask of it, how long it has worked, whether there are signs
// of life. Asked again and again by whatever takes long; thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "agent/loop/agent_log.hpp"
#include "agent/loop/worker.hpp"

namespace sb::agent {

class Watch {
 public:
  // `above`: of whoever handed the session out; may be empty. `worked_ms`: before now.
  Watch(AgentLog& log, Clock& clock, const WorkLimits& limits, std::int64_t worked_ms, std::function<bool()> above);

  void alive();
  // While a model is waited for, silence is a stall; a tool has a time limit of its own.
  void expects_life(bool expects);
  // Whether to go on; looks into the log a few times a second. After the first false always false.
  bool keeps_going();
  // Why not. kKilled with an empty reason: left off, to be gone on with.
  std::optional<Ended> end();
  // Where people's events begin that were not looked at yet.
  void has_followed(std::int64_t seq, const Wishes& wishes);
  bool is_paused();
  // Returns when nobody wants it paused any more, or it is to end.
  void wait_while_paused();
  std::int64_t worked_ms();
  std::int64_t left_ms();

 private:
  void look(bool now);
  void judge(const Wishes& wishes);

  AgentLog& log_;
  Clock& clock_;
  WorkLimits limits_;
  std::function<bool()> above_;
  std::mutex mutex_;
  std::int64_t worked_before_ms_, started_ms_, paused_ms_ = 0, alive_ms_, looked_ms_ = 0;
  bool expects_life_ = false, is_paused_ = false;
  std::int64_t seq_ = 0;
  std::optional<Ended> end_;
};

// The end of a session whose model gave no sign of life for as long as it may.
Ended stalled(const WorkLimits& limits);

}  // namespace sb::agent

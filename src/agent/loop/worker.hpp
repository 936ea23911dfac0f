// Works on an engine session from its current state to its end: a model in the built-in loop, or an agent program
// driven over MCP.
//
// work() may be called again for the same session: after a restart of the process it continues from the log; after
// kAwaiting it continues once the decision is answered. It returns when the session is complete or one of the other
// states is reached; only kComplete is success.
//
// Thread-safe: work() may be called from several threads, for different sessions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/context/isolation.hpp"
#include "agent/model/model.hpp"

namespace sb::agent {

enum class EndState {
  kComplete,      // the workflow is complete
  kAwaiting,      // a person must answer WorkResult::decision first
  kStoppedEarly,  // the agent stopped before the workflow was complete
  kStalled,       // no response
  kRepeating,     // the same call again and again
  kNoProgress,    // most turns used, no step completed
  kStepRejected,  // a step was rejected too often
  kTurnLimit,
  kTimeLimit,
  kTokenLimit,
  kMoneyLimit,
  kKilled,
  kTakenOver,
  kSessionStopped,
  kOutage,         // the provider is unreachable or overloaded: temporary
  kModelFailed,    // wrong key, invalid request, invalid reply, a script that does not match
  kAgentDied,      // the agent's program ended or could not be started
  kForbidden,      // a restricted role where isolation cannot be enforced; nested too deep
  kInternalError,  // the log could not be written
};
std::string_view to_string(EndState state);  // complete, awaiting, stopped_early, …
std::optional<EndState> end_state_named(std::string_view name);

// 0 means the default, except for `depth`. A child's limits never exceed what its parent has left.
struct WorkLimits {
  int turns = 200;
  std::int64_t time_ms = 3'600'000;
  std::int64_t stall_ms = 120'000;
  int repeats = 3;
  int depth = 3;                 // sessions below the first; 0: none
  std::int64_t tokens = 0;       // 0: no limit
  std::int64_t micro_cents = 0;  // cost, in millionths of a cent; 0: no limit
};

// How long a provider's connection may be silent. Shorter than the stall limit: a hanging connection is retried, and a
// stall is a model that neither responds nor fails.
std::int64_t idle_timeout_ms(const WorkLimits& limits);

struct Assignment {
  std::string run = {};      // empty: not part of a run
  std::string session = {};  // started already
  std::string workflow = {}, role = {};
  std::string tier = {};       // lightweight, mid, heavy, or empty
  std::string work_tree = {};  // absolute
  bool is_writable = true;
  Bundle bundle = {};
  WorkLimits limits = {};
  std::vector<std::string> tools = {};  // allowed ones; empty: all
  int depth = 0;
  std::string model = {};  // name in the settings; empty: chosen by role and tier
  // Called about once a second, on any thread: false interrupts the work as the end of the process would. work() then
  // returns kKilled, logs nothing, and continues when it is called again.
  std::function<bool()> should_continue = {};
};

Value to_value(const WorkLimits& limits);  // as logged

struct WorkResult {
  EndState state = EndState::kInternalError;
  std::string reason = {};
  std::string decision = {};  // kAwaiting
  Usage usage = {};
  std::int64_t micro_cents = 0;
  int turns = 0;
  std::int64_t retry_at_ms = 0;  // kOutage
  bool is_retry_after = false;   // kOutage: the provider named that time; an earlier request is pointless
};

inline WorkResult work_result(EndState state, std::string reason) {
  return {.state = state, .reason = std::move(reason)};
}

// Progress of the work, for a display. Called from the working thread.
struct Progress {
  enum class Kind { kTurn, kDelta, kTool, kStep, kChild, kNudge, kWait, kEnded };
  Kind kind = Kind::kTurn;
  std::string session, workflow, step, text;
  int turn = 0;
  Usage usage = {};
  std::int64_t micro_cents = 0;
  std::int64_t until_ms = 0;  // kWait: for the provider; text has the reason
};
using OnProgress = std::function<void(const Progress&)>;

class Worker {
 public:
  virtual ~Worker() = default;
  virtual WorkResult work(const Assignment& assignment, const OnProgress& on_progress) = 0;
};

}  // namespace sb::agent

// Somebody who works a session of the engine from where it stands to its end: a model in our loop, or an agent program
// of its own that is led over MCP.
//
// work() may be called again for the same session: after a restart of the process it goes on from the log; after
// kAwaiting it goes on once the decision is answered. It returns when the session is complete or one of the named
// states is reached; nothing else counts as success.
//
// Threads: work() from any, several sessions at once.
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
  kStoppedEarly,  // the agent ended its work before the workflow did
  kStalled,       // no sign of life
  kRepeating,     // the same call again and again
  kNoProgress,    // most turns used, no step delivered
  kStepRejected,  // a step was refused too often
  kTurnLimit,
  kTimeLimit,
  kTokenLimit,
  kMoneyLimit,
  kKilled,
  kTakenOver,
  kSessionStopped,
  kOutage,         // the provider cannot be reached or is overloaded: comes back by itself
  kModelFailed,    // wrong key, wrong request, a reply that is none, a script that does not fit
  kAgentDied,      // the agent's program ended or could not be started
  kForbidden,      // a restricted role where isolation cannot be enforced; a depth that is not allowed
  kInternalError,  // ours: the record could not be written
};
std::string_view to_string(EndState state);  // complete, awaiting, stopped_early, …
std::optional<EndState> end_state_named(std::string_view name);

// 0: the default, but for `depth`. A child's are never more than its parent has left.
struct WorkLimits {
  int turns = 200;
  std::int64_t time_ms = 3'600'000;
  std::int64_t stall_ms = 120'000;
  int repeats = 3;
  int depth = 3;                 // sessions below the first; 0: none
  std::int64_t tokens = 0;       // 0: no limit
  std::int64_t micro_cents = 0;  // cost, in millionths of a cent; 0: no limit
};

// How long a provider's connection may be silent. Shorter than what is a stall: a connection that hangs is tried again,
// and what stalls is a model that neither says anything nor fails.
std::int64_t idle_timeout_ms(const WorkLimits& limits);

struct Assignment {
  std::string run = {};      // empty: of no run
  std::string session = {};  // started already
  std::string workflow = {}, role = {};
  std::string tier = {};       // lightweight, mid, heavy, or empty
  std::string work_tree = {};  // absolute
  bool is_writable = true;
  Bundle bundle = {};
  WorkLimits limits = {};
  std::vector<std::string> tools = {};  // allowed ones; empty: all
  int depth = 0;
  std::string model = {};  // the name in the settings, where not by role and tier
  // Asked about once a second, on any thread: false leaves off, as the end of the process would. work() then returns
  // kKilled, nothing is recorded, and it goes on when it is called again.
  std::function<bool()> should_continue = {};
};

Value to_value(const WorkLimits& limits);  // as the log keeps them

struct WorkResult {
  EndState state = EndState::kInternalError;
  std::string reason = {};
  std::string decision = {};  // kAwaiting
  Usage usage = {};
  std::int64_t micro_cents = 0;
  int turns = 0;
  std::int64_t retry_at_ms = 0;  // kOutage
  bool is_retry_after = false;   // kOutage: the provider named that time; asking sooner is no use
};

inline WorkResult work_result(EndState state, std::string reason) {
  return {.state = state, .reason = std::move(reason)};
}

// What happens while somebody works, for a display. Called from the working thread.
struct Progress {
  enum class Kind { kTurn, kDelta, kTool, kStep, kChild, kNudge, kWait, kEnded };
  Kind kind = Kind::kTurn;
  std::string session, workflow, step, text;
  int turn = 0;
  Usage usage = {};
  std::int64_t micro_cents = 0;
  std::int64_t until_ms = 0;  // kWait: for the provider; text says why
};
using OnProgress = std::function<void(const Progress&)>;

class Worker {
 public:
  virtual ~Worker() = default;
  virtual WorkResult work(const Assignment& assignment, const OnProgress& on_progress) = 0;
};

}  // namespace sb::agent

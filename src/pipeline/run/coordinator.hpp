// Drives a run: asks the plan for the next action, performs it, and appends the result. One process at a time drives a
// run (a lock that ends with the process); killed at any point and resumed, it ends the same.
//
// Not thread-safe: drive() on one thread; several runs in several coordinators.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/loop/agent_runner.hpp"
#include "pipeline/plan/next_action.hpp"

namespace sb::pipeline {

struct RunRequest {
  std::string goal, workspace;  // workspace: absolute, links resolved
  std::optional<Ticket> ticket = {};
  std::string ticket_source = {};  // for reading it again: an absolute path or an address
  std::optional<RunMode> mode = {};
  std::string trigger = {};
  std::string restart_of = {};  // the run that this one replaces
};

// Asks the person at the terminal; nothing: there is none, the question stays in the inbox. `is_wanted` is called
// repeatedly and returns false when the answer is no longer needed.
using AskInteractively = std::function<Status(const std::string& decision, const std::function<bool()>& is_wanted)>;

struct CoordinatorParts {
  Seams seams;
  engine::SessionHome& home;
  const RunSettings& settings;
  Forge& forge;
  agent::Worker& runner;
  std::vector<std::string> secrets = {};  // values that must not be delivered
  AskInteractively ask_interactively = {};
  std::function<void(const RunState&, const RunEvent&)> on_event = {};
  agent::OnProgress on_progress = {};
  std::function<bool()> should_continue = {};  // false: stop driving; the run continues when it is resumed
};

struct WaitLimits {
  std::int64_t people_ms = 0;
  // In total, for providers and forges that are unavailable. Nothing: until they are back.
  std::optional<std::int64_t> parked_ms = {};
};

class Coordinator {
 public:
  explicit Coordinator(CoordinatorParts parts);
  ~Coordinator();
  // Returns the run's id; it is in the log when this returns. Opening the restart of a run again finds the first one.
  Result<std::string> open(const RunRequest& request);
  // Until the run is over, waits for a person who is not here, or is parked longer than `patience`. kConflict when
  // another process drives it.
  Result<RunState> drive(std::string_view run, WaitLimits wait_limits);
  // Before resuming: asks a question if the ticket has changed.
  Status compare_ticket(std::string_view run, const Ticket& now);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::pipeline

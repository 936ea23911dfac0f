// Drives a run: asks the plan what comes next, does it, and appends what happened. One process at a time drives a run
// (a lock that dies with the process); killed anywhere and driven again, it ends the same.
//
// Threads: drive() on one; several runs in several coordinators.
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
  std::string ticket_source = {};  // where it can be read again: an absolute path or an address
  std::optional<RunMode> mode = {};
  std::string trigger = {};
  std::string restart_of = {};  // the run that this one takes the place of
};

// Puts a question to whoever is there; nothing: nobody is, it stays in the inbox. `is_wanted`, asked now and then, says
// when nobody waits for its answer any more.
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
  std::function<bool()> should_continue = {};  // false: leave off; the run goes on when it is driven again
};

struct WaitLimits {
  std::int64_t people_ms = 0;
  // Altogether, for providers and forges that are out. Nothing: until they are back.
  std::optional<std::int64_t> parked_ms = {};
};

class Coordinator {
 public:
  explicit Coordinator(CoordinatorParts parts);
  ~Coordinator();
  // The run's id; it is in the log when this returns. Opening the restart of a run again finds the first.
  Result<std::string> open(const RunRequest& request);
  // Until it is over, waits longer for somebody who is not here, or has been parked longer, than there is patience.
  // kConflict when another process drives it.
  Result<RunState> drive(std::string_view run, WaitLimits wait_limits);
  // Before driving it on: a ticket that says something else now is asked about.
  Status compare_ticket(std::string_view run, const Ticket& now);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::pipeline

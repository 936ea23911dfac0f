#include "pipeline/run/run_status.hpp"

#include <fmt/format.h>

#include "agent/loop/agent_log.hpp"
#include "engine/state/rows.hpp"

namespace sb::pipeline {
namespace {

// A person's request to the running session; empty: none that keeps it from continuing.
Result<std::string> paused_by_person(inbox::Home& home, const std::string& session,
                                     const std::vector<agent::LoggedEvent>& events) {
  const agent::ControlRequests requests = agent::control_requests_in(events);
  if (!requests.is_taken_over) return std::string(requests.is_paused && !requests.is_killed ? "paused" : "");
  const auto summary =
      SB_TRY(home.store().read([&](store::Snapshot& snapshot) { return engine::read_summary(snapshot, session); }));
  // A session that a person completed waits only for the run.
  const bool is_done = summary && summary->status == engine::SessionStatus::kComplete;
  return std::string(is_done ? "" : "taken over");
}

}  // namespace

std::string run_lock_path(const HomeDirectories& homes, std::string_view run) {
  return join_path(join_path(homes.data, "runs"), fmt::format("{}.lock", run));
}

bool is_driven(Files& files, const HomeDirectories& homes, std::string_view run) {
  const std::string path = run_lock_path(homes, run);
  if (files.kind(path) == FileKind::kMissing) return false;
  const auto lock = files.try_lock(path);
  return !lock || *lock == nullptr;
}

Result<RunStatus> read_run_status(const Seams& seams, inbox::Home& home, const RunState& state) {
  RunStatus run_status;
  if (!state.outcome.empty()) {
    run_status.word = state.outcome;
    return run_status;
  }
  run_status.is_driven = is_driven(seams.files, home.homes(), state.id);
  run_status.word = run_status.is_driven ? "running" : state.halted.empty() ? "interrupted" : "halted";
  if (!state.phases.empty() && !state.phases.back().is_over) run_status.session = state.phases.back().session;
  if (state.stop_requested) {
    if (run_status.is_driven) run_status.word = "stopping";
    return run_status;
  }
  if (state.parked_until != 0) {
    run_status.word = "parked";
    return run_status;
  }
  if (const RunQuestion* asked = state.open_question()) {
    // An answered question waits for the driving process.
    const auto decision = home.inbox().load(asked->decision);
    if (!decision || decision->is_open()) {
      run_status.word = "waiting for you";
      run_status.decision = asked->decision;
    }
    return run_status;
  }
  if (run_status.session.empty()) return run_status;
  const auto events = SB_TRY(agent::AgentLog(home.store(), seams.clock, run_status.session).read());
  if (std::string held = SB_TRY(paused_by_person(home, run_status.session, events)); !held.empty()) {
    run_status.word = std::move(held);
    return run_status;
  }
  agent::ProviderWait wait;
  for (const agent::LoggedEvent& event : events) wait.follow(event);
  if (run_status.is_driven && wait.until > seams.clock.now_ms()) {
    run_status.waits_until = wait.until;
    run_status.wait_reason = wait.reason;
  }
  return run_status;
}

}  // namespace sb::pipeline

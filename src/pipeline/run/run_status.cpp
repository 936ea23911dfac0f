#include "pipeline/run/run_status.hpp"

#include <fmt/format.h>

#include "agent/loop/agent_log.hpp"
#include "engine/state/rows.hpp"

namespace sb::pipeline {
namespace {

// What a person wants of the session that is under way; empty: nothing that keeps it from going on.
Result<std::string> held_by_person(inbox::Desk& desk, const std::string& session,
                                   const std::vector<agent::LoggedEvent>& events) {
  const agent::Wishes wishes = agent::wishes_in(events);
  if (!wishes.is_taken_over) return std::string(wishes.is_paused && !wishes.is_killed ? "paused" : "");
  const auto summary =
      SB_TRY(desk.store().read([&](store::Snapshot& snapshot) { return engine::read_summary(snapshot, session); }));
  // What they brought to its end waits for nobody but the run.
  const bool is_done = summary && summary->status == engine::SessionStatus::kComplete;
  return std::string(is_done ? "" : "taken over");
}

}  // namespace

std::string run_lock_path(const Homes& homes, std::string_view run) {
  return join_path(join_path(homes.data, "runs"), fmt::format("{}.lock", run));
}

bool is_driven(Files& files, const Homes& homes, std::string_view run) {
  const std::string path = run_lock_path(homes, run);
  if (files.kind(path) == FileKind::kMissing) return false;
  const auto lock = files.try_lock(path);
  return !lock || *lock == nullptr;
}

Result<RunStanding> look_at_run(const Seams& seams, inbox::Desk& desk, const RunState& state) {
  RunStanding standing;
  if (!state.outcome.empty()) {
    standing.word = state.outcome;
    return standing;
  }
  standing.is_driven = is_driven(seams.files, desk.homes(), state.id);
  standing.word = standing.is_driven ? "running" : state.halted.empty() ? "left off" : "halted";
  if (!state.phases.empty() && !state.phases.back().is_over) standing.session = state.phases.back().session;
  if (state.stop_asked) {
    if (standing.is_driven) standing.word = "stopping";
    return standing;
  }
  if (state.parked_until != 0) {
    standing.word = "parked";
    return standing;
  }
  if (const Asked* asked = state.open_question()) {
    // One that is answered waits for whoever drives the run.
    const auto decision = desk.inbox().load(asked->decision);
    if (!decision || decision->is_open()) {
      standing.word = "waiting for you";
      standing.decision = asked->decision;
    }
    return standing;
  }
  if (standing.session.empty()) return standing;
  const auto events = SB_TRY(agent::AgentLog(desk.store(), seams.clock, standing.session).read());
  if (std::string held = SB_TRY(held_by_person(desk, standing.session, events)); !held.empty()) {
    standing.word = std::move(held);
    return standing;
  }
  agent::ProviderWait wait;
  for (const agent::LoggedEvent& event : events) wait.follow(event);
  if (standing.is_driven && wait.until > seams.clock.now_ms()) {
    standing.waits_until = wait.until;
    standing.waits_why = wait.reason;
  }
  return standing;
}

}  // namespace sb::pipeline

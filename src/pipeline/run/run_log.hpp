// A run as its events: stream `run/ID`. The state of a run is a function of them; resuming is reading them again.
// Collection `runs`: key id, sort `TIME/ID`, value the summary as runs list shows it.
//
// Every payload is canonical JSON. Members in brackets may be absent.
//   opened         {v: 1, run, goal, ticket, ticket_hash, workspace, repository, settings_hash, settings, sandbox,
//                  workflows, [mode], [trigger], [ticket_source], [restart_of]}
//                  settings: to_value(RunSettings), a blob of the store; workflows: {ID: hash}, all that it may use
//   routed         {mode, reasons: […], touches_ui}
//   tree_made      {path, branch, base, commit, git_dir}
//   tree_restored  {path, branch, base, commit, git_dir, at, lost: [{phase, round, attempt}]}
//                  the folder had been deleted; lost: phases whose work only it had, which are done again
//   phase_started  {phase, round, attempt, workflow, hash, session, bundle, blob}
//                  bundle: agent::Bundle::facts(), [notes: what was ignored, and why]
//                  blob: the bundle itself, a blob of the store
//   interpretation {artifact, session}                    committed: passed to every later phase
//   phase_ended    {phase, round, attempt, state, reason, result, usage, cost, turns, [policy]}
//                  result: PhaseResult; state: agent::EndState
//   phase_reopened {phase, round, attempt, session, by, retried}
//                  a person retried its session after it had ended; retried: the event of the agent's log that says so
//   delivered      {step, round, passed, findings, facts, was_there, [policy]}
//                  policy: {on_partial, fix_rounds}, the policy it was judged by; later settings do not change that
//   asked          {question, decision, packet}           question: ui, merge, escalation, ticket_changed, session
//   decided        {question, decision, choice, by, [remark]}    choice in brackets: how it ended unanswered
//   escalated      {phase, round, reason}
//   parked         {until, reason, [told]};   woken {}     told: the server named that time
//   stop_asked     {by, reason};      resumed {by, pid}
//   settings_changed {hash, was};     workflow_changed {workflow, hash, was}
//   pitch_archived {path, to}
//   halted         {reason}                               the driving process could not continue; ended by `resumed`
//   ended          {outcome, reason, [commit], [request], [url]}
//                  outcome: merged|requested|escalated|stopped|abandoned|failed
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/worker.hpp"
#include "base/clock.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/plan/hand_off.hpp"
#include "pipeline/plan/route.hpp"
#include "pipeline/plan/ticket.hpp"
#include "store/paging.hpp"
#include "store/store.hpp"

namespace sb::pipeline {

struct RunEvent {
  std::int64_t seq = 0;
  TimestampMs time_ms = 0;
  std::string type;
  Value payload;
};

// The settings at the time of a judgement. Where the log has none, the current settings apply.
struct Policy {
  OnPartial on_partial = OnPartial::kProceed;
  int fix_rounds = 0;
};
Value to_value(const Policy& policy);

// The `seq` members are event numbers, for ordering.
struct PhaseRecord {
  Phase phase = Phase::kDiscovery;
  int round = 0, attempt = 1;
  std::string workflow, hash, session;
  Value bundle;
  std::string blob;  // hex
  bool is_over = false;
  bool is_lost = false;  // its work was deleted: it is done again
  std::string state, reason;
  PhaseResult result;
  std::optional<Policy> policy;
  agent::Usage usage;
  std::int64_t micro_cents = 0;
  int turns = 0;
  TimestampMs started_at = 0, ended_at = 0;
  std::int64_t started_seq = 0, ended_seq = 0;
  std::int64_t retried_seq = 0;  // of the agent's log: the newest `retried` that opened it again
};

struct RunQuestion {
  std::string question, decision;
  Value packet;
  std::string choice, by, remark;  // choice empty: not answered yet
  std::int64_t seq = 0, decided_seq = 0;
};

// What has changed since the run started: `settings`, or a workflow.
struct InputChange {
  std::string what, was, hash;
  TimestampMs at = 0;
};

struct Escalation {
  std::string phase, reason;
  int round = 0;
  std::int64_t seq = 0;
};

// What is known of a run; `signalbox runs show --json` prints it.
struct RunState {
  std::string id, goal, workspace, repository, settings_hash, ticket_hash, ticket_source, trigger;
  std::string sandbox;  // engine::Sandbox::name() when it was opened; empty: unknown
  Ticket ticket;
  std::map<std::string, std::string> workflows;  // hashes, as last seen
  std::vector<InputChange> changes;
  std::optional<RunMode> wanted;
  std::optional<Route> route;
  WorkTree tree;
  std::vector<PhaseRecord> phases;  // in order of their start
  Value interpretation;
  struct DeliveryRecord {
    DeliveryStep step = DeliveryStep::kHead;
    int round = 0;
    DeliveryStepResult done;
    std::optional<Policy> policy;
    TimestampMs at = 0;
    std::int64_t seq = 0;
  };
  std::vector<DeliveryRecord> deliveries;
  std::vector<RunQuestion> asked;
  std::vector<Escalation> escalations;
  std::string halted;  // why the last driving process could not continue; empty: it could
  TimestampMs parked_until = 0;
  std::string parked_reason;
  bool is_parked_by_retry_after = false;  // the server named the time: an earlier request is pointless
  bool stop_requested = false;
  std::string stop_by, stop_reason;
  bool pitch_archived = false;
  std::string outcome, outcome_reason, request, url;  // outcome empty: not over
  std::string commit;                                 // the newest; once merged, the one on the base
  TimestampMs started_at = 0, updated_at = 0;
  std::int64_t worked_ms = 0;  // in phases, without waits for people or providers
  std::int64_t events = 0;
  std::string waits_for = {};  // set by the driving process when it stops: what must happen first

  const PhaseRecord* newest(Phase phase) const;
  const PhaseRecord* newest(Phase phase, int round) const;
  const DeliveryRecord* newest(DeliveryStep step, int round) const;
  // The newest record of `scope` up to that round, if the change touches files that judge later ones; null: it does
  // not.
  const DeliveryRecord* newest_with_judges(int round) const;
  const RunQuestion* open_question() const;  // the newest
  agent::Usage usage() const;
  std::int64_t micro_cents() const;
  std::string status() const;                    // the outcome, or: waiting, halted, parked, running
  const DeliveryRecord* failed_closing() const;  // the last failed closing of the ticket; nothing: closed, or not tried
  std::string open_ticket() const;               // why the ticket of a merged run is still open; empty: it is not

  Value to_value() const;  // PipelineRunContext
};
// kCorrupt for events that are not a valid run, kUnsupported for an event type that is not in the list above.
Result<RunState> fold_run(const std::vector<RunEvent>& events);

std::string run_stream(std::string_view run);
// The id of the run that restarts this one: always the same, so that it is started once.
std::string restart_id(std::string_view run);
std::optional<DeliveryStep> step_named(std::string_view name);

struct RunDamage {
  std::string run, message;
  bool is_fixable = false;  // by rebuild(): only its record is damaged, not its events
};

class RunLog {
 public:
  RunLog(store::Store& store, Clock& clock) : store_(store), clock_(clock) {}
  Result<std::vector<RunEvent>> read(std::string_view run) const;
  Result<RunState> state(std::string_view run) const;
  Result<bool> has(std::string_view run) const;
  // Appends at the head `after` (number of events seen): kConflict when another process appended. Updates the row of
  // `runs`. Blobs go into the same commit.
  Status append(std::string_view run, std::int64_t after, std::string type, Value payload,
                std::vector<std::string> blobs = {});
  Status append_in(store::Transaction& transaction, std::string_view run, std::int64_t after, std::string type,
                   Value payload);
  // At any head: for people (stop).
  Status append_at_head(std::string_view run, std::string type, Value payload);
  struct Page {
    std::vector<Value> runs;
    store::PageFacts facts;
  };
  Result<Page> list(const store::PageRequest& request) const;  // newest first
  Result<std::string> resolve(std::string_view name) const;    // id, a prefix of it, or `last`
  Result<std::string> blob(std::string_view hex) const;
  // Checks every run, its record and the blobs it names; returns how many there are.
  Result<std::int64_t> verify(const std::function<void(const RunDamage&)>& on_damaged) const;
  // Writes the records of these again from their events.
  Status rebuild(const std::vector<std::string>& runs);
  // The bundle of the newest phase of the run; empty when there is none.
  std::vector<agent::ContextSource> sources(std::string_view run) const;

 private:
  store::Store& store_;
  Clock& clock_;
};

}  // namespace sb::pipeline

// Decides what a run does next, from its events. Pure: this function defines the whole flow of a run.
#pragma once

#include <string>
#include <variant>

#include "pipeline/run/run_log.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

struct ChooseMode {};
struct CreateWorkTree {};
struct StartPhase {
  Phase phase;
  int round, attempt;
};
struct ContinuePhase {  // started, not ended
  PhaseRecord record;
};
struct DeliverStep {
  DeliveryStep step;
  int round;
};
struct AskPerson {  // opens the decision
  std::string question;
  std::string reason;
};
struct AwaitAnswer {
  RunQuestion asked;
};
struct Escalate {
  std::string phase, reason;
  int round = 0;
};
struct WaitUntil {  // parked
  TimestampMs until;
};
struct ArchivePitch {};
struct EndRun {
  std::string outcome, reason;
};
struct Finished {};
using RunAction = std::variant<ChooseMode, CreateWorkTree, StartPhase, ContinuePhase, DeliverStep, AskPerson,
                               AwaitAnswer, Escalate, WaitUntil, ArchivePitch, EndRun, Finished>;

// Past events are judged by the policy they were recorded with, so that changed settings affect only what is still to
// come.
RunAction next_action(const RunState& state, const RunSettings& settings, bool is_hosted);

// The possible answers to a question; the first is the usual one.
//   escalation: retry, fix, accept, proceed, merge, leave, full, stop    ui: approve, again, stop
//   merge: merge, fix, leave                                         ticket_changed: old, restart, stop
struct Choice {
  std::string id, label;
  bool safe = false;  // holds the run, ends it, or has the work done again: needs no signature
};
std::vector<Choice> choices_for(const RunState& state, std::string_view question, const RunSettings& settings);

// Whether an agent can fix the findings; everything else needs a person.
bool is_for_fixer(const RunState::DeliveryRecord& made);

// How often a person has granted what the run had used up (`time`, `budget`), the first time included.
int times_granted(const RunState& state, std::string_view what);

// What the next session of a phase may use: the settings' limits; if they do not limit the time, the phase's own; and
// what earlier phases left of the run's budgets.
agent::WorkLimits limits_for(Phase phase, const RunState& state, const RunSettings& settings);

MergePolicy merge_policy(const RunSettings& settings, bool is_hosted);
// Findings for the next round: of the review, of delivery, and a person's remark.
Value::Array findings_before(const RunState& state, int round);
Policy policy_of(const RunSettings& settings);
// clean, minor, blocking, unknown. A review with a critical or major finding is blocking, whatever verdict it states.
std::string verdict_of(const PhaseRecord& review);
std::string verdict_in(const Value& artifact);  // of kind wr.review_verdict
// The first of the worst; null: there is none.
const Value* worst_verdict(const std::vector<Value>& verdicts);

}  // namespace sb::pipeline

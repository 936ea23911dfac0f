// What a run does next, from what has happened. Pure: the whole course of a run is this function.
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

// What happened is judged by the policy it was recorded with, so that settings which change on the way change what is
// still to come and nothing else.
RunAction next_action(const RunState& state, const RunSettings& settings, bool is_hosted);

// Which of the answers a question may have; the first is what one would usually say.
//   escalation: retry, fix, accept, proceed, merge, leave, full, stop    ui: approve, again, stop
//   merge: merge, fix, leave                                         ticket_changed: old, restart, stop
struct Choice {
  std::string id, label;
};
std::vector<Choice> choices_for(const RunState& state, std::string_view question, const RunSettings& settings);

// Whether what was found there can be mended by an agent; everything else needs a person.
bool is_for_fixer(const RunState::DeliveryRecord& made);

// How often a person has allowed what the run had used up (`time`, `budget`), the first time included.
int times_granted(const RunState& state, std::string_view what);

// What the next session of a phase may use: the settings' limits; where they say nothing of the time, the phase's own;
// and of the run's budgets what the phases before it left.
agent::WorkLimits limits_for(Phase phase, const RunState& state, const RunSettings& settings);

MergePolicy merge_policy(const RunSettings& settings, bool is_hosted);
// Findings the next round is to deal with: of the review, of delivery, and what a person said.
Value::Array findings_before(const RunState& state, int round);
Policy policy_of(const RunSettings& settings);
// clean, minor, blocking, unknown. Whatever it calls itself, a review with a critical or major finding is blocking.
std::string verdict_of(const PhaseRecord& review);

}  // namespace sb::pipeline

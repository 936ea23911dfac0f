// What a run does next, from what has happened. Pure: the whole course of a run is this function.
#pragma once

#include <string>
#include <variant>

#include "pipeline/run/run_log.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

struct RouteIt {};
struct MakeTree {};
struct StartPhase {
  Phase phase;
  int round, attempt;
};
struct WorkPhase {  // started, not ended
  PhaseRecord record;
};
struct DeliverStep {
  DeliveryStep step;
  int round;
};
struct Ask {  // opens the decision
  std::string question;
  std::string reason;
};
struct AwaitAnswer {
  Asked asked;
};
struct Escalate {
  std::string phase, reason;
  int round = 0;
};
struct Wait {  // parked
  TimestampMs until;
};
struct ArchivePitch {};
struct EndRun {
  std::string outcome, reason;
};
struct Over {};
using Action = std::variant<RouteIt, MakeTree, StartPhase, WorkPhase, DeliverStep, Ask, AwaitAnswer, Escalate, Wait,
                            ArchivePitch, EndRun, Over>;

// What happened is judged by the policy it was recorded with, so that settings which change on the way change what is
// still to come and nothing else.
Action next_action(const RunState& state, const Settings& settings, bool is_hosted);

// Which of the answers a question may have; the first is what one would usually say.
//   escalation: retry, fix, accept, proceed, merge, leave, full, stop    ui: approve, again, stop
//   merge: merge, fix, leave                                         ticket_changed: old, restart, stop
struct Choice {
  std::string id, label;
};
std::vector<Choice> choices_for(const RunState& state, std::string_view question, const Settings& settings);

// Whether what was found there can be mended by an agent; everything else needs a person.
bool is_for_fixer(const RunState::Delivered& made);

// How often a person has allowed what the run had used up (`time`, `budget`), the first time included.
int times_granted(const RunState& state, std::string_view what);

// What the next session of a phase may use: the settings' limits; where they say nothing of the time, the phase's own;
// and of the run's budgets what the phases before it left.
agent::WorkLimits limits_for(Phase phase, const RunState& state, const Settings& settings);

MergePolicy merge_policy(const Settings& settings, bool is_hosted);
// Findings the next round is to deal with: of the review, of delivery, and what a person said.
Value::Array findings_before(const RunState& state, int round);
Policy policy_of(const Settings& settings);
// clean, minor, blocking, unknown. Whatever it calls itself, a review with a critical or major finding is blocking.
std::string verdict_of(const PhaseRecord& review);

}  // namespace sb::pipeline

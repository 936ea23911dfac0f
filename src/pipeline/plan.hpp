// What a run does next, from what has happened. Pure: the whole course of a run is this function.
#pragma once

#include <string>
#include <variant>

#include "pipeline/run_log.hpp"
#include "pipeline/settings.hpp"

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

Action next_action(const RunState& state, const Settings& settings, bool is_hosted);

}  // namespace sb::pipeline

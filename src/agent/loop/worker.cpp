#include "agent/loop/worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sb::agent {
namespace {

constexpr std::array<std::pair<EndState, std::string_view>, 19> kStates{{{EndState::kComplete, "complete"},
                                                                         {EndState::kAwaiting, "awaiting"},
                                                                         {EndState::kStoppedEarly, "stopped_early"},
                                                                         {EndState::kStalled, "stalled"},
                                                                         {EndState::kRepeating, "repeating"},
                                                                         {EndState::kNoProgress, "no_progress"},
                                                                         {EndState::kStepRejected, "step_refused"},
                                                                         {EndState::kTurnLimit, "turn_limit"},
                                                                         {EndState::kTimeLimit, "time_limit"},
                                                                         {EndState::kTokenLimit, "token_limit"},
                                                                         {EndState::kMoneyLimit, "money_limit"},
                                                                         {EndState::kKilled, "killed"},
                                                                         {EndState::kTakenOver, "taken_over"},
                                                                         {EndState::kSessionStopped, "session_stopped"},
                                                                         {EndState::kOutage, "outage"},
                                                                         {EndState::kModelFailed, "model_failed"},
                                                                         {EndState::kAgentDied, "agent_died"},
                                                                         {EndState::kForbidden, "forbidden"},
                                                                         {EndState::kInternalError, "broke"}}};

}  // namespace

std::int64_t idle_timeout_ms(const WorkLimits& limits) {
  return limits.stall_ms / 4 * 3;
}

std::string_view to_string(EndState state) {
  return std::ranges::find(kStates, state, &std::pair<EndState, std::string_view>::first)->second;
}

std::optional<EndState> end_state_named(std::string_view name) {
  const auto found = std::ranges::find(kStates, name, &std::pair<EndState, std::string_view>::second);
  return found == kStates.end() ? std::nullopt : std::optional(found->first);
}

Value to_value(const WorkLimits& limits) {
  return Value::object({{"turns", limits.turns},
                        {"time_ms", limits.time_ms},
                        {"stall_ms", limits.stall_ms},
                        {"tokens", limits.tokens},
                        {"micro_cents", limits.micro_cents},
                        {"depth", limits.depth}});
}

}  // namespace sb::agent

#include "engine/steps/attempts.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/advance/blockers.hpp"

namespace sb::engine {
namespace {

std::string message_lines(const std::vector<Blocker>& blockers) {
  std::string text;
  for (const Blocker& blocker : blockers) text += fmt::format("- {}\n", blocker.message);
  return text;
}

}  // namespace

Result<SessionResponse> Attempts::advance(const StepUpdate& step, const AdvanceResult& outcome) {
  const Node from = step.node();
  const NodeNo next = SB_TRY(opener_.open_next(step.session, step.program, from, outcome));
  const SessionNode at{step.program, step.summary(), step.session.known(next)};
  return end(step, "advanced", next,
             SB_TRY(responses_.open(step.transaction(), at,
                                    {.notices = outcome.notes_to_agent, .from = &from, .outcome = &outcome})));
}

Result<SessionResponse> Attempts::block(const StepUpdate& step, const std::vector<Blocker>& blockers,
                                        const Submission& submission, const std::vector<SubmittedArtifact>& artifacts) {
  Event event = blocked_event(step.node(), bounded(blockers), submission, artifacts);
  SB_TRY(step.emit(std::move(event.type), std::move(event.payload)));
  const int limit = step.summary().is_autonomous ? limits::kConsecutiveBlocksAutonomous : limits::kConsecutiveBlocks;
  const int in_row = step.node().consecutive_blocks + 1;
  if (in_row < limit) {
    return end(step, "blocked", 0, SB_TRY(responses_.blocked(step.transaction(), step.here(), blockers, true)));
  }
  return trip_breaker(
      step, "blocked", in_row,
      fmt::format("{} attempts in a row were refused; the last because:\n{}", in_row, message_lines(blockers)));
}

Result<SessionResponse> Attempts::reject(const StepUpdate& step, std::string_view reason) {
  const std::vector<Blocker> blockers{{BlockerCode::kRejected,
                                       step.node().position.step,
                                       fmt::format("The result was rejected: {}", reason),
                                       "Fix what the reason names and deliver the step again",
                                       {}}};
  const int rejections = step.node().rejections + 1;
  if (rejections < limits::kGateRejections) {
    return end(step, "rejected", 0, SB_TRY(responses_.blocked(step.transaction(), step.here(), blockers, true)));
  }
  return trip_breaker(step, "rejected", rejections,
                      fmt::format("The result was rejected {} times; the last reason:\n{}", rejections, reason));
}

Result<SessionResponse> Attempts::end(const StepUpdate& step, std::string_view ended, NodeNo successor,
                                      SessionResponse response) {
  Value payload =
      Value::object({{"attempt", step.node().attempt}, {"ended", ended}, {"answer", to_json(response.to_value())}});
  if (successor != 0) payload.set("successor", successor);
  SB_TRY(step.emit("attempt_ended", std::move(payload)));
  return response;
}

Result<SessionResponse> Attempts::trip_breaker(const StepUpdate& step, std::string_view ended, int count,
                                               const std::string& why) {
  const std::string id = SB_TRY(ask(inbox_, step.session, breaker_question(step.here(), why), true));
  // The response is stored with the end of this attempt, but waits on the next one.
  Node next = step.node();
  ++next.attempt;
  next.waiting = Waiting{Waiting::Kind::kBreaker, id, "", why};
  const SessionResponse response = SB_TRY(
      end(step, ended, 0, SB_TRY(responses_.awaiting(step.transaction(), {step.program, step.summary(), next}))));
  SB_TRY(step.emit("breaker_tripped", Value::object({{"attempts", count}, {"decision", id}, {"reason", why}})));
  return response;
}

}  // namespace sb::engine

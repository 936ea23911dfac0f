#include "engine/steps/deliveries.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "engine/answer/session_error.hpp"
#include "engine/transaction/session_events.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

// Shown to an agent that sends output while the session waits for someone else.
std::string ignored_input_note(const Waiting& waiting) {
  switch (waiting.what) {
    case Waiting::Kind::kGate:
    case Waiting::Kind::kEvaluator:
      return "Input ignored: the earlier delivery of this step is waiting to be accepted or rejected.";
    case Waiting::Kind::kDecision:
      return "Input ignored: the session is waiting for a decision.";
    case Waiting::Kind::kBreaker:
    case Waiting::Kind::kQuorum:
      break;
  }
  return "Input ignored: the session is waiting for a person to decide how to continue. Resubmit once they have.";
}

Result<SessionResponse> recorded_response(SessionUpdate& update, const SessionToken& token) {
  const std::string& session = update.summary().id;
  const auto attempt = SB_TRY(read_attempt(update.transaction(), session, token.node, token.attempt));
  if (!attempt) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("attempt {} on node {} of session {} is missing", token.attempt, token.node, session),
                std::string(store::kRepairRemedy));
  }
  const Value ended = SB_TRY(read_event(update.transaction(), session, attempt->ended_seq, "attempt_ended"));
  return SessionResponse::from(SB_TRY(parse_stored(ended.string_at("answer").value_or(""))));
}

Status store_artifacts(store::Transaction& transaction, const std::vector<SubmittedArtifact>& artifacts) {
  for (const SubmittedArtifact& artifact : artifacts) {
    const Digest stored = SB_TRY(transaction.put_blob(artifact.json));
    SB_ASSERT(to_hex(as_bytes(stored)) == artifact.hash);
  }
  return {};
}

}  // namespace

Result<SessionResponse> Deliveries::continue_session(SessionUpdate& update, const SessionToken& token,
                                                     const Submission& submission, bool delivers) {
  const auto found = update.node(token.node);
  if (!found) {
    return refuse("TOKEN_UNKNOWN_NODE", ErrorCode::kNotFound, found.error().message,
                  remedy_for(RemedyKind::kFindSession, surface_));
  }
  const Node& node = **found;
  if (token.attempt < node.attempt) return recorded_response(update, token);
  if (token.attempt > node.attempt) {
    return refuse(
        "TOKEN_UNKNOWN_NODE", ErrorCode::kNotFound, "this token belongs to an attempt that this store does not have",
        fmt::format("The store was restored to an earlier state. {}", remedy_for(RemedyKind::kFindSession, surface_)));
  }
  const auto program = SB_TRY(programs_.get(update.transaction(), update.summary().hash));
  const StepUpdate step{update, *program, token.node};
  const auto show = [&] {
    return responses_.open(step.transaction(), step.here(), {.reason = RenderReason::kRehydrate});
  };
  if (node.kind == NodeKind::kEnd) return show();
  SB_TRY(check_can_continue(step.here()));
  if (node.waiting) return poll_waiting(step, submission, delivers);
  if (node.kind == NodeKind::kDecision) return decisions_.poll(step, submission);
  if (node.kind == NodeKind::kChildren) return joins_.poll(step, submission, delivers);
  return delivers ? deliver(step, submission) : show();
}

Status Deliveries::check_can_continue(const SessionNode& at) const {
  if (at.summary.status == SessionStatus::kStopped) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kConflict,
                  fmt::format("this session was stopped: {}", at.summary.stopped_reason),
                  remedy_for(RemedyKind::kRewind, surface_));
  }
  if (at.node.attempt >= limits::kNodeAttempts) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kLimit, "this step has reached its limit of attempts",
                  remedy_for(RemedyKind::kRewind, surface_));
  }
  return {};
}

Result<SessionResponse> Deliveries::deliver(const StepUpdate& step, const Submission& submission) {
  const AdvanceResult outcome = SB_TRY(advance(step.program, step.node(), SB_TRY(step.context()), submission));
  SB_TRY(store_artifacts(step.transaction(), outcome.submitted));
  const auto blockers = outcome.kind == AdvanceResult::Kind::kBlocked
                            ? outcome.blockers
                            : opening_blockers(step.program, step.summary(), outcome);
  if (!blockers.empty()) return attempts_.block(step, blockers, submission, outcome.submitted);
  for (const Event& event : outcome.delivered) {
    Value payload = event.payload;
    payload.set("attempt", step.node().attempt);
    SB_TRY(step.emit(event.type, std::move(payload)));
  }
  if (outcome.kind == AdvanceResult::Kind::kGate) return gates_.open(step, outcome, submission);
  return attempts_.advance(step, outcome);
}

Result<SessionResponse> Deliveries::poll_waiting(const StepUpdate& step, const Submission& submission, bool delivers) {
  const Node before = step.node();
  const auto poll = [&]() -> Result<SessionResponse> {
    switch (before.waiting->what) {
      case Waiting::Kind::kGate:
      case Waiting::Kind::kEvaluator:
        return gates_.poll(step, submission);
      case Waiting::Kind::kBreaker:
      case Waiting::Kind::kQuorum:
        return poll_breaker(step, submission, delivers);
      case Waiting::Kind::kDecision:
        break;
    }
    return decisions_.poll(step, submission);
  };
  SessionResponse response = SB_TRY(poll());
  const Node& after = step.node();
  // Once a breaker is lifted, the submission is delivered, which may open a gate.
  const bool still_waits = after.attempt == before.attempt && after.waiting &&
                           (after.waiting->what == before.waiting->what || after.kind == NodeKind::kDecision);
  if (still_waits && submission.has_output()) {
    response.text = ignored_input_note(*after.waiting) + "\n\n" + response.text;
  }
  return response;
}

Result<SessionResponse> Deliveries::poll_breaker(const StepUpdate& step, const Submission& submission, bool delivers) {
  const Waiting waiting = *step.node().waiting;
  const auto loaded = inbox_.load_in(step.transaction(), waiting.decision);
  // An imported session comes without its questions; it may try again.
  const bool is_gone = !loaded && loaded.error().code == ErrorCode::kNotFound;
  if (!loaded && !is_gone) return std::unexpected(loaded.error());
  const inbox::DecisionState state = is_gone ? inbox::DecisionState() : *loaded;
  if (!is_gone && state.is_open()) return responses_.awaiting(step.transaction(), step.here());
  if (!is_gone) SB_TRY(inbox_.consume_in(step.transaction(), waiting.decision, step.summary().id));
  const std::vector<std::string> options = is_gone ? std::vector{std::string(kRetry)} : state.outcome->options;
  const bool may_continue = is_gone || (state.is_answered() && !options.empty() && options.front() != kStop);
  const bool is_quorum = waiting.what == Waiting::Kind::kQuorum;
  SB_TRY(step.emit(is_quorum ? "quorum_decided" : "breaker_decided",
                   Value::object({{"decision", waiting.decision},
                                  {"choice", may_continue ? options.front() : std::string(kStop)}})));
  if (!may_continue) {
    const std::string by = state.outcome->principal.empty() ? "a person" : state.outcome->principal;
    const std::string reason = "a person stopped it at " + step.node().position.step;
    SB_TRY(step.session.emit("session_stopped", Value::object({{"reason", reason}, {"by", by}})));
    return responses_.stopped(step.summary());
  }
  if (is_quorum) return joins_.join(step, submission);
  if (delivers) return deliver(step, submission);
  return responses_.open(step.transaction(), step.here(), {.reason = RenderReason::kRehydrate});
}

}  // namespace sb::engine

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/session/parts.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kEvaluator = "wr.gate-eval-generic";
constexpr std::size_t kReportedValueBytes = 120;

// The newest of each kind on a branch. An unsolicited artifact counts only if no requested one has its kind.
std::map<std::string, std::string> newest_of(const Node& node, const AdvanceResult& outcome) {
  std::map<std::string, std::string> by_kind = node.artifacts;
  for (const SubmittedArtifact& artifact : outcome.submitted) by_kind.emplace(artifact.kind, artifact.hash);
  for (const auto& [kind, hash] : outcome.artifacts) by_kind[kind] = hash;
  return by_kind;
}

Status store_artifacts(store::Transaction& transaction, const std::vector<SubmittedArtifact>& artifacts) {
  for (const SubmittedArtifact& artifact : artifacts) {
    const Digest stored = SB_TRY(transaction.put_blob(artifact.json));
    SB_ASSERT(to_hex(as_bytes(stored)) == artifact.hash);
  }
  return {};
}

// What a delivery sets in the context, including the keys that are counted here; null: removed. Same form as
// `delivered` returns.
Value context_set_by(const AdvanceResult& outcome) {
  Value set = Value::object();
  for (const Event& event : outcome.delivered) {
    if (event.type != "output_recorded") continue;
    if (const Value* own = event.payload.find("context_set")) set = *own;
    const Value* removed = event.payload.find("removed");
    if (removed == nullptr) continue;
    for (const Value& key : removed->items()) set.set(key.as_string(), Value());
  }
  return set;
}

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

// For ids sent by an agent: short and printable.
std::string printable_id(std::string_view id) {
  return printable(id.substr(0, limits::kIdBytes));
}

std::string reported_value(const Value& value) {
  const std::string json = to_json(value);
  const std::string_view start = utf8_prefix(json, kReportedValueBytes);
  return fmt::format("{}{}", start, start.size() < json.size() ? "…" : "");
}

std::string message_lines(const std::vector<Blocker>& blockers) {
  std::string text;
  for (const Blocker& blocker : blockers) text += fmt::format("- {}\n", blocker.message);
  return text;
}

}  // namespace

Result<SessionResponse> Sessions::Parts::continue_session(SessionUpdate& update, const SessionToken& token,
                                                          const Submission& submission, bool has_output) {
  const auto found = update.node(token.node);
  if (!found) {
    return refuse("TOKEN_UNKNOWN_NODE",
                  Error{ErrorCode::kNotFound, found.error().message, remedy(RemedyKind::kFindSession), {}, false});
  }
  const Node node = **found;
  const Summary& summary = update.summary();
  if (token.attempt < node.attempt) {
    const auto attempt = SB_TRY(read_attempt(update.transaction(), summary.id, token.node, token.attempt));
    if (!attempt) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("attempt {} on node {} of session {} is missing", token.attempt, token.node, summary.id),
                  "Check the session: signalbox session verify");
    }
    const Value ended = SB_TRY(read_event(update.transaction(), summary.id, attempt->ended_seq, "attempt_ended"));
    return SessionResponse::from(SB_TRY(parse_stored(ended.string_at("answer").value_or(""))));
  }
  if (token.attempt > node.attempt) {
    return refuse("TOKEN_UNKNOWN_NODE",
                  Error{ErrorCode::kNotFound,
                        "this token belongs to an attempt that this store does not have",
                        fmt::format("The store was restored to an earlier state. {}", remedy(RemedyKind::kFindSession)),
                        {},
                        false});
  }
  const auto program = SB_TRY(this->program(update.transaction(), summary.hash));
  if (node.kind == NodeKind::kEnd) {
    return answer_for(update.transaction(), *program, summary, node, RenderReason::kRehydrate, {});
  }
  if (summary.status == SessionStatus::kStopped) {
    return refuse("PRECONDITION_FAILED", Error{ErrorCode::kConflict,
                                               fmt::format("this session was stopped: {}", summary.stopped_reason),
                                               remedy(RemedyKind::kRewind),
                                               {},
                                               false});
  }
  if (node.attempt >= limits::kNodeAttempts) {
    return refuse(
        "PRECONDITION_FAILED",
        Error{
            ErrorCode::kLimit, "this step has reached its limit of attempts", remedy(RemedyKind::kRewind), {}, false});
  }
  if (node.waiting) return poll_waiting(update, *program, node, submission, has_output);
  if (node.kind == NodeKind::kDecision) return poll_decision(update, *program, node.number, submission);
  if (node.kind == NodeKind::kChildren) return poll_children(update, *program, node.number, submission, has_output);
  if (!has_output) return answer_for(update.transaction(), *program, summary, node, RenderReason::kRehydrate, {});
  return deliver(update, *program, node.number, submission);
}

Result<SessionResponse> Sessions::Parts::poll_waiting(SessionUpdate& update, const Program& program, const Node& node,
                                                      const Submission& submission, bool has_output) {
  const auto poll = [&]() -> Result<SessionResponse> {
    switch (node.waiting->what) {
      case Waiting::Kind::kGate:
      case Waiting::Kind::kEvaluator:
        return poll_gate(update, program, node.number, submission);
      case Waiting::Kind::kBreaker:
      case Waiting::Kind::kQuorum:
        return poll_breaker(update, program, node.number, submission, has_output);
      case Waiting::Kind::kDecision:
        break;
    }
    return poll_decision(update, program, node.number, submission);
  };
  SessionResponse answer = SB_TRY(poll());
  const Node& after = update.known(node.number);
  // Once a breaker is lifted, the submission is delivered, which may open a gate.
  const bool still_waits = after.attempt == node.attempt && after.waiting &&
                           (after.waiting->what == node.waiting->what || after.kind == NodeKind::kDecision);
  if (still_waits && carries_output(submission))
    answer.text = ignored_input_note(*after.waiting) + "\n\n" + answer.text;
  return answer;
}

Result<SessionResponse> Sessions::Parts::deliver(SessionUpdate& update, const Program& program, NodeNo number,
                                                 const Submission& submission) {
  const Node node = update.known(number);
  const Value context = SB_TRY(read_json_blob(update.transaction(), node.context));
  const AdvanceResult outcome = SB_TRY(advance(program, node, context, submission));
  SB_TRY(store_artifacts(update.transaction(), outcome.submitted));
  if (outcome.kind == AdvanceResult::Kind::kBlocked)
    return block(update, program, number, outcome.blockers, submission, outcome.submitted);
  const auto in_the_way = opening_blockers(program, update.summary(), outcome.move, outcome.context);
  if (!in_the_way.empty()) return block(update, program, number, in_the_way, submission, outcome.submitted);
  for (const Event& event : outcome.delivered) {
    Value payload = event.payload;
    payload.set("node", number);
    payload.set("attempt", node.attempt);
    SB_TRY(update.emit(event.type, std::move(payload)));
  }
  if (outcome.kind == AdvanceResult::Kind::kGate) return ask_gate(update, program, number, outcome, submission);
  return finish_attempt(update, program, number, outcome);
}

Result<SessionResponse> Sessions::Parts::finish_attempt(SessionUpdate& update, const Program& program, NodeNo number,
                                                        const AdvanceResult& outcome) {
  const Node node = update.known(number);
  const auto by_kind = newest_of(node, outcome);
  const NodeNo next = SB_TRY(open_next(update, program, node, outcome.move, outcome.context, by_kind));
  SessionResponse answer = SB_TRY(answer_for(update.transaction(), program, update.summary(), update.known(next),
                                             RenderReason::kAdvance, outcome.notes_to_agent));
  return end_attempt(update, number, "advanced", next, std::move(answer));
}

Result<SessionResponse> Sessions::Parts::end_attempt(SessionUpdate& update, NodeNo number, std::string_view ended,
                                                     NodeNo successor, SessionResponse answer) {
  Value payload = Value::object({{"node", number},
                                 {"attempt", update.known(number).attempt},
                                 {"ended", ended},
                                 {"answer", to_json(answer.to_value())}});
  if (successor != 0) payload.set("successor", successor);
  SB_TRY(update.emit("attempt_ended", std::move(payload)));
  return answer;
}

Result<std::string> Sessions::Parts::ask(SessionUpdate& update, const Checked<decision::Declaration>& declaration) {
  if (!declaration) return std::unexpected(declaration.error().front());
  const inbox::DecisionHandle handle = SB_TRY(inbox.open_in(
      update.transaction(), *declaration, {.workspace = update.summary().workspace, .session = update.summary().id}));
  return handle.id;
}

Result<SessionResponse> Sessions::Parts::block(SessionUpdate& update, const Program& program, NodeNo number,
                                               const std::vector<Blocker>& blockers, const Submission& submission,
                                               const std::vector<SubmittedArtifact>& artifacts) {
  const Node node = update.known(number);
  Event event = blocked_event(node, bounded(blockers), submission, artifacts);
  event.payload.set("node", number);
  SB_TRY(update.emit(std::move(event.type), std::move(event.payload)));
  const int limit = update.summary().is_autonomous ? limits::kConsecutiveBlocksAutonomous : limits::kConsecutiveBlocks;
  const int in_row = node.consecutive_blocks + 1;
  if (in_row < limit) {
    SessionResponse answer =
        SB_TRY(blocked(update.transaction(), program, update.summary(), node, blockers, node.attempt + 1, true));
    return end_attempt(update, number, "blocked", 0, std::move(answer));
  }
  return trip_breaker(
      update, program, number, "blocked", in_row,
      fmt::format("{} attempts in a row were refused; the last because:\n{}", in_row, message_lines(blockers)));
}

Result<SessionResponse> Sessions::Parts::trip_breaker(SessionUpdate& update, const Program& program, NodeNo number,
                                                      std::string_view ended, int count, const std::string& why) {
  const std::string id = SB_TRY(ask(update, breaker_question({program, update.summary(), update.known(number)}, why)));
  Node next = update.known(number);
  ++next.attempt;
  next.waiting = Waiting{Waiting::Kind::kBreaker, id, "", why};
  const SessionResponse answer = SB_TRY(
      end_attempt(update, number, ended, 0, SB_TRY(awaiting(update.transaction(), program, update.summary(), next))));
  SB_TRY(update.emit("breaker_tripped",
                     Value::object({{"node", number}, {"attempts", count}, {"decision", id}, {"reason", why}})));
  return answer;
}

Result<SessionResponse> Sessions::Parts::ask_gate(SessionUpdate& update, const Program& program, NodeNo number,
                                                  const AdvanceResult& outcome, const Submission& submission) {
  const AttemptOutput output{submission.notes, submission.artifacts, context_set_by(outcome)};
  const auto& calls = program.compiled().calls;
  const auto evaluator = calls.find(std::string(kEvaluator));
  const bool is_person = outcome.gate == workflow::Confirmation::Kind::kPerson;
  const Summary& own = update.summary();
  if (is_person || !own.is_autonomous || evaluator == calls.end() || own.depth + 1 > limits::kChildDepth) {
    return ask_person(update, program, number, output, is_person, "");
  }
  const workflow::Step& step = program.step(update.known(number).position.step);
  NewSession new_session;
  new_session.id = make_id("s-", clock.now_ms(), random);
  new_session.program = SB_TRY(this->program(update.transaction(), evaluator->second));
  new_session.goal = fmt::format("Judge the delivery of step \"{}\" for: {}", step.title, own.goal);
  new_session.context = Value::object({{"gatedStepId", step.id},
                                       {"gatedStepTitle", step.title},
                                       {"gatedStepPrompt", step.prompt},
                                       {"gatedGoal", own.goal},
                                       {"gatedNotes", submission.notes},
                                       {"gatedArtifacts", Value(Value::Array(submission.artifacts))},
                                       {"gatedContext", output.context_set}});
  new_session.workspace = own.workspace;
  new_session.is_autonomous = true;
  new_session.parent_session = own.id;
  new_session.parent_child = "gate";
  new_session.parent_node = number;
  new_session.depth = own.depth + 1;
  const auto born = create_session(update.transaction(), new_session);
  if (!born) {
    // Too large to hand over, or the evaluator cannot start: a person can still judge it.
    if (born.error().code != ErrorCode::kInvalid && born.error().code != ErrorCode::kLimit) {
      return std::unexpected(born.error());
    }
    return ask_person(update, program, number, output, false,
                      fmt::format("No evaluator could judge it: {}", born.error().message));
  }
  SB_TRY(update.emit("gate_opened", Value::object({{"node", number},
                                                   {"attempt", update.known(number).attempt},
                                                   {"gate", "evaluator"},
                                                   {"session", new_session.id}})));
  return awaiting(update.transaction(), program, update.summary(), update.known(number));
}

Result<SessionResponse> Sessions::Parts::ask_person(SessionUpdate& update, const Program& program, NodeNo number,
                                                    const AttemptOutput& output, bool needs_signature,
                                                    std::string reason) {
  const Node& node = update.known(number);
  const std::string id =
      SB_TRY(ask(update, gate_question({program, update.summary(), node}, output, needs_signature, reason)));
  Value payload = Value::object({{"node", number}, {"attempt", node.attempt}, {"gate", "person"}, {"decision", id}});
  if (!reason.empty()) payload.set("reason", reason);
  SB_TRY(update.emit("gate_opened", std::move(payload)));
  return awaiting(update.transaction(), program, update.summary(), update.known(number));
}

Status Sessions::Parts::relay(SessionUpdate& update, const SessionToken& token, const RelayedAnswer& answer) {
  const auto node = update.node(token.node);
  // continue_session reports both: an unknown token, and one whose answer is only repeated.
  if (!node || token.attempt != (*node)->attempt) return {};
  const std::string waited = (*node)->waiting ? (*node)->waiting->decision : std::string();
  if (waited.empty()) {
    return fail(ErrorCode::kConflict, "this session is not waiting for a decision", "Continue without `answer`");
  }
  if (answer.decision != waited) {
    return fail(ErrorCode::kInvalid,
                fmt::format("this session is not waiting for {}", quote_json(printable_id(answer.decision))),
                fmt::format("The open decision is {}", waited));
  }
  inbox::AnswerSubmission submission;
  submission.given = answer.given;
  submission.from = {inbox::Channel::kRelay, answer.by};
  submission.raw = answer.raw;
  SB_TRY(inbox.answer_in(update.transaction(), waited, submission, answer.remark));
  return {};
}

Result<SessionResponse> Sessions::Parts::poll_gate(SessionUpdate& update, const Program& program, NodeNo number,
                                                   const Submission& submission) {
  const Node node = update.known(number);
  const Waiting waiting = *node.waiting;
  store::Transaction& transaction = update.transaction();
  const auto ask_again = [&](std::string reason) -> Result<SessionResponse> {
    const workflow::Step& step = program.step(node.position.step);
    const bool is_person = step.confirmation.kind == workflow::Confirmation::Kind::kPerson;
    const AttemptOutput output = SB_TRY(delivered(transaction, update.summary().id, update.output_seq(number)));
    return ask_person(update, program, number, output, is_person, std::move(reason));
  };
  if (waiting.what == Waiting::Kind::kEvaluator) {
    const auto child = SB_TRY(read_summary(transaction, waiting.session));
    const bool is_over =
        !child || child->status == SessionStatus::kComplete || child->status == SessionStatus::kStopped;
    if (!is_over) return awaiting(transaction, program, update.summary(), node);
    const auto end = child ? SB_TRY(read_node(transaction, waiting.session, child->tip)) : std::nullopt;
    const auto hash = end ? end->artifacts.find("wr.gate_verdict") : std::map<std::string, std::string>::iterator{};
    if (!end || child->status == SessionStatus::kStopped || hash == end->artifacts.end()) {
      SB_TRY(update.emit("gate_decided", Value::object({{"node", number},
                                                        {"attempt", node.attempt},
                                                        {"verdict", "uncertain"},
                                                        {"reason", "the evaluator ended without a verdict"},
                                                        {"session", waiting.session},
                                                        {"by", "nobody"}})));
      return ask_again("The evaluator ended without a verdict.");
    }
    const Value verdict = SB_TRY(read_json_blob(transaction, hash->second));
    const std::string said = verdict.string_at("verdict").value_or("uncertain");
    const std::string reason = verdict.string_at("rationale").value_or("");
    if (said != "approved" && said != "rejected") {
      SB_TRY(update.emit("gate_decided", Value::object({{"node", number},
                                                        {"attempt", node.attempt},
                                                        {"verdict", "uncertain"},
                                                        {"reason", reason},
                                                        {"session", waiting.session},
                                                        {"by", "evaluator"}})));
      return ask_again(fmt::format("The evaluator was not sure: {}", reason));
    }
    return apply_verdict(update, program, number, said, reason,
                         Value::object({{"by", "evaluator"}, {"session", waiting.session}}), submission);
  }
  const auto reask = [&](std::string_view why) -> Result<SessionResponse> {
    SB_TRY(update.emit("gate_decided", Value::object({{"node", number},
                                                      {"attempt", node.attempt},
                                                      {"verdict", "uncertain"},
                                                      {"reason", why},
                                                      {"decision", waiting.decision},
                                                      {"by", "nobody"}})));
    return ask_again("");
  };
  const auto loaded = inbox.load_in(transaction, waiting.decision);
  // An imported session comes without its questions.
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) return reask("its question is not in this inbox");
  if (!loaded) return std::unexpected(loaded.error());
  const inbox::DecisionState& state = *loaded;
  if (inbox.can_be_reasked(state)) return reask("it was asked before there was an operator");
  if (state.is_open()) return awaiting(transaction, program, update.summary(), node);
  SB_TRY(inbox.consume_in(transaction, waiting.decision, update.summary().id));
  const inbox::DecisionOutcome& outcome = *state.outcome;
  const bool is_declined = outcome.kind == inbox::OutcomeKind::kDeclined;
  if (!is_declined && !state.is_answered() && outcome.kind != inbox::OutcomeKind::kDefaulted) {
    SB_TRY(update.emit("gate_decided", Value::object({{"node", number},
                                                      {"attempt", node.attempt},
                                                      {"verdict", "uncertain"},
                                                      {"reason", inbox::to_string(outcome.kind)},
                                                      {"decision", waiting.decision},
                                                      {"by", "nobody"}})));
    return ask_again(fmt::format("The previous question ended as {}.", inbox::to_string(outcome.kind)));
  }
  const bool is_approved = !is_declined && !outcome.options.empty() && outcome.options.front() == kApprove;
  std::string reason = state.free_texts.empty() ? "" : state.free_texts.back();
  if (reason.empty() && !is_approved) reason = "a person rejected it and gave no reason";
  const std::string by = outcome.principal.empty() ? "a person" : outcome.principal;
  return apply_verdict(update, program, number, is_approved ? "approved" : "rejected", reason,
                       Value::object({{"by", by}, {"decision", waiting.decision}}), submission);
}

Result<SessionResponse> Sessions::Parts::apply_verdict(SessionUpdate& update, const Program& program, NodeNo number,
                                                       std::string_view verdict, std::string reason, Value by,
                                                       const Submission& submission) {
  const Node node = update.known(number);
  const std::int64_t output_seq = update.output_seq(number);
  Value payload = std::move(by);
  payload.set("node", number);
  payload.set("attempt", node.attempt);
  payload.set("verdict", verdict);
  payload.set("reason", reason);
  SB_TRY(update.emit("gate_decided", std::move(payload)));
  if (verdict == "approved") {
    const AttemptOutput output = SB_TRY(delivered(update.transaction(), update.summary().id, output_seq));
    const Value context = SB_TRY(read_json_blob(update.transaction(), node.context));
    const Submission approved{output.notes, output.artifacts, output.context_set, std::nullopt};
    AdvanceResult outcome = SB_TRY(advance(program, update.known(number), context, approved, true));
    if (carries_output(submission)) {
      outcome.notes_to_agent.push_back("the earlier delivery of this step was approved; your new input was ignored.");
    }
    return finish_attempt(update, program, number, outcome);
  }
  const std::vector<Blocker> blockers{{BlockerCode::kRejected,
                                       node.position.step,
                                       fmt::format("The result was rejected: {}", reason),
                                       "Fix what the reason names and deliver the step again",
                                       {}}};
  const int rejections = node.rejections + 1;
  if (rejections < limits::kGateRejections) {
    SessionResponse answer =
        SB_TRY(blocked(update.transaction(), program, update.summary(), node, blockers, node.attempt + 1, true));
    return end_attempt(update, number, "rejected", 0, std::move(answer));
  }
  return trip_breaker(update, program, number, "rejected", rejections,
                      fmt::format("The result was rejected {} times; the last reason:\n{}", rejections, reason));
}

Result<SessionResponse> Sessions::Parts::poll_breaker(SessionUpdate& update, const Program& program, NodeNo number,
                                                      const Submission& submission, bool has_output) {
  const Node node = update.known(number);
  const Waiting waiting = *node.waiting;
  const auto loaded = inbox.load_in(update.transaction(), waiting.decision);
  // An imported session comes without its questions; it may try again.
  const bool is_gone = !loaded && loaded.error().code == ErrorCode::kNotFound;
  if (!loaded && !is_gone) return std::unexpected(loaded.error());
  const inbox::DecisionState state = is_gone ? inbox::DecisionState() : *loaded;
  if (!is_gone && state.is_open()) return awaiting(update.transaction(), program, update.summary(), node);
  if (!is_gone) SB_TRY(inbox.consume_in(update.transaction(), waiting.decision, update.summary().id));
  const std::vector<std::string> options = is_gone ? std::vector{std::string(kRetry)} : state.outcome->options;
  const bool is_let_on = is_gone || (state.is_answered() && !options.empty() && options.front() != kStop);
  const bool is_quorum = waiting.what == Waiting::Kind::kQuorum;
  SB_TRY(update.emit(is_quorum ? "quorum_decided" : "breaker_decided",
                     Value::object({{"node", number},
                                    {"decision", waiting.decision},
                                    {"choice", is_let_on ? options.front() : std::string(kStop)}})));
  if (!is_let_on) {
    const std::string by = state.outcome->principal.empty() ? "a person" : state.outcome->principal;
    SB_TRY(update.emit("session_stopped",
                       Value::object({{"reason", "a person stopped it at " + node.position.step}, {"by", by}})));
    SessionResponse answer;
    answer.text = "A person stopped this session. There is nothing left to do.";
    answer.line = Value::object({{"kind", "complete"},
                                 {"sessionId", update.summary().id},
                                 {"isComplete", false},
                                 {"isStopped", true},
                                 {"pending", Value()},
                                 {"nextIntent", "complete"}});
    return answer;
  }
  if (is_quorum) return join(update, program, number, submission);
  if (has_output) return deliver(update, program, number, submission);
  return answer_for(update.transaction(), program, update.summary(), update.known(number), RenderReason::kRehydrate,
                    {});
}

Result<SessionResponse> Sessions::Parts::poll_decision(SessionUpdate& update, const Program& program, NodeNo number,
                                                       const Submission& submission) {
  const Node node = update.known(number);
  const workflow::DecisionStep& step = *program.step(node.position.step).decision();
  const Value context = SB_TRY(read_json_blob(update.transaction(), node.context));
  const Value seen = context_at(program, node.position, context);
  const auto ask_again = [&]() -> Result<SessionResponse> {
    const std::string id = SB_TRY(ask(update, step_question({program, update.summary(), node}, seen)));
    SB_TRY(update.emit(
        "gate_opened",
        Value::object({{"node", number}, {"attempt", node.attempt}, {"gate", "decision"}, {"decision", id}})));
    return awaiting(update.transaction(), program, update.summary(), update.known(number));
  };
  if (!node.waiting) return ask_again();
  const std::string id = node.waiting->decision;
  const auto loaded = inbox.load_in(update.transaction(), id);
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) return ask_again();
  if (!loaded) return std::unexpected(loaded.error());
  const inbox::DecisionState& state = *loaded;
  if (inbox.can_be_reasked(state)) return ask_again();
  if (state.is_open()) return awaiting(update.transaction(), program, update.summary(), node);
  const inbox::DecisionOutcome& outcome = *state.outcome;
  if (outcome.kind != inbox::OutcomeKind::kAnswered && outcome.kind != inbox::OutcomeKind::kDefaulted) {
    // Mark it as read, or asking again would join it.
    SB_TRY(inbox.consume_in(update.transaction(), id, update.summary().id));
    return ask_again();
  }
  Value after = SB_TRY(merge_context(context, submission.context));
  const Value chosen = chosen_value(step, seen, outcome);
  after.set(step.capture_as, chosen);
  AdvanceResult moved;
  moved.context = after;
  moved.move = next_position(program, node.position, node.jumps, after, {}, false);
  moved.notes_to_agent = moved.move.warnings;
  // The agent did not answer this itself, and not every next step names the key.
  moved.notes_to_agent.push_back(fmt::format("it was decided: {} is {}.", step.capture_as, reported_value(chosen)));
  const auto in_the_way = opening_blockers(program, update.summary(), moved.move, after);
  if (!in_the_way.empty())
    return blocked(update.transaction(), program, update.summary(), node, in_the_way, node.attempt, false);
  SB_TRY(inbox.consume_in(update.transaction(), id, update.summary().id));
  SB_TRY(update.emit("decision_taken", Value::object({{"node", number},
                                                      {"decision", id},
                                                      {"options", Value::array(outcome.options)},
                                                      {"values", outcome.values}})));
  return finish_attempt(update, program, number, moved);
}

}  // namespace sb::engine

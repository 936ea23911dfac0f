#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/session/parts.hpp"
#include "engine/state/stored_object.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kEvaluator = "wr.gate-eval-generic";
constexpr std::size_t kToldValueBytes = 120;

// The newest of each kind on a branch. What nobody asked for is kept where nothing that was asked for has its kind.
std::map<std::string, std::string> newest_of(const Node& node, const Outcome& outcome,
                                             const std::vector<Value>& artifacts,
                                             const std::vector<std::string>& hashes) {
  std::map<std::string, std::string> by_kind = node.artifacts;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    if (const auto kind = artifacts[i].string_at("kind")) by_kind.emplace(*kind, hashes[i]);
  }
  for (const auto& [kind, hash] : outcome.artifacts) by_kind[kind] = hash;
  return by_kind;
}

Result<std::vector<std::string>> put_artifacts(store::Transaction& transaction, const std::vector<Value>& artifacts) {
  std::vector<std::string> hashes;
  for (const Value& artifact : artifacts) hashes.push_back(SB_TRY(put_json_blob(transaction, artifact)));
  return hashes;
}

// What a delivery sets in the context, with the keys that are counted here; null: removed. As `delivered` reads it
// back.
Value context_set_by(const Outcome& outcome) {
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

// What is said to an agent that sends output while the session waits for somebody else.
std::string not_taken(const Waiting& waiting) {
  switch (waiting.what) {
    case Waiting::For::kGate:
    case Waiting::For::kEvaluator:
      return "Nothing of what you sent now was taken: what this step delivered before waits to be accepted or "
             "rejected.";
    case Waiting::For::kDecision:
      return "Nothing of what you sent now was taken: the session waits for a decision.";
    case Waiting::For::kBreaker:
    case Waiting::For::kQuorum:
      break;
  }
  return "Nothing of what you sent now was taken: the session waits for a person to say how it goes on. Send it again "
         "when they have.";
}

// Of what an agent sent: short, and nothing that could not be printed.
std::string printable_id(std::string_view id) {
  return printable(id.substr(0, limits::kIdBytes));
}

std::string told_value(const Value& value) {
  const std::string json = to_json(value);
  const std::string_view start = beginning(json, kToldValueBytes);
  return fmt::format("{}{}", start, start.size() < json.size() ? "…" : "");
}

std::string told(const std::vector<Blocker>& blockers) {
  std::string text;
  for (const Blocker& blocker : blockers) text += fmt::format("- {}\n", blocker.message);
  return text;
}

}  // namespace

Result<Answer> Sessions::Parts::go_on(Turn& turn, const Token& token, const Submission& submission, bool has_output) {
  const auto found = turn.node(token.node);
  if (!found) {
    return refuse("TOKEN_UNKNOWN_NODE",
                  Error{ErrorCode::kNotFound, found.error().message, remedy(NextStep::kFindSession), {}, false});
  }
  const Node node = **found;
  const Summary& summary = turn.summary();
  if (token.attempt < node.attempt) {
    const auto attempt = SB_TRY(read_attempt(turn.transaction(), summary.id, token.node, token.attempt));
    if (!attempt) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("attempt {} on node {} of session {} is not there", token.attempt, token.node, summary.id),
          "signalbox session verify says what of the session is whole");
    }
    const Value ended = SB_TRY(read_event(turn.transaction(), summary.id, attempt->ended_seq, "attempt_ended"));
    return Answer::from(SB_TRY(parse_stored(ended.string_at("answer").value_or(""))));
  }
  if (token.attempt > node.attempt) {
    return refuse("TOKEN_UNKNOWN_NODE",
                  Error{ErrorCode::kNotFound,
                        "this token is of an attempt that this store does not know",
                        fmt::format("The store was put back to an earlier day. {}", remedy(NextStep::kFindSession)),
                        {},
                        false});
  }
  const auto program = SB_TRY(this->program(turn.transaction(), summary.hash));
  if (node.kind == NodeKind::kEnd) {
    return answer_for(turn.transaction(), *program, summary, node, Occasion::kRehydrate, {});
  }
  if (summary.status == SessionStatus::kStopped) {
    return refuse("PRECONDITION_FAILED", Error{ErrorCode::kConflict,
                                               fmt::format("this session was stopped: {}", summary.stopped_reason),
                                               remedy(NextStep::kGoBack),
                                               {},
                                               false});
  }
  if (node.attempt >= limits::kNodeAttempts) {
    return refuse(
        "PRECONDITION_FAILED",
        Error{ErrorCode::kLimit, "this step was tried as often as it may be", remedy(NextStep::kGoBack), {}, false});
  }
  if (node.waiting) return poll_waiting(turn, *program, node, submission, has_output);
  if (node.kind == NodeKind::kDecision) return poll_decision(turn, *program, node.number, submission);
  if (node.kind == NodeKind::kChildren) return poll_children(turn, *program, node.number, submission, has_output);
  if (!has_output) return answer_for(turn.transaction(), *program, summary, node, Occasion::kRehydrate, {});
  return deliver(turn, *program, node.number, submission);
}

Result<Answer> Sessions::Parts::poll_waiting(Turn& turn, const Program& program, const Node& node,
                                             const Submission& submission, bool has_output) {
  const auto poll = [&]() -> Result<Answer> {
    switch (node.waiting->what) {
      case Waiting::For::kGate:
      case Waiting::For::kEvaluator:
        return poll_gate(turn, program, node.number, submission);
      case Waiting::For::kBreaker:
      case Waiting::For::kQuorum:
        return poll_stuck(turn, program, node.number, submission, has_output);
      case Waiting::For::kDecision:
        break;
    }
    return poll_decision(turn, program, node.number, submission);
  };
  Answer answer = SB_TRY(poll());
  const Node& after = turn.known(node.number);
  // A lifted breaker lets the submission be delivered, and that may open a gate of its own.
  const bool still_waits = after.attempt == node.attempt && after.waiting &&
                           (after.waiting->what == node.waiting->what || after.kind == NodeKind::kDecision);
  if (still_waits && carries_output(submission)) answer.text = not_taken(*after.waiting) + "\n\n" + answer.text;
  return answer;
}

Result<Answer> Sessions::Parts::deliver(Turn& turn, const Program& program, NodeNo number,
                                        const Submission& submission) {
  const Node node = turn.known(number);
  const Value context = SB_TRY(read_json_blob(turn.transaction(), node.context));
  const Outcome outcome = SB_TRY(advance(program, node, context, submission));
  if (outcome.kind == Outcome::Kind::kBlocked) return block(turn, program, number, outcome.blockers, submission);
  const auto in_the_way = obstacles(program, turn.summary(), outcome.move, outcome.context);
  if (!in_the_way.empty()) return block(turn, program, number, in_the_way, submission);
  SB_TRY(put_artifacts(turn.transaction(), submission.artifacts));
  for (const Event& event : outcome.delivered) {
    Value payload = event.payload;
    payload.set("node", number);
    payload.set("attempt", node.attempt);
    SB_TRY(turn.emit(event.type, std::move(payload)));
  }
  if (outcome.kind == Outcome::Kind::kGate) return ask_gate(turn, program, number, outcome, submission);
  return move_on(turn, program, number, outcome, submission.artifacts);
}

Result<Answer> Sessions::Parts::move_on(Turn& turn, const Program& program, NodeNo number, const Outcome& outcome,
                                        const std::vector<Value>& artifacts) {
  const Node node = turn.known(number);
  const auto by_kind = newest_of(node, outcome, artifacts, SB_TRY(put_artifacts(turn.transaction(), artifacts)));
  const NodeNo next = SB_TRY(open_next(turn, program, node, outcome.move, outcome.context, by_kind));
  Answer answer = SB_TRY(answer_for(turn.transaction(), program, turn.summary(), turn.known(next), Occasion::kAdvance,
                                    outcome.notes_to_agent));
  return end_attempt(turn, number, "advanced", next, std::move(answer));
}

Result<Answer> Sessions::Parts::end_attempt(Turn& turn, NodeNo number, std::string_view ended, NodeNo successor,
                                            Answer answer) {
  Value payload = Value::object({{"node", number},
                                 {"attempt", turn.known(number).attempt},
                                 {"ended", ended},
                                 {"answer", to_json(answer.to_value())}});
  if (successor != 0) payload.set("successor", successor);
  SB_TRY(turn.emit("attempt_ended", std::move(payload)));
  return answer;
}

Result<std::string> Sessions::Parts::ask(Turn& turn, const Checked<decision::Declaration>& declaration) {
  if (!declaration) return std::unexpected(declaration.error().front());
  const inbox::Ticket ticket = SB_TRY(inbox.open_in(
      turn.transaction(), *declaration, {.workspace = turn.summary().workspace, .session = turn.summary().id}));
  return ticket.id;
}

Result<Answer> Sessions::Parts::block(Turn& turn, const Program& program, NodeNo number,
                                      const std::vector<Blocker>& blockers, const Submission& submission) {
  const Node node = turn.known(number);
  SB_TRY(put_artifacts(turn.transaction(), submission.artifacts));
  Event event = blocked_event(node, bounded(blockers), submission);
  event.payload.set("node", number);
  SB_TRY(turn.emit(std::move(event.type), std::move(event.payload)));
  const int limit = turn.summary().is_autonomous ? limits::kBlockedInRowAutonomous : limits::kBlockedInRow;
  const int in_row = node.blocked_in_row + 1;
  if (in_row < limit) {
    Answer answer =
        SB_TRY(blocked(turn.transaction(), program, turn.summary(), node, blockers, node.attempt + 1, true));
    return end_attempt(turn, number, "blocked", 0, std::move(answer));
  }
  return trip_breaker(turn, program, number, "blocked", in_row,
                      fmt::format("{} attempts in a row were refused; the last for:\n{}", in_row, told(blockers)));
}

Result<Answer> Sessions::Parts::trip_breaker(Turn& turn, const Program& program, NodeNo number, std::string_view ended,
                                             int count, const std::string& why) {
  const std::string id = SB_TRY(ask(turn, breaker_question({program, turn.summary(), turn.known(number)}, why)));
  Node next = turn.known(number);
  ++next.attempt;
  next.waiting = Waiting{Waiting::For::kBreaker, id, "", why};
  const Answer answer =
      SB_TRY(end_attempt(turn, number, ended, 0, SB_TRY(awaiting(turn.transaction(), program, turn.summary(), next))));
  SB_TRY(turn.emit("breaker_tripped",
                   Value::object({{"node", number}, {"attempts", count}, {"decision", id}, {"reason", why}})));
  return answer;
}

Result<Answer> Sessions::Parts::ask_gate(Turn& turn, const Program& program, NodeNo number, const Outcome& outcome,
                                         const Submission& submission) {
  const Delivered output{submission.notes, submission.artifacts, {}, context_set_by(outcome)};
  const auto& calls = program.compiled().calls;
  const auto evaluator = calls.find(std::string(kEvaluator));
  const bool is_person = outcome.gate == workflow::Confirmation::Kind::kPerson;
  const Summary& own = turn.summary();
  if (is_person || !own.is_autonomous || evaluator == calls.end() || own.depth + 1 > limits::kChildDepth) {
    return ask_person(turn, program, number, output, is_person, "");
  }
  const workflow::Step& step = program.step(turn.known(number).position.step);
  Birth birth;
  birth.id = make_id("s-", clock.now_ms(), random);
  birth.program = SB_TRY(this->program(turn.transaction(), evaluator->second));
  birth.goal = fmt::format("Judge what the step \"{}\" delivered for: {}", step.title, own.goal);
  birth.context = Value::object({{"gatedStepId", step.id},
                                 {"gatedStepTitle", step.title},
                                 {"gatedStepPrompt", step.prompt},
                                 {"gatedGoal", own.goal},
                                 {"gatedNotes", submission.notes},
                                 {"gatedArtifacts", Value(Value::Array(submission.artifacts))},
                                 {"gatedContext", output.context_set}});
  birth.workspace = own.workspace;
  birth.is_autonomous = true;
  birth.parent_session = own.id;
  birth.parent_child = "gate";
  birth.parent_node = number;
  birth.depth = own.depth + 1;
  const auto born = give_birth(turn.transaction(), birth);
  if (!born) {
    // Too large to hand over, or an evaluator that cannot start: a person can still judge it.
    if (born.error().code != ErrorCode::kInvalid && born.error().code != ErrorCode::kLimit) {
      return std::unexpected(born.error());
    }
    return ask_person(turn, program, number, output, false,
                      fmt::format("No evaluator could judge it: {}", born.error().message));
  }
  SB_TRY(turn.emit(
      "gate_opened",
      Value::object(
          {{"node", number}, {"attempt", turn.known(number).attempt}, {"gate", "evaluator"}, {"session", birth.id}})));
  return awaiting(turn.transaction(), program, turn.summary(), turn.known(number));
}

Result<Answer> Sessions::Parts::ask_person(Turn& turn, const Program& program, NodeNo number, const Delivered& output,
                                           bool needs_signature, std::string reason) {
  const Node& node = turn.known(number);
  const std::string id =
      SB_TRY(ask(turn, gate_question({program, turn.summary(), node}, output, needs_signature, reason)));
  Value payload = Value::object({{"node", number}, {"attempt", node.attempt}, {"gate", "person"}, {"decision", id}});
  if (!reason.empty()) payload.set("reason", reason);
  SB_TRY(turn.emit("gate_opened", std::move(payload)));
  return awaiting(turn.transaction(), program, turn.summary(), turn.known(number));
}

Status Sessions::Parts::relay(Turn& turn, const Token& token, const RelayedAnswer& answer) {
  const auto node = turn.node(token.node);
  // Both are told of by go_on: a token that leads nowhere, and one whose answer is only repeated.
  if (!node || token.attempt != (*node)->attempt) return {};
  const std::string waited = (*node)->waiting ? (*node)->waiting->decision : std::string();
  if (waited.empty()) {
    return fail(ErrorCode::kConflict, "this session waits for no decision", "Continue without `answer`");
  }
  if (answer.decision != waited) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not what this session waits for", quote_json(printable_id(answer.decision))),
                fmt::format("The open decision is {}", waited));
  }
  inbox::Submission submission;
  submission.given = answer.given;
  submission.from = {inbox::Channel::kRelay, answer.by};
  submission.raw = answer.raw;
  SB_TRY(inbox.answer_in(turn.transaction(), waited, submission, answer.remark));
  return {};
}

Result<Answer> Sessions::Parts::poll_gate(Turn& turn, const Program& program, NodeNo number,
                                          const Submission& submission) {
  const Node node = turn.known(number);
  const Waiting waiting = *node.waiting;
  store::Transaction& transaction = turn.transaction();
  const auto ask_again = [&](std::string reason) -> Result<Answer> {
    const workflow::Step& step = program.step(node.position.step);
    const bool is_person = step.confirmation.kind == workflow::Confirmation::Kind::kPerson;
    const Delivered output = SB_TRY(delivered(transaction, turn.summary().id, turn.output_seq(number)));
    return ask_person(turn, program, number, output, is_person, std::move(reason));
  };
  if (waiting.what == Waiting::For::kEvaluator) {
    const auto child = SB_TRY(read_summary(transaction, waiting.session));
    const bool is_over =
        !child || child->status == SessionStatus::kComplete || child->status == SessionStatus::kStopped;
    if (!is_over) return awaiting(transaction, program, turn.summary(), node);
    const auto end = child ? SB_TRY(read_node(transaction, waiting.session, child->tip)) : std::nullopt;
    const auto hash = end ? end->artifacts.find("wr.gate_verdict") : std::map<std::string, std::string>::iterator{};
    if (!end || child->status == SessionStatus::kStopped || hash == end->artifacts.end()) {
      SB_TRY(turn.emit("gate_decided", Value::object({{"node", number},
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
      SB_TRY(turn.emit("gate_decided", Value::object({{"node", number},
                                                      {"attempt", node.attempt},
                                                      {"verdict", "uncertain"},
                                                      {"reason", reason},
                                                      {"session", waiting.session},
                                                      {"by", "evaluator"}})));
      return ask_again(fmt::format("The evaluator was not sure: {}", reason));
    }
    return judged(turn, program, number, said, reason,
                  Value::object({{"by", "evaluator"}, {"session", waiting.session}}), submission);
  }
  const auto ask_anew = [&](std::string_view why) -> Result<Answer> {
    SB_TRY(turn.emit("gate_decided", Value::object({{"node", number},
                                                    {"attempt", node.attempt},
                                                    {"verdict", "uncertain"},
                                                    {"reason", why},
                                                    {"decision", waiting.decision},
                                                    {"by", "nobody"}})));
    return ask_again("");
  };
  const auto loaded = inbox.load_in(transaction, waiting.decision);
  // An imported session comes without its questions.
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) return ask_anew("its question is not in this inbox");
  if (!loaded) return std::unexpected(loaded.error());
  const inbox::DecisionState& state = *loaded;
  if (inbox.can_be_asked_anew(state)) return ask_anew("it was asked before anybody could sign");
  if (state.is_open()) return awaiting(transaction, program, turn.summary(), node);
  SB_TRY(inbox.take_in(transaction, waiting.decision, turn.summary().id));
  const inbox::Outcome& outcome = *state.outcome;
  const bool is_declined = outcome.ending == inbox::Ending::kDeclined;
  if (!is_declined && !state.is_answered() && outcome.ending != inbox::Ending::kDefaulted) {
    SB_TRY(turn.emit("gate_decided", Value::object({{"node", number},
                                                    {"attempt", node.attempt},
                                                    {"verdict", "uncertain"},
                                                    {"reason", inbox::to_string(outcome.ending)},
                                                    {"decision", waiting.decision},
                                                    {"by", "nobody"}})));
    return ask_again(fmt::format("The last asking ended as {}.", inbox::to_string(outcome.ending)));
  }
  const bool is_approved = !is_declined && !outcome.options.empty() && outcome.options.front() == kApprove;
  std::string reason = state.free_texts.empty() ? "" : state.free_texts.back();
  if (reason.empty() && !is_approved) reason = "a person rejected it and gave no reason";
  const std::string by = outcome.principal.empty() ? "a person" : outcome.principal;
  return judged(turn, program, number, is_approved ? "approved" : "rejected", reason,
                Value::object({{"by", by}, {"decision", waiting.decision}}), submission);
}

Result<Answer> Sessions::Parts::judged(Turn& turn, const Program& program, NodeNo number, std::string_view verdict,
                                       std::string reason, Value by, const Submission& submission) {
  const Node node = turn.known(number);
  const std::int64_t output_seq = turn.output_seq(number);
  Value payload = std::move(by);
  payload.set("node", number);
  payload.set("attempt", node.attempt);
  payload.set("verdict", verdict);
  payload.set("reason", reason);
  SB_TRY(turn.emit("gate_decided", std::move(payload)));
  if (verdict == "approved") {
    const Delivered output = SB_TRY(delivered(turn.transaction(), turn.summary().id, output_seq));
    const Value context = SB_TRY(read_json_blob(turn.transaction(), node.context));
    const Submission approved{output.notes, output.artifacts, output.context_set, std::nullopt};
    Outcome outcome = SB_TRY(advance(program, turn.known(number), context, approved, true));
    if (carries_output(submission)) {
      outcome.notes_to_agent.push_back(
          "what this step delivered before was approved; nothing of what you sent now was taken.");
    }
    return move_on(turn, program, number, outcome, output.artifacts);
  }
  const std::vector<Blocker> blockers{{BlockerCode::kRejected,
                                       node.position.step,
                                       fmt::format("The result was rejected: {}", reason),
                                       "Mend what the reason names and deliver the step again",
                                       {}}};
  const int rejections = node.rejections + 1;
  if (rejections < limits::kGateRejections) {
    Answer answer =
        SB_TRY(blocked(turn.transaction(), program, turn.summary(), node, blockers, node.attempt + 1, true));
    return end_attempt(turn, number, "rejected", 0, std::move(answer));
  }
  return trip_breaker(turn, program, number, "rejected", rejections,
                      fmt::format("The result was rejected {} times; the last reason:\n{}", rejections, reason));
}

Result<Answer> Sessions::Parts::poll_stuck(Turn& turn, const Program& program, NodeNo number,
                                           const Submission& submission, bool has_output) {
  const Node node = turn.known(number);
  const Waiting waiting = *node.waiting;
  const auto loaded = inbox.load_in(turn.transaction(), waiting.decision);
  // An imported session comes without its questions; it may try again.
  const bool is_gone = !loaded && loaded.error().code == ErrorCode::kNotFound;
  if (!loaded && !is_gone) return std::unexpected(loaded.error());
  const inbox::DecisionState state = is_gone ? inbox::DecisionState() : *loaded;
  if (!is_gone && state.is_open()) return awaiting(turn.transaction(), program, turn.summary(), node);
  if (!is_gone) SB_TRY(inbox.take_in(turn.transaction(), waiting.decision, turn.summary().id));
  const std::vector<std::string> options = is_gone ? std::vector{std::string(kAgain)} : state.outcome->options;
  const bool is_let_on = is_gone || (state.is_answered() && !options.empty() && options.front() != kStop);
  const bool is_quorum = waiting.what == Waiting::For::kQuorum;
  SB_TRY(turn.emit(is_quorum ? "quorum_decided" : "breaker_decided",
                   Value::object({{"node", number},
                                  {"decision", waiting.decision},
                                  {"choice", is_let_on ? options.front() : std::string(kStop)}})));
  if (!is_let_on) {
    const std::string by = state.outcome->principal.empty() ? "a person" : state.outcome->principal;
    SB_TRY(turn.emit("session_stopped",
                     Value::object({{"reason", "a person stopped it at " + node.position.step}, {"by", by}})));
    Answer answer;
    answer.text = "A person stopped this session. Nothing more is to be done here.";
    answer.line = Value::object({{"kind", "complete"},
                                 {"sessionId", turn.summary().id},
                                 {"isComplete", false},
                                 {"isStopped", true},
                                 {"pending", Value()},
                                 {"nextIntent", "complete"}});
    return answer;
  }
  if (is_quorum) return join(turn, program, number, submission);
  if (has_output) return deliver(turn, program, number, submission);
  return answer_for(turn.transaction(), program, turn.summary(), turn.known(number), Occasion::kRehydrate, {});
}

Result<Answer> Sessions::Parts::poll_decision(Turn& turn, const Program& program, NodeNo number,
                                              const Submission& submission) {
  const Node node = turn.known(number);
  const workflow::DecisionStep& step = *program.step(node.position.step).decision();
  const Value context = SB_TRY(read_json_blob(turn.transaction(), node.context));
  const Value seen = context_at(program, node.position, context);
  const auto ask_again = [&]() -> Result<Answer> {
    const std::string id = SB_TRY(ask(turn, step_question({program, turn.summary(), node}, seen)));
    SB_TRY(turn.emit(
        "gate_opened",
        Value::object({{"node", number}, {"attempt", node.attempt}, {"gate", "decision"}, {"decision", id}})));
    return awaiting(turn.transaction(), program, turn.summary(), turn.known(number));
  };
  if (!node.waiting) return ask_again();
  const std::string id = node.waiting->decision;
  const auto loaded = inbox.load_in(turn.transaction(), id);
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) return ask_again();
  if (!loaded) return std::unexpected(loaded.error());
  const inbox::DecisionState& state = *loaded;
  if (inbox.can_be_asked_anew(state)) return ask_again();
  if (state.is_open()) return awaiting(turn.transaction(), program, turn.summary(), node);
  const inbox::Outcome& outcome = *state.outcome;
  if (outcome.ending != inbox::Ending::kAnswered && outcome.ending != inbox::Ending::kDefaulted) {
    // Read, or asking again would join it.
    SB_TRY(inbox.take_in(turn.transaction(), id, turn.summary().id));
    return ask_again();
  }
  Value after = SB_TRY(merge_context(context, submission.context));
  const Value chosen = chosen_value(step, seen, outcome);
  after.set(step.capture_as, chosen);
  Outcome moved;
  moved.context = after;
  moved.move = next_position(program, node.position, node.jumps, after, {}, false);
  moved.notes_to_agent = moved.move.warnings;
  // Whoever answered was not the agent, and not every next step names the key.
  moved.notes_to_agent.push_back(fmt::format("it was decided: {} is {}.", step.capture_as, told_value(chosen)));
  const auto in_the_way = obstacles(program, turn.summary(), moved.move, after);
  if (!in_the_way.empty())
    return blocked(turn.transaction(), program, turn.summary(), node, in_the_way, node.attempt, false);
  SB_TRY(inbox.take_in(turn.transaction(), id, turn.summary().id));
  SB_TRY(turn.emit("decision_taken", Value::object({{"node", number},
                                                    {"decision", id},
                                                    {"options", Value::array(outcome.options)},
                                                    {"values", outcome.values}})));
  return move_on(turn, program, number, moved, {});
}

}  // namespace sb::engine

#include "engine/steps/gates.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/transaction/session_events.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kEvaluator = "wr.gate-eval-generic";

// What a delivery sets in the context, including the keys that are counted here; null: removed. Same form as
// `read_output` returns.
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

// The session that judges a delivery, without its program.
NewSession evaluation_of(const StepUpdate& step, const AttemptOutput& output, const Value& context) {
  const workflow::Step& judged = step.definition();
  const std::string& goal = step.summary().goal;
  workflow::Filler filler(context, step.here().braces(),
                          {.value_bytes = limits::kFilledValueBytes, .all_bytes = limits::kFilledBytes});
  NewSession session = NewSession::below(step.summary(), step.number, "gate");
  session.goal = fmt::format("Judge the delivery of step \"{}\" for: {}", step.node().title, goal);
  session.context = Value::object({{"gatedStepId", judged.id},
                                   {"gatedStepTitle", step.node().title},
                                   {"gatedStepPrompt", filler.fill(judged.prompt)},
                                   {"gatedGoal", goal},
                                   {"gatedNotes", output.notes},
                                   {"gatedArtifacts", Value(Value::Array(output.artifacts))},
                                   {"gatedContext", output.context_set}});
  return session;
}

// `by`: {by, session or decision}.
Status record_verdict(const StepUpdate& step, std::string_view verdict, std::string_view reason, Value by) {
  Value payload = std::move(by);
  payload.set("attempt", step.node().attempt);
  payload.set("verdict", verdict);
  payload.set("reason", reason);
  return step.emit("gate_decided", std::move(payload));
}

}  // namespace

Result<SessionResponse> Gates::open(const StepUpdate& step, const AdvanceResult& outcome,
                                    const Submission& submission) {
  const AttemptOutput output{submission.notes, submission.artifacts, context_set_by(outcome)};
  const auto& calls = step.program.compiled().calls;
  const auto evaluator = calls.find(std::string(kEvaluator));
  const bool is_person = outcome.gate == workflow::Confirmation::Kind::kPerson;
  // An evaluator's verdict is no signature.
  const bool is_signed = inbox_.signs_gates(step.summary().workspace);
  const bool can_be_evaluated = !is_signed && step.summary().is_autonomous && evaluator != calls.end() &&
                                step.summary().depth + 1 <= limits::kChildDepth;
  if (is_person || !can_be_evaluated) return ask_person(step, output, is_person, "");
  const Value context = context_at(step.program, step.node().position, outcome.context);
  NewSession evaluation = evaluation_of(step, output, context);
  evaluation.program = SB_TRY(programs_.get(step.transaction(), evaluator->second));
  const auto created = opener_.create_session(step.transaction(), std::move(evaluation));
  if (!created) {
    // Too large to hand over, or the evaluator cannot start: a person can still judge it.
    if (created.error().code != ErrorCode::kInvalid && created.error().code != ErrorCode::kLimit) {
      return std::unexpected(created.error());
    }
    return ask_person(step, output, false, fmt::format("No evaluator could judge it: {}", created.error().message));
  }
  SB_TRY(step.emit(
      "gate_opened",
      Value::object({{"attempt", step.node().attempt}, {"gate", "evaluator"}, {"session", created->summary.id}})));
  return responses_.awaiting(step.transaction(), step.here());
}

Result<SessionResponse> Gates::ask_person(const StepUpdate& step, const AttemptOutput& output, bool needs_signature,
                                          std::string_view reason) {
  const std::string id =
      SB_TRY(ask(inbox_, step.session, gate_question(step.here(), output, needs_signature, reason), true));
  Value payload = Value::object({{"attempt", step.node().attempt}, {"gate", "person"}, {"decision", id}});
  if (!reason.empty()) payload.set("reason", reason);
  SB_TRY(step.emit("gate_opened", std::move(payload)));
  return responses_.awaiting(step.transaction(), step.here());
}

Result<SessionResponse> Gates::poll(const StepUpdate& step, const Submission& submission) {
  return step.node().waiting->what == Waiting::Kind::kEvaluator ? poll_evaluator(step, submission)
                                                                : poll_person(step, submission);
}

Result<SessionResponse> Gates::poll_evaluator(const StepUpdate& step, const Submission& submission) {
  const std::string session = step.node().waiting->session;
  const auto by = [&](std::string_view who) { return Value::object({{"session", session}, {"by", who}}); };
  const auto evaluator = SB_TRY(read_summary(step.transaction(), session));
  const bool is_stopped = evaluator && evaluator->status == SessionStatus::kStopped;
  const bool is_over = !evaluator || is_stopped || evaluator->status == SessionStatus::kComplete;
  if (!is_over) return responses_.awaiting(step.transaction(), step.here());
  const auto end = evaluator ? SB_TRY(read_node(step.transaction(), session, evaluator->tip)) : std::nullopt;
  const auto hash = end ? end->artifacts.find("wr.gate_verdict") : std::map<std::string, std::string>::iterator{};
  if (!end || is_stopped || hash == end->artifacts.end()) {
    return ask_again(step, "the evaluator ended without a verdict", by("nobody"),
                     "The evaluator ended without a verdict.");
  }
  const Value artifact = SB_TRY(read_json_blob(step.transaction(), hash->second));
  const std::string verdict = artifact.string_at("verdict").value_or("uncertain");
  const std::string reason = artifact.string_at("rationale").value_or("");
  if (verdict != "approved" && verdict != "rejected") {
    return ask_again(step, reason, by("evaluator"), fmt::format("The evaluator was not sure: {}", reason));
  }
  SB_TRY(record_verdict(step, verdict, reason, by("evaluator")));
  return verdict == "approved" ? approve(step, submission) : attempts_.reject(step, reason);
}

Result<SessionResponse> Gates::poll_person(const StepUpdate& step, const Submission& submission) {
  const std::string decision = step.node().waiting->decision;
  const auto by = [&](std::string_view who) { return Value::object({{"decision", decision}, {"by", who}}); };
  const auto loaded = inbox_.load_in(step.transaction(), decision);
  // An imported session comes without its questions.
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) {
    return ask_again(step, "its question is not in this inbox", by("nobody"), "");
  }
  if (!loaded) return std::unexpected(loaded.error());
  const inbox::DecisionState& state = *loaded;
  if (inbox_.can_be_reasked(state)) {
    return ask_again(step, "it was asked before there was an operator", by("nobody"), "");
  }
  if (state.is_open()) return responses_.awaiting(step.transaction(), step.here());
  SB_TRY(inbox_.consume_in(step.transaction(), decision, step.summary().id));
  const inbox::DecisionOutcome& outcome = *state.outcome;
  const bool is_declined = outcome.kind == inbox::OutcomeKind::kDeclined;
  if (!is_declined && !state.is_answered() && outcome.kind != inbox::OutcomeKind::kDefaulted) {
    return ask_again(step, inbox::to_string(outcome.kind), by("nobody"),
                     fmt::format("The previous question ended as {}.", inbox::to_string(outcome.kind)));
  }
  const bool is_approved = !is_declined && !outcome.options.empty() && outcome.options.front() == kApprove;
  std::string reason = state.free_texts.empty() ? "" : state.free_texts.back();
  if (reason.empty() && !is_approved) reason = "a person rejected it and gave no reason";
  const std::string who = outcome.principal.empty() ? "a person" : outcome.principal;
  SB_TRY(record_verdict(step, is_approved ? "approved" : "rejected", reason, by(who)));
  return is_approved ? approve(step, submission) : attempts_.reject(step, reason);
}

Result<SessionResponse> Gates::ask_again(const StepUpdate& step, std::string_view reason, Value by,
                                         std::string_view shown_reason) {
  SB_TRY(record_verdict(step, "uncertain", reason, std::move(by)));
  const bool is_person = step.definition().confirmation.kind == workflow::Confirmation::Kind::kPerson;
  const std::int64_t output_seq = step.session.output_seq(step.number);
  return ask_person(step, SB_TRY(read_output(step.transaction(), step.summary().id, output_seq)), is_person,
                    shown_reason);
}

// The stored delivery moves on.
Result<SessionResponse> Gates::approve(const StepUpdate& step, const Submission& submission) {
  const std::int64_t output_seq = step.session.output_seq(step.number);
  const AttemptOutput output = SB_TRY(read_output(step.transaction(), step.summary().id, output_seq));
  const Submission approved{output.notes, output.artifacts, output.context_set, std::nullopt};
  AdvanceResult outcome = SB_TRY(advance(step.program, step.node(), SB_TRY(step.context()), approved, true));
  if (submission.has_output()) {
    outcome.notes_to_agent.push_back("the earlier delivery of this step was approved; your new input was ignored.");
  }
  return attempts_.advance(step, outcome);
}

}  // namespace sb::engine

#include "engine/steps/decisions.hpp"

#include <fmt/format.h>

#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kReportedValueBytes = 120;

std::string reported_value(const Value& value) {
  const std::string json = to_json(value);
  const std::string_view start = utf8_prefix(json, kReportedValueBytes);
  return fmt::format("{}{}", start, start.size() < json.size() ? "…" : "");
}

}  // namespace

Result<SessionResponse> Decisions::poll(const StepUpdate& step, const Submission& submission) {
  const Value context = SB_TRY(step.context());
  if (!step.node().waiting) return ask_again(step, context);
  const std::string id = step.node().waiting->decision;
  const auto loaded = inbox_.load_in(step.transaction(), id);
  if (!loaded && loaded.error().code == ErrorCode::kNotFound) return ask_again(step, context);
  if (!loaded) return std::unexpected(loaded.error());
  if (inbox_.can_be_reasked(*loaded)) return ask_again(step, context);
  if (loaded->is_open()) return responses_.awaiting(step.transaction(), step.here());
  const inbox::DecisionOutcome& outcome = *loaded->outcome;
  if (outcome.kind != inbox::OutcomeKind::kAnswered && outcome.kind != inbox::OutcomeKind::kDefaulted) {
    // Mark it as read, or asking again would join it.
    SB_TRY(inbox_.consume_in(step.transaction(), id, step.summary().id));
    return ask_again(step, context);
  }
  return take(step, context, outcome, submission);
}

Result<SessionResponse> Decisions::ask_again(const StepUpdate& step, const Value& context) {
  const Value seen = context_at(step.program, step.node().position, context);
  const std::string id = SB_TRY(ask_step(inbox_, step.session, step.here(), seen, commands_));
  SB_TRY(step.emit("gate_opened",
                   Value::object({{"attempt", step.node().attempt}, {"gate", "decision"}, {"decision", id}})));
  return responses_.awaiting(step.transaction(), step.here());
}

Result<SessionResponse> Decisions::take(const StepUpdate& step, const Value& context,
                                        const inbox::DecisionOutcome& outcome, const Submission& submission) {
  const Node& node = step.node();
  const workflow::DecisionStep& definition = *step.definition().decision();
  const Value chosen = chosen_value(definition, context_at(step.program, node.position, context), outcome);
  AdvanceResult moved;
  moved.context = SB_TRY(merge_context(context, submission.context));
  moved.context.set(definition.capture_as, chosen);
  moved.move = next_position(step.program, node.position, node.jumps, moved.context, {}, false);
  moved.notes_to_agent = moved.move.warnings;
  // The agent did not answer this itself, and not every next step names the key.
  moved.notes_to_agent.push_back(
      fmt::format("it was decided: {} is {}.", definition.capture_as, reported_value(chosen)));
  const auto in_the_way = opening_blockers(step.program, step.summary(), moved);
  if (!in_the_way.empty()) return responses_.blocked(step.transaction(), step.here(), in_the_way, false);
  const std::string id = node.waiting->decision;
  SB_TRY(inbox_.consume_in(step.transaction(), id, step.summary().id));
  SB_TRY(step.emit(
      "decision_taken",
      Value::object({{"decision", id}, {"options", Value::array(outcome.options)}, {"values", outcome.values}})));
  return attempts_.advance(step, moved);
}

}  // namespace sb::engine

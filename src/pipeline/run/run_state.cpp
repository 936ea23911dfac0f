// Queries on a run's state, and its printed form.
#include <algorithm>
#include <array>
#include <ranges>

#include "agent/model/prices.hpp"
#include "pipeline/run/run_log.hpp"

namespace sb::pipeline {
namespace {

constexpr std::array kSteps = {DeliveryStep::kHead,    DeliveryStep::kScope,         DeliveryStep::kChecks,
                               DeliveryStep::kSecrets, DeliveryStep::kCommit,        DeliveryStep::kPush,
                               DeliveryStep::kRequest, DeliveryStep::kRequestChecks, DeliveryStep::kUpdate,
                               DeliveryStep::kMerge,   DeliveryStep::kConfirm,       DeliveryStep::kClose};

Value to_value(const PhaseRecord& record) {
  Value value = Value::object({{"phase", to_string(record.phase)},
                               {"round", record.round},
                               {"attempt", record.attempt},
                               {"workflow", record.workflow},
                               {"hash", record.hash},
                               {"session", record.session},
                               {"started_at", to_rfc3339(record.started_at)},
                               {"bundle", record.bundle}});
  if (!record.is_over) return value;
  value.set("ended_at", to_rfc3339(record.ended_at));
  value.set("state", record.state);
  if (!record.reason.empty()) value.set("reason", record.reason);
  value.set("result", record.result.to_value());
  value.set("usage", agent::to_value(record.usage));
  value.set("cost_usd", agent::cost_in_dollars(record.micro_cents));
  value.set("turns", record.turns);
  return value;
}

Value to_value(const RunState::DeliveryRecord& step) {
  Value value = Value::object({{"step", to_string(step.step)},
                               {"round", step.round},
                               {"passed", step.done.passed},
                               {"at", to_rfc3339(step.at)}});
  if (step.done.already_existed) value.set("was_there", true);
  if (!step.done.facts.is_null()) value.set("facts", step.done.facts);
  if (step.done.findings.empty()) return value;
  Value findings = Value::array();
  for (const DeliveryFinding& finding : step.done.findings) findings.push_back(finding.to_value());
  value.set("findings", std::move(findings));
  return value;
}

Value to_value(const RunQuestion& asked) {
  Value value = Value::object({{"question", asked.question}, {"decision", asked.decision}, {"packet", asked.packet}});
  if (asked.choice.empty()) return value;
  value.set("choice", asked.choice);
  value.set("by", asked.by);
  if (!asked.remark.empty()) value.set("remark", asked.remark);
  return value;
}

Value to_value(const InputChange& changed) {
  return Value::object(
      {{"what", changed.what}, {"was", changed.was}, {"hash", changed.hash}, {"at", to_rfc3339(changed.at)}});
}

template <class Items>
Value all_of(const Items& items) {
  Value all = Value::array();
  for (const auto& item : items) all.push_back(to_value(item));
  return all;
}

void add_outcome(Value& value, const RunState& state) {
  if (state.parked_until != 0) {
    value.set("parked", Value::object({{"until", to_rfc3339(state.parked_until)}, {"reason", state.parked_reason}}));
  }
  if (!state.halted.empty()) value.set("halted", state.halted);
  if (!state.waits_for.empty()) value.set("waits_for", state.waits_for);
  if (!state.outcome.empty()) {
    value.set("outcome", state.outcome);
    value.set("reason", state.outcome_reason);
  }
  if (const std::string why = state.open_ticket(); !why.empty()) value.set("ticket_open", why);
  if (!state.commit.empty()) value.set("commit", state.commit);
  if (!state.request.empty()) value.set("request", state.request);
  if (!state.url.empty()) value.set("url", state.url);
}

}  // namespace

std::optional<DeliveryStep> step_named(std::string_view name) {
  for (const DeliveryStep step : kSteps) {
    if (to_string(step) == name) return step;
  }
  return std::nullopt;
}

const PhaseRecord* RunState::newest(Phase phase) const {
  for (const PhaseRecord& record : phases | std::views::reverse) {
    if (record.phase == phase) return &record;
  }
  return nullptr;
}

const PhaseRecord* RunState::newest(Phase phase, int round) const {
  for (const PhaseRecord& record : phases | std::views::reverse) {
    if (record.phase == phase && record.round == round) return &record;
  }
  return nullptr;
}

const RunState::DeliveryRecord* RunState::newest(DeliveryStep step, int round) const {
  for (const DeliveryRecord& made : deliveries | std::views::reverse) {
    if (made.step == step && made.round == round) return &made;
  }
  return nullptr;
}

const RunState::DeliveryRecord* RunState::newest_with_judges(int round) const {
  for (const DeliveryRecord& made : deliveries | std::views::reverse) {
    const Value& judges = made.done.facts["judges"];
    const bool is_scope = made.step == DeliveryStep::kScope && made.round <= round;
    if (is_scope && judges.is_array()) return judges.size() > 0 ? &made : nullptr;
  }
  return nullptr;
}

const RunQuestion* RunState::open_question() const {
  for (const RunQuestion& question : asked | std::views::reverse) {
    if (question.choice.empty()) return &question;
  }
  return nullptr;
}

agent::Usage RunState::usage() const {
  agent::Usage all;
  for (const PhaseRecord& record : phases) all += record.usage;
  return all;
}

std::int64_t RunState::micro_cents() const {
  std::int64_t all = 0;
  for (const PhaseRecord& record : phases) all += record.micro_cents;
  return all;
}

const RunState::DeliveryRecord* RunState::failed_closing() const {
  for (const DeliveryRecord& made : deliveries | std::views::reverse) {
    if (made.step == DeliveryStep::kClose) return made.done.passed ? nullptr : &made;
  }
  return nullptr;
}

std::string RunState::open_ticket() const {
  const DeliveryRecord* failed = failed_closing();
  if (failed == nullptr) return {};
  return failed->done.findings.empty() ? "no reason given" : failed->done.findings.front().summary;
}

std::string RunState::status() const {
  if (!outcome.empty()) return outcome;
  if (open_question() != nullptr) return "waiting";
  if (!halted.empty()) return "halted";
  return parked_until != 0 ? "parked" : "running";
}

Value RunState::to_value() const {
  Value value = Value::object({{"run", id}, {"goal", goal}, {"status", status()}, {"workspace", workspace}});
  value.set("ticket", ticket.to_value());
  value.set("ticket_hash", ticket_hash);
  value.set("settings_hash", settings_hash);
  Value hashes = Value::object();
  for (const auto& [workflow, hash] : workflows) hashes.set(workflow, hash);
  value.set("workflows", std::move(hashes));
  value.set("changes", all_of(changes));
  if (!trigger.empty()) value.set("trigger", trigger);
  if (!sandbox.empty()) value.set("sandbox", sandbox);
  if (route) {
    value.set("mode", to_string(route->mode));
    value.set("reasons", Value::array(route->reasons));
    value.set("touches_ui", route->touches_ui);
  }
  if (!tree.path.empty()) {
    value.set("tree",
              Value::object(
                  {{"path", tree.path}, {"branch", tree.branch}, {"base", tree.base}, {"commit", tree.base_commit}}));
  }
  value.set("phases", all_of(phases));
  if (!interpretation.is_null()) value.set("interpretation", interpretation);
  value.set("delivery", all_of(deliveries));
  value.set("decisions", all_of(asked));
  Value raised = Value::array();
  for (const Escalation& one : escalations) {
    raised.push_back(Value::object({{"phase", one.phase}, {"round", one.round}, {"reason", one.reason}}));
  }
  value.set("escalations", std::move(raised));
  add_outcome(value, *this);
  value.set("usage", agent::to_value(usage()));
  value.set("cost_usd", agent::cost_in_dollars(micro_cents()));
  value.set("worked_ms", worked_ms);
  value.set("started_at", to_rfc3339(started_at));
  value.set("updated_at", to_rfc3339(updated_at));
  value.set("events", events);
  return value;
}

}  // namespace sb::pipeline

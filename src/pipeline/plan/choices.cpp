// What a person may answer, what a phase may use, and which findings the next round handles.
#include <algorithm>
#include <ranges>

#include "pipeline/plan/next_action.hpp"

namespace sb::pipeline {
namespace {

const Choice kRetry{"retry", "Try it again"};
const Choice kFix{"fix", "Fix once more", true};
const Choice kAccept{"accept", "Deliver it as it is"};
const Choice kProceed{"proceed", "Continue without it"};
const Choice kMergeAnyway{"merge", "Merge it as it is"};
const Choice kLeave{"leave", "Leave the request open", true};
const Choice kStop{"stop", "Stop the run", true};

const RunState::DeliveryRecord* newest_refused(const RunState& state) {
  for (const RunState::DeliveryRecord& made : state.deliveries | std::views::reverse) {
    if (!made.done.passed) return &made;
  }
  return nullptr;
}

bool has_cause(const RunState::DeliveryRecord& made, std::string_view cause) {
  return std::ranges::any_of(made.done.findings,
                             [&](const DeliveryFinding& finding) { return finding.cause == cause; });
}

std::vector<Choice> after_delivery(const RunState& state) {
  const RunState::DeliveryRecord* refused = newest_refused(state);
  if (refused == nullptr) return {kRetry, kStop};
  if (is_for_fixer(*refused)) return {kFix, kRetry, kAccept, kStop};
  // A failed request to the forge may be retried; checks without a result may be skipped.
  const bool is_inconclusive =
      refused->step == DeliveryStep::kRequestChecks && refused->done.facts.find("error") == nullptr;
  return is_inconclusive ? std::vector{kRetry, kAccept, kStop} : std::vector{kRetry, kStop};
}

std::vector<Choice> after_merging(const RunState& state) {
  const RunState::DeliveryRecord* refused = newest_refused(state);
  const bool is_closed = refused != nullptr && has_cause(*refused, "request_closed");
  if (is_closed) return {{"retry", "Merge it, now that it is open again"}, kStop};
  return {kRetry, kLeave, kStop};
}

std::vector<Choice> after_escalation(const RunState& state, const RunSettings& settings) {
  if (state.escalations.empty()) return {kRetry, kStop};
  const std::string& phase = state.escalations.back().phase;
  const bool may_merge = !state.request.empty() && settings.merge != MergePolicy::kNever;
  if (phase == "routing") return {{"full", "Run it in full"}, kStop};
  if (phase == "start") return {kRetry, kStop};
  if (phase == "time") return {{"retry", "Let it continue"}, kStop};
  if (phase == "budget") return {{"retry", "Allow the same amount again"}, kStop};
  if (phase == "delivery") return after_delivery(state);
  if (phase == "merge") return after_merging(state);
  if (phase == "fix-loop" || phase == "audit-chain") {
    if (!may_merge) return {kFix, {"retry", "Review it again"}, kStop};
    return {kFix, {"retry", "Review it again"}, kMergeAnyway, kStop};
  }
  if (phase == "coding" || phase == "fix") return {kRetry, kStop};
  if (phase == "review")
    return may_merge ? std::vector<Choice>{kRetry, kMergeAnyway, kStop} : std::vector{kRetry, kStop};
  return {kRetry, kProceed, kStop};
}

constexpr std::int64_t kMinute = 60'000;

std::int64_t time_of(Phase phase) {
  switch (phase) {
    case Phase::kDiscovery:
      return 60 * kMinute;
    case Phase::kShaping:
      return 35 * kMinute;
    case Phase::kCoding:
    case Phase::kFix:
      return 65 * kMinute;
    case Phase::kDesign:
    case Phase::kReview:
    case Phase::kAudit:
      return 25 * kMinute;
  }
  return 60 * kMinute;
}

Value person_finding(const RunQuestion& asked) {
  return Value::object({{"severity", "major"}, {"summary", asked.remark}, {"cause", "requested by a person"}});
}

}  // namespace

std::vector<Choice> choices_for(const RunState& state, std::string_view question, const RunSettings& settings) {
  if (question == "ui") return {{"approve", "Build it like that"}, {"again", "Design it again", true}, kStop};
  if (question == "merge") return {{"merge", "Merge it"}, kFix, kLeave};
  if (question == "ticket_changed") {
    return {{"old", "Continue with the old one"}, {"restart", "Start over with the new one"}, kStop};
  }
  return after_escalation(state, settings);
}

bool is_for_fixer(const RunState::DeliveryRecord& made) {
  if (made.done.facts.find("error") != nullptr) return false;  // an agent cannot fix a missing remote
  switch (made.step) {
    case DeliveryStep::kScope:
    case DeliveryStep::kChecks:
    case DeliveryStep::kSecrets:
      return true;
    case DeliveryStep::kRequestChecks:
      return has_cause(made, "checks_failed");
    default:
      return false;
  }
}

agent::WorkLimits limits_for(Phase phase, const RunState& state, const RunSettings& settings) {
  agent::WorkLimits limits = settings.agents.limits;
  if (limits.time_ms <= 0) limits.time_ms = time_of(phase);
  const int granted = times_granted(state, "budget");
  if (limits.tokens > 0) limits.tokens = std::max<std::int64_t>(1, limits.tokens * granted - state.usage().total());
  if (limits.micro_cents > 0) {
    limits.micro_cents = std::max<std::int64_t>(1, limits.micro_cents * granted - state.micro_cents());
  }
  return limits;
}

Value::Array findings_before(const RunState& state, int round) {
  Value::Array findings;
  std::int64_t since = 0;
  if (const PhaseRecord* review = state.newest(Phase::kReview, round - 1)) {
    since = review->ended_seq;
    const Value& found = review->result.artifact["findings"];
    if (found.is_array()) findings = found.items();
    if (review->result.kind == ResultKind::kPartial) {
      findings.push_back(Value::object({{"severity", "major"}, {"summary", review->result.notes}}));
    }
  }
  for (const RunState::DeliveryRecord& made : state.deliveries) {
    if (made.round != round - 1 || state.newest(made.step, made.round) != &made) continue;
    for (const DeliveryFinding& finding : made.done.findings) {
      const bool is_ours =
          finding.cause == kBaseMoved || (finding.cause == "nothing_changed" && !state.request.empty());
      if (!is_ours) findings.push_back(finding.to_value());
    }
    since = std::max(since, made.seq);
  }
  if (const PhaseRecord* audit = state.newest(Phase::kAudit, round - 1)) {
    const Value& found = audit->result.artifact["findings"];
    if (found.is_array()) {
      for (const Value& finding : found.items()) findings.push_back(finding);
    }
  }
  for (const RunQuestion& asked : state.asked) {
    if (asked.seq > since && asked.choice == "fix" && !asked.remark.empty()) findings.push_back(person_finding(asked));
  }
  return findings;
}

}  // namespace sb::pipeline

#include "pipeline/plan/next_action.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "agent/model/prices.hpp"
#include "base/text.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

constexpr std::array kUpToRequest = {DeliveryStep::kHead,    DeliveryStep::kScope,  DeliveryStep::kChecks,
                                     DeliveryStep::kSecrets, DeliveryStep::kCommit, DeliveryStep::kPush,
                                     DeliveryStep::kRequest};

// Repeated after an update.
constexpr std::array kAfterUpdate = {DeliveryStep::kUpdate, DeliveryStep::kChecks, DeliveryStep::kPush,
                                     DeliveryStep::kRequest};

constexpr std::size_t kReasonBytes = 1'000;

constexpr std::string_view kComplete = "complete";  // as agent::to_string(agent::EndState::kComplete)

bool is_merging(DeliveryStep step) {
  return step == DeliveryStep::kUpdate || step == DeliveryStep::kMerge || step == DeliveryStep::kConfirm;
}

bool is_behind(const DeliveryStepResult& merge) {
  return !merge.passed &&
         std::ranges::any_of(merge.findings, [](const DeliveryFinding& one) { return one.cause == kBaseMoved; });
}

std::string first_finding(const DeliveryStepResult& done) {
  return done.findings.empty() ? std::string("it did not pass") : done.findings.front().summary;
}

// One walk over a whole run: the first thing that is not done yet is the next action. Each part returns nothing when it
// is done.
class Planner {
 public:
  Planner(const RunState& state, const RunSettings& settings, bool is_hosted)
      : state_(state), settings_(settings), is_hosted_(is_hosted) {}

  RunAction next() const {
    if (!state_.outcome.empty()) return Finished{};
    if (auto action = before_any_phase()) return *action;
    if (auto action = before_delivery()) return *action;
    for (int round = 0;; ++round) {
      if (auto action = in_round(round)) return *action;
    }
  }

 private:
  using Maybe = std::optional<RunAction>;

  Maybe before_any_phase() const {
    if (state_.stop_requested) {
      return EndRun{"stopped", state_.stop_reason.empty() ? "requested by " + state_.stop_by : state_.stop_reason};
    }
    if (auto ended = ended_by_answer()) return ended;
    if (state_.parked_until != 0) return WaitUntil{state_.parked_until};
    if (const RunQuestion* asked = state_.open_question()) return AwaitAnswer{*asked};
    if (!state_.escalations.empty()) {
      const Escalation& last = state_.escalations.back();
      if (question_after(last.seq, "escalation") == nullptr) return AskPerson{"escalation", last.reason};
    }
    if (!state_.route) return ChooseMode{};
    if (mode() == RunMode::kEscalate) return escalate("routing", 0, "it was routed to a person");
    if (mode() != RunMode::kFull && mode() != RunMode::kImplement) {
      return EndRun{"failed", fmt::format("this run does not support {}", to_string(mode()))};
    }
    if (state_.tree.path.empty()) return CreateWorkTree{};
    return std::nullopt;
  }

  // A question of the run itself that ended without an answer, or with one that ends the run.
  Maybe ended_by_answer() const {
    for (const RunQuestion& asked : state_.asked) {
      if (asked.choice.empty() || asked.question == "session") continue;
      if (asked.choice == "stop") {
        return EndRun{"stopped", fmt::format("requested by {} ({})", by(asked), asked.question)};
      }
      if (asked.choice == "restart")
        return EndRun{"abandoned", fmt::format("restarted as {} with the current ticket", restart_id(state_.id))};
      if (asked.choice.starts_with('(') && asked.choice != "(retried)" && asked.choice != "(lost)") {
        return EndRun{"escalated", fmt::format("the question about {} was left {}", asked.question, asked.choice)};
      }
    }
    return std::nullopt;
  }

  static std::string by(const RunQuestion& asked) { return asked.by.empty() ? "a person" : asked.by; }

  Maybe before_delivery() const {
    if (mode() == RunMode::kFull) {
      if (auto action = phase(Phase::kDiscovery, 0)) return action;
      if (auto action = phase(Phase::kShaping, 0)) return action;
    }
    if (state_.route->touches_ui) {
      if (auto action = designed()) return action;
    }
    return phase(Phase::kCoding, 0);
  }

  Maybe designed() const {
    if (auto action = phase(Phase::kDesign, 0)) return action;
    const PhaseRecord& record = *state_.newest(Phase::kDesign, 0);
    const RunQuestion* asked = question_after(record.ended_seq, "ui");
    if (asked == nullptr) return AskPerson{"ui", "the change affects a user interface"};
    if (asked->choice == "again") return begin(Phase::kDesign, 0, record.attempt + 1);
    return std::nullopt;
  }

  Maybe in_round(int round) const {
    if (round > 0) {
      if (auto action = phase(Phase::kFix, round)) return action;
    }
    // What was delivered before a lost phase was done again does not count.
    const PhaseRecord* made = state_.newest(round > 0 ? Phase::kFix : Phase::kCoding, round);
    const std::int64_t since = made == nullptr ? 0 : made->ended_seq;
    for (const DeliveryStep step : kUpToRequest) {
      if (all_findings_answered(round)) break;
      bool has_findings = false;
      if (auto action = deliver(step, round, has_findings, since)) return action;
      if (has_findings) return std::nullopt;
    }
    return reviewed(round);
  }

  // The fixer answered the findings without changing anything: the delivered state is reviewed again.
  bool all_findings_answered(int round) const {
    const RunState::DeliveryRecord* scope = state_.newest(DeliveryStep::kScope, round);
    if (scope == nullptr || scope->done.passed || requested_at(round - 1) == 0) return false;
    return std::ranges::all_of(scope->done.findings,
                               [](const DeliveryFinding& finding) { return finding.cause == "nothing_changed"; });
  }

  std::int64_t reviewed_at(int round) const {
    const PhaseRecord* review = state_.newest(Phase::kReview, round);
    return review == nullptr ? 0 : review->ended_seq;
  }

  // The event at which what is reviewed in this round was delivered.
  std::int64_t requested_at(int round) const {
    for (; round >= 0; --round) {
      const RunState::DeliveryRecord* made = state_.newest(DeliveryStep::kRequest, round);
      if (made != nullptr) return made->seq;
    }
    return 0;
  }

  // Nothing: the next round begins.
  Maybe reviewed(int round) const {
    if (auto action = phase(Phase::kReview, round)) return action;
    const PhaseRecord& review = *state_.newest(Phase::kReview, round);
    if (answer_after(review.ended_seq, "review", round) == "merge") return merged(round, true);
    const std::string verdict = verdict_of(review);
    if (verdict == "clean") return merged(round, false);
    const bool was_audited = std::ranges::any_of(state_.phases, [&](const PhaseRecord& record) {
      return record.phase == Phase::kAudit && record.round < round;
    });
    const int rounds = judged_by(review.policy).fix_rounds;
    if (!was_audited && verdict != "minor") {
      // Fix rounds are for minor findings: blocking ones are always audited, and fixed once more.
      if (auto action = phase(Phase::kAudit, round)) return action;
      if (rounds > 0) return std::nullopt;
    }
    if (!was_audited && verdict == "minor" && reviews_before(round) < rounds) return std::nullopt;
    return not_clean(round, review, was_audited || verdict != "minor" ? "audit-chain" : "fix-loop");
  }

  // Rounds started because of a review.
  int reviews_before(int round) const {
    int count = 0;
    for (int i = 0; i < round; ++i) {
      const PhaseRecord* review = state_.newest(Phase::kReview, i);
      count += review != nullptr && review->is_over && verdict_of(*review) != "clean" ? 1 : 0;
    }
    return count;
  }

  // Rounds started because scope, checks or secrets failed: they do not count against the review's rounds.
  int refusals_before(int round) const {
    std::set<int> rounds;
    for (const RunState::DeliveryRecord& made : state_.deliveries) {
      if (made.round < round && !made.done.passed && is_for_fixer(made) && !all_findings_answered(made.round)) {
        rounds.insert(made.round);
      }
    }
    return static_cast<int>(rounds.size());
  }

  Maybe not_clean(int round, const PhaseRecord& review, const std::string& label) const {
    const auto answer = answer_after(review.ended_seq, label, round);
    if (!answer) {
      return escalate(label, round,
                      fmt::format("the review is {} after {} of fixing", verdict_of(review),
                                  round == 1 ? "1 round" : fmt::format("{} rounds", round)));
    }
    if (*answer == "retry") return begin(Phase::kReview, round, review.attempt + 1);
    if (*answer == "merge") return merged(round, true);
    return std::nullopt;
  }

  // The base advanced during the run: it is merged into the branch, and the result is delivered like any change.
  Maybe brought_up_to_date(int round, bool& has_findings) const {
    const RunState::DeliveryRecord* update = state_.newest(DeliveryStep::kUpdate, round);
    const RunState::DeliveryRecord* merge = state_.newest(DeliveryStep::kMerge, round);
    const bool is_refused =
        merge != nullptr && (update == nullptr || update->seq < merge->seq) && is_behind(merge->done);
    if (is_refused && updates_since_answer() < limits::kUpdates) return DeliverStep{DeliveryStep::kUpdate, round};
    if (update == nullptr) return std::nullopt;
    for (const DeliveryStep step : kAfterUpdate) {
      if (auto action = deliver(step, round, has_findings, update->seq)) return action;
      if (has_findings) break;
    }
    return std::nullopt;
  }

  int updates_since_answer() const {
    std::int64_t answered = 0;
    for (const RunQuestion& asked : state_.asked) answered = std::max(answered, asked.decided_seq);
    return static_cast<int>(std::ranges::count_if(state_.deliveries, [&](const RunState::DeliveryRecord& made) {
      return made.step == DeliveryStep::kUpdate && made.seq > answered;
    }));
  }

  Maybe merged(int round, bool has_word) const {
    bool has_findings = false;
    if (auto action = brought_up_to_date(round, has_findings)) return action;
    if (has_findings) return std::nullopt;
    const RunState::DeliveryRecord* update = state_.newest(DeliveryStep::kUpdate, round);
    const std::int64_t since = update == nullptr ? 0 : update->seq;
    if (auto action = deliver(DeliveryStep::kRequestChecks, round, has_findings, since)) return action;
    if (has_findings) return std::nullopt;
    const MergePolicy policy = merge_policy(settings_, is_hosted_);
    if (policy == MergePolicy::kNever) return finished("requested", "the settings leave merging to people");
    const bool was_tried = state_.newest(DeliveryStep::kMerge, round) != nullptr;
    const bool is_agreed = has_word || (policy == MergePolicy::kAuto && !needs_confirmation());
    // A person who agreed before has not seen how the change alters the way the next one is judged.
    if (!was_tried && (!is_agreed || state_.newest_with_judges(round) != nullptr)) {
      const RunQuestion* asked = question_after(std::max(requested_at(round), reviewed_at(round)), "merge");
      if (asked == nullptr) return AskPerson{"merge", merge_reason(policy, round)};
      if (asked->choice == "leave") return finished("requested", fmt::format("{} left it open", by(*asked)));
      if (asked->choice == "fix") return std::nullopt;
    }
    for (const DeliveryStep step : {DeliveryStep::kMerge, DeliveryStep::kConfirm}) {
      if (auto action = deliver(step, round, has_findings, since)) return action;
    }
    const bool has_ticket = !state_.ticket.id.empty() || !state_.ticket.url.empty();
    if (has_ticket && state_.newest(DeliveryStep::kClose, round) == nullptr) {
      return DeliverStep{DeliveryStep::kClose, round};
    }
    return finished("merged", "");
  }

  // A change that needed a person or an audit never merges automatically.
  bool needs_confirmation() const { return !state_.escalations.empty() || state_.newest(Phase::kAudit) != nullptr; }

  std::string merge_reason(MergePolicy policy, int round) const {
    if (const RunState::DeliveryRecord* scope = state_.newest_with_judges(round)) {
      std::string files;
      for (const Value& judge : scope->done.facts["judges"].items()) {
        files += fmt::format("{}{} ({})", files.empty() ? "" : ", ", judge.string_at("file").value_or(""),
                             judge.string_at("why").value_or(""));
      }
      return shortened("it changes files that decide how later changes are judged: " + files, kReasonBytes);
    }
    if (policy == MergePolicy::kAsk) return "the settings ask before merging";
    return state_.escalations.empty() ? "a review had blocking findings" : "the change went through an escalation";
  }

  RunAction finished(std::string outcome, std::string reason) const {
    if (mode() == RunMode::kImplement && !state_.pitch_archived) return ArchivePitch{};
    return EndRun{std::move(outcome), std::move(reason)};
  }

  // Nothing: it ended well enough.
  Maybe phase(Phase phase, int round) const {
    const PhaseRecord* record = state_.newest(phase, round);
    if (record == nullptr) return begin(phase, round, 1);
    if (!record->is_over) return ContinuePhase{*record};
    if (record->is_lost) return begin(phase, round, record->attempt + 1);
    const std::string label(to_string(phase));
    if (record->state == kComplete) {
      if (record->result.kind == ResultKind::kFull) return std::nullopt;
      if (record->result.kind == ResultKind::kPartial) {
        const OnPartial on_partial = judged_by(record->policy).on_partial;
        if (on_partial == OnPartial::kProceed) return std::nullopt;
        if (on_partial == OnPartial::kRetryOnce) {
          return record->attempt == 1 ? begin(phase, round, 2) : Maybe();
        }
      }
    }
    const auto answer = answer_after(record->ended_seq, label, round);
    if (!answer) return escalate(label, round, why_not(*record));
    if (*answer == "retry") return begin(phase, round, record->attempt + 1);
    return std::nullopt;
  }

  static std::string why_not(const PhaseRecord& record) {
    if (record.state == kComplete) return record.result.why;
    return record.reason.empty() ? record.state : fmt::format("{}: {}", record.state, record.reason);
  }

  Maybe begin(Phase phase, int round, int attempt) const {
    if (state_.worked_ms > limits::kRunCutoffMs * times_granted(state_, "time")) {
      return escalate("time", round, fmt::format("agents have worked for {} minutes", state_.worked_ms / 60'000));
    }
    const agent::WorkLimits& budget = settings_.agents.limits;
    const int granted = times_granted(state_, "budget");
    if (budget.tokens > 0 && state_.usage().total() >= budget.tokens * granted) {
      return escalate("budget", round,
                      fmt::format("{} of {} tokens used", state_.usage().total(), budget.tokens * granted));
    }
    if (budget.micro_cents > 0 && state_.micro_cents() >= budget.micro_cents * granted) {
      return escalate("budget", round,
                      fmt::format("the run has cost {} of {}", agent::dollars(state_.micro_cents()),
                                  agent::dollars(budget.micro_cents * granted)));
    }
    return StartPhase{phase, round, attempt};
  }

  // Nothing: it passed, or it has findings for the next round. Steps before `since` do not count.
  Maybe deliver(DeliveryStep step, int round, bool& has_findings, std::int64_t since = 0) const {
    const RunState::DeliveryRecord* made = state_.newest(step, round);
    if (made == nullptr || made->seq < since) return DeliverStep{step, round};
    if (made->done.passed) return std::nullopt;
    const std::string label = is_merging(step) ? "merge" : "delivery";
    const auto answer = answer_after(made->seq, label, round);
    if (answer == "retry") return DeliverStep{step, round};
    if (answer == "accept") return std::nullopt;
    if (answer == "leave") return finished("requested", "left open after the forge refused to merge");
    const bool has_rounds = refusals_before(round) < judged_by(made->policy).fix_rounds;
    if (is_for_fixer(*made) && (has_rounds || answer == "fix")) {
      has_findings = true;
      return std::nullopt;
    }
    return escalate(label, round, fmt::format("{}: {}", to_string(step), first_finding(made->done)));
  }

  Policy judged_by(const std::optional<Policy>& recorded) const { return recorded.value_or(policy_of(settings_)); }

  static RunAction escalate(std::string label, int round, std::string reason) {
    return Escalate{std::move(label), std::move(reason), round};
  }

  RunMode mode() const {
    if (state_.route->mode != RunMode::kEscalate) return state_.route->mode;
    return answer_after(0, "routing", 0) == "full" ? RunMode::kFull : RunMode::kEscalate;
  }

  const RunQuestion* question_after(std::int64_t seq, std::string_view question) const {
    const auto found = std::ranges::find_if(
        state_.asked, [&](const RunQuestion& asked) { return asked.seq > seq && asked.question == question; });
    return found == state_.asked.end() ? nullptr : &*found;
  }

  std::string answer_to(const Escalation& one) const {
    const RunQuestion* asked = question_after(one.seq, "escalation");
    return asked == nullptr ? std::string() : asked->choice;
  }

  // The answer to the escalation after that event; nothing: there was none.
  std::optional<std::string> answer_after(std::int64_t seq, std::string_view label, int round) const {
    for (const Escalation& one : state_.escalations) {
      if (one.seq > seq && one.phase == label && one.round == round) return answer_to(one);
    }
    return std::nullopt;
  }

  const RunState& state_;
  const RunSettings& settings_;
  bool is_hosted_;
};

}  // namespace

RunAction next_action(const RunState& state, const RunSettings& settings, bool is_hosted) {
  return Planner(state, settings, is_hosted).next();
}

int times_granted(const RunState& state, std::string_view what) {
  int granted = 1;
  for (const Escalation& one : state.escalations) {
    if (one.phase != what) continue;
    const auto asked = std::ranges::find_if(state.asked, [&](const RunQuestion& question) {
      return question.seq > one.seq && question.question == "escalation";
    });
    if (asked != state.asked.end() && asked->choice == "retry") ++granted;
  }
  return granted;
}

MergePolicy merge_policy(const RunSettings& settings, bool is_hosted) {
  return settings.merge.value_or(is_hosted ? MergePolicy::kAsk : MergePolicy::kAuto);
}

Policy policy_of(const RunSettings& settings) {
  return {settings.on_partial, settings.fix_rounds};
}

std::string verdict_of(const PhaseRecord& review) {
  return review.result.kind == ResultKind::kFull ? verdict_in(review.result.artifact) : "unknown";
}

std::string verdict_in(const Value& artifact) {
  const Value& findings = artifact["findings"];
  const auto blocks = [](const Value& finding) {
    return finding.string_at("severity") == "critical" || finding.string_at("severity") == "major";
  };
  if (findings.is_array() && std::ranges::any_of(findings.items(), blocks)) return "blocking";
  const std::string verdict = artifact.string_at("verdict").value_or("");
  return verdict == "clean" || verdict == "minor" || verdict == "blocking" ? verdict : "unknown";
}

const Value* worst_verdict(const std::vector<Value>& verdicts) {
  const auto badness = [](const Value& artifact) {
    const std::string verdict = verdict_in(artifact);
    return verdict == "clean" ? 0 : verdict == "minor" ? 1 : 2;
  };
  const auto worst = std::ranges::max_element(verdicts, {}, badness);
  return worst == verdicts.end() ? nullptr : &*worst;
}

}  // namespace sb::pipeline

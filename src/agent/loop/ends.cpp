// When the loop ends, and the hints that the agent gets before.
#include <fmt/format.h>

#include "agent/loop/agent_loop.hpp"
#include "agent/model/prices.hpp"

namespace sb::agent {
namespace {

constexpr int kNudges = 2;      // hints to continue before the session ends as stopped_early
constexpr int kCutReplies = 5;  // in a row
constexpr std::int64_t kOutageRetryMs = 60'000;

}  // namespace

std::optional<WorkResult> AgentLoop::log_retry(const ModelError& error, std::int64_t at_ms) {
  const std::string why = work_context_.redactor.clean(error.error.to_string());
  Value payload = Value::object({{"turn", work_context_.turn},
                                 {"kind", to_string(error.kind)},
                                 {"reason", why},
                                 {"model", chosen_.model->name()}});
  if (at_ms > 0) payload.set("until", at_ms);
  if (at_ms > 0 && error.retry_after_ms) payload.set("told", true);
  if (error.usage.total() > 0) {
    payload.set("usage", to_value(error.usage));
    payload.set("cost", cost_of(*chosen_.settings, error.usage));
  }
  Batch batch;
  batch.entries.push_back({"setback", std::move(payload)});
  if (at_ms > 0) work_context_.report(Progress::Kind::kWait, why, step_, at_ms);
  return commit(batch);
}

std::optional<WorkResult> AgentLoop::model_failed(const ModelError& error) {
  if (error.usage.total() > 0) {
    if (auto broke = log_retry(error, 0)) return broke;
  }
  if (auto end = work_context_.watchdog.end()) return finish(std::move(*end));
  const std::string why = work_context_.redactor.clean(error.error.to_string());
  // A reply that could not be stored does not count: the session has not ended, and continues once there is space
  // again.
  if (error.error.code == ErrorCode::kIo) return with_totals({.state = EndState::kInternalError, .reason = why});
  if (error.is_retryable()) {
    WorkResult ended = work_result(EndState::kOutage, why);
    ended.retry_at_ms = work_context_.parts.seams.clock.now_ms() + error.retry_after_ms.value_or(kOutageRetryMs);
    ended.is_retry_after = error.retry_after_ms.has_value();
    return suspend(std::move(ended));
  }
  switch (error.kind) {
    case ModelError::Kind::kContextTooLong:
      if (was_compacted_) return finish(work_result(EndState::kModelFailed, why));
      was_compacted_ = true;
      return compact("it exceeded the model's context window");
    case ModelError::Kind::kBudget:
      return finish(work_result(EndState::kMoneyLimit, why));
    case ModelError::Kind::kStopped:
      // From a recording, which has the interruption but not its cause. Otherwise only the watchdog interrupts a
      // request.
      return finish(stalled(work_context_.limits));
    default:
      return finish(work_result(EndState::kModelFailed, fmt::format("{}: {}", to_string(error.kind), why)));
  }
}

std::optional<WorkResult> AgentLoop::limit_reached() {
  const WorkLimits& limits = work_context_.limits;
  if (transcript_.turns() >= limits.turns) {
    return finish(work_result(EndState::kTurnLimit, fmt::format("turn limit of {} reached", limits.turns)));
  }
  if (transcript_.advances() == 0 && limits.turns >= 5 && transcript_.turns() * 10 >= limits.turns * 8) {
    return finish(work_result(EndState::kNoProgress, fmt::format("{} of {} turns used without completing a step",
                                                                 transcript_.turns(), limits.turns)));
  }
  if (auto end = over_budget(transcript_.spent(), transcript_.spent_micro_cents(), limits))
    return finish(std::move(*end));
  if (transcript_.repeats() >= limits.repeats && transcript_.was_warned_of_repeating() &&
      transcript_.repeats() > limits.repeats) {
    return finish(work_result(
        EndState::kRepeating,
        fmt::format("the same call was repeated {} times in a row with the same result", transcript_.repeats())));
  }
  if (transcript_.early_stops() > kNudges) {
    return finish(work_result(EndState::kStoppedEarly,
                              "the agent stopped before the workflow was complete and ignored the reminders"));
  }
  if (transcript_.cut_replies() > kCutReplies) {
    return finish(work_result(EndState::kStoppedEarly,
                              fmt::format("{} replies in a row exceeded the length limit", transcript_.cut_replies())));
  }
  return std::nullopt;
}

void AgentLoop::add_nudges(Batch& batch) {
  const auto say = [&](std::string_view why, std::string_view text) {
    batch.entries.push_back({"nudged", Value::object({{"turn", transcript_.turn()}, {"why", why}, {"text", text}})});
    work_context_.report(Progress::Kind::kNudge, std::string(why), step_);
  };
  const bool has_message = transcript_.has_something_to_say();
  if (!has_message && transcript_.cut_replies() > 0) {
    say("cut", "Your reply was cut off because it was too long. Continue where it ended, in smaller pieces.");
  } else if (!has_message) {
    say("stopped_early",
        "The workflow is not complete. Continue with the open step and submit it with complete_step. If you need "
        "something that only a person knows, use ask; if the step cannot be done, say so in its notes.");
  }
  if (transcript_.repeats() >= work_context_.limits.repeats && !transcript_.was_warned_of_repeating()) {
    say("repeating", "You made the same call several times and got the same result. Try something else.");
  }
}

WorkResult AgentLoop::with_totals(WorkResult ended) {
  ended.usage = transcript_.usage();
  ended.micro_cents = transcript_.micro_cents();
  ended.turns = transcript_.turn();
  return ended;
}

WorkResult AgentLoop::suspend(WorkResult ended) {
  const bool waits = ended.state == EndState::kAwaiting;
  if (!waits && ended.state != EndState::kOutage) return finish(std::move(ended));
  // Resumed and still waiting: already logged.
  const bool is_known = waits ? transcript_.awaited() == ended.decision
                              : transcript_.has_suspended() && transcript_.waits_until() == ended.retry_at_ms;
  if (is_known) return with_totals(std::move(ended));
  Batch batch;
  if (waits) {
    batch.entries.push_back({"awaiting", Value::object({{"turn", transcript_.turn()}, {"decision", ended.decision}})});
  } else {
    batch.entries.push_back({"parked", Value::object({{"turn", transcript_.turn()},
                                                      {"reason", ended.reason},
                                                      {"until", ended.retry_at_ms},
                                                      {"model", chosen_.model->name()},
                                                      {"told", ended.is_retry_after}})});
  }
  if (auto broke = commit(batch)) return std::move(*broke);
  return with_totals(std::move(ended));
}

WorkResult AgentLoop::finish(WorkResult ended, Batch batch) {
  ended = with_totals(std::move(ended));
  const bool was_interrupted = ended.state == EndState::kKilled && ended.reason.empty();
  if (was_interrupted || ended.state == EndState::kInternalError) return ended;
  batch.entries.push_back({"ended", Value::object({{"state", to_string(ended.state)},
                                                   {"reason", ended.reason},
                                                   {"usage", to_value(ended.usage)},
                                                   {"cost", ended.micro_cents},
                                                   {"turns", ended.turns},
                                                   {"ms", work_context_.watchdog.worked_ms()}})});
  if (auto broke = commit(batch)) return std::move(*broke);
  work_context_.report(Progress::Kind::kEnded, std::string(to_string(ended.state)), step_);
  return ended;
}

}  // namespace sb::agent

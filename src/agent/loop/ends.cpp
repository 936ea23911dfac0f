// When the loop is over, and what is said before it comes to that.
#include <fmt/format.h>

#include "agent/loop/agent_loop.hpp"
#include "agent/model/prices.hpp"

namespace sb::agent {
namespace {

constexpr int kNudges = 2;      // to go on, before an agent that stops has stopped early
constexpr int kCutReplies = 5;  // in a row
constexpr std::int64_t kOutageRetryMs = 60'000;

}  // namespace

std::optional<Ended> Loop::keep_setback(const ModelError& error, std::int64_t at_ms) {
  const std::string why = duty_.redactor.clean(error.error.to_string());
  Value payload = Value::object(
      {{"turn", duty_.turn}, {"kind", to_string(error.kind)}, {"reason", why}, {"model", chosen_.model->name()}});
  if (at_ms > 0) payload.set("until", at_ms);
  if (at_ms > 0 && error.retry_after_ms) payload.set("told", true);
  if (error.usage.total() > 0) {
    payload.set("usage", to_value(error.usage));
    payload.set("cost", cost_of(*chosen_.settings, error.usage));
  }
  Batch batch;
  batch.entries.push_back({"setback", std::move(payload)});
  if (at_ms > 0) duty_.tell(Progress::Kind::kWait, why, step_, at_ms);
  return keep(batch);
}

std::optional<Ended> Loop::model_failed(const ModelError& error) {
  if (error.usage.total() > 0) {
    if (auto broke = keep_setback(error, 0)) return broke;
  }
  if (auto end = duty_.watch.end()) return finish(std::move(*end));
  const std::string why = duty_.redactor.clean(error.error.to_string());
  // What could not be kept is no answer of the model's: nothing has ended, and it goes on once there is room again.
  if (error.error.code == ErrorCode::kIo) return with_totals({.state = EndState::kBroke, .reason = why});
  if (error.retry_helps()) {
    Ended ended = ended_as(EndState::kOutage, why);
    ended.retry_at_ms = duty_.parts.seams.clock.now_ms() + error.retry_after_ms.value_or(kOutageRetryMs);
    ended.is_told = error.retry_after_ms.has_value();
    return leave(std::move(ended));
  }
  switch (error.kind) {
    case ModelError::Kind::kTooLong:
      if (was_compacted_) return finish(ended_as(EndState::kModelFailed, why));
      was_compacted_ = true;
      return compact("it was longer than the model takes");
    case ModelError::Kind::kBudget:
      return finish(ended_as(EndState::kMoneyLimit, why));
    case ModelError::Kind::kStopped:
      // Of a recording: that it was broken off is on it, and not why. Nothing else breaks off without the watch's word.
      return finish(stalled(duty_.limits));
    default:
      return finish(ended_as(EndState::kModelFailed, fmt::format("{}: {}", to_string(error.kind), why)));
  }
}

std::optional<Ended> Loop::limit_reached() {
  const WorkLimits& limits = duty_.limits;
  if (course_.turns() >= limits.turns) {
    return finish(ended_as(EndState::kTurnLimit, fmt::format("{} turns are used up", limits.turns)));
  }
  if (course_.advances() == 0 && limits.turns >= 5 && course_.turns() * 10 >= limits.turns * 8) {
    return finish(ended_as(EndState::kNoProgress, fmt::format("{} of {} turns are used and no step is delivered",
                                                              course_.turns(), limits.turns)));
  }
  if (auto end = over_budget(course_.spent(), course_.spent_micro_cents(), limits)) return finish(std::move(*end));
  if (course_.repeats() >= limits.repeats && course_.was_told_of_repeating() && course_.repeats() > limits.repeats) {
    return finish(
        ended_as(EndState::kRepeating,
                 fmt::format("the same call was made {} times in a row, with the same result", course_.repeats())));
  }
  if (course_.early_stops() > kNudges) {
    return finish(ended_as(EndState::kStoppedEarly,
                           "the agent stopped before the workflow was complete, and did not go on when told to"));
  }
  if (course_.cut_replies() > kCutReplies) {
    return finish(ended_as(EndState::kStoppedEarly,
                           fmt::format("{} replies in a row were longer than allowed", course_.cut_replies())));
  }
  return std::nullopt;
}

void Loop::add_nudges(Batch& batch) {
  const auto say = [&](std::string_view why, std::string_view text) {
    batch.entries.push_back({"nudged", Value::object({{"turn", course_.turn()}, {"why", why}, {"text", text}})});
    duty_.tell(Progress::Kind::kNudge, std::string(why), step_);
  };
  const bool is_told = course_.has_something_to_say();
  if (!is_told && course_.cut_replies() > 0) {
    say("cut", "Your reply was cut off because it was too long. Go on where it ended, in smaller pieces.");
  } else if (!is_told) {
    say("stopped_early",
        "The workflow is not complete. Go on with the open step and deliver it with complete_step. If something that "
        "only a "
        "person can know is missing, use ask; if the step cannot be done, say so in its notes.");
  }
  if (course_.repeats() >= duty_.limits.repeats && !course_.was_told_of_repeating()) {
    say("repeating",
        "You made the same call several times and got the same result. Do something else: it will not change.");
  }
}

Ended Loop::with_totals(Ended ended) {
  ended.usage = course_.usage();
  ended.micro_cents = course_.micro_cents();
  ended.turns = course_.turn();
  return ended;
}

Ended Loop::leave(Ended ended) {
  const bool waits = ended.state == EndState::kAwaiting;
  if (!waits && ended.state != EndState::kOutage) return finish(std::move(ended));
  // Come back and still waiting: the record has it already.
  const bool is_known =
      waits ? course_.awaited() == ended.decision : course_.has_left() && course_.waits_until() == ended.retry_at_ms;
  if (is_known) return with_totals(std::move(ended));
  Batch batch;
  if (waits) {
    batch.entries.push_back({"awaiting", Value::object({{"turn", course_.turn()}, {"decision", ended.decision}})});
  } else {
    batch.entries.push_back({"parked", Value::object({{"turn", course_.turn()},
                                                      {"reason", ended.reason},
                                                      {"until", ended.retry_at_ms},
                                                      {"model", chosen_.model->name()},
                                                      {"told", ended.is_told}})});
  }
  if (auto broke = keep(batch)) return std::move(*broke);
  return with_totals(std::move(ended));
}

Ended Loop::finish(Ended ended, Batch batch) {
  ended = with_totals(std::move(ended));
  const bool is_left_off = ended.state == EndState::kKilled && ended.reason.empty();
  if (is_left_off || ended.state == EndState::kBroke) return ended;
  batch.entries.push_back({"ended", Value::object({{"state", to_string(ended.state)},
                                                   {"reason", ended.reason},
                                                   {"usage", to_value(ended.usage)},
                                                   {"cost", ended.micro_cents},
                                                   {"turns", ended.turns},
                                                   {"ms", duty_.watch.worked_ms()}})});
  if (auto broke = keep(batch)) return std::move(*broke);
  duty_.tell(Progress::Kind::kEnded, std::string(to_string(ended.state)), step_);
  return ended;
}

}  // namespace sb::agent

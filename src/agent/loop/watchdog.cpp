#include "agent/loop/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sb::agent {
namespace {

constexpr std::int64_t kWatchdogMs = 300;
constexpr std::int64_t kPauseMs = 200;

Ended ended_by(EndState state, std::string_view what, const Wishes& wishes) {
  Ended ended;
  ended.state = state;
  ended.reason = fmt::format("{}{}{}", what, wishes.by.empty() ? "" : fmt::format(" by {}", wishes.by),
                             wishes.reason.empty() ? "" : fmt::format(": {}", wishes.reason));
  return ended;
}

}  // namespace

Watch::Watch(AgentLog& log, Clock& clock, const WorkLimits& limits, std::int64_t worked_ms, std::function<bool()> above)
    : log_(log),
      clock_(clock),
      limits_(limits),
      above_(std::move(above)),
      worked_before_ms_(worked_ms),
      started_ms_(clock.now_ms()),
      alive_ms_(started_ms_) {}

void Watch::alive() {
  const std::scoped_lock lock(mutex_);
  alive_ms_ = clock_.now_ms();
}

void Watch::expects_life(bool expects) {
  const std::scoped_lock lock(mutex_);
  expects_life_ = expects;
  alive_ms_ = clock_.now_ms();
}

void Watch::has_followed(std::int64_t seq, const Wishes& wishes) {
  const std::scoped_lock lock(mutex_);
  seq_ = seq;
  is_paused_ = wishes.is_paused;
  if (wishes.is_killed && !end_) end_ = ended_by(EndState::kKilled, "killed", wishes);
  if (wishes.is_taken_over && !end_) end_ = ended_by(EndState::kTakenOver, "taken over", wishes);
}

// Only what came since the course was followed: a wish does not undo one that stands there.
void Watch::look(bool now) {
  const std::int64_t time = clock_.now_ms();
  if (!now && time - looked_ms_ < kWatchdogMs) return;
  looked_ms_ = time;
  if (above_ && !above_() && !end_) end_ = Ended{.state = EndState::kKilled, .reason = ""};
  const auto events = log_.read(seq_ + 1);
  if (!events) return;  // whoever appends next says so
  const Wishes wishes = wishes_in(*events);
  for (const LoggedEvent& event : *events) {
    if (event.type == "pause_asked") is_paused_ = true;
    if (event.type == "go_on_asked" || event.type == "retried") is_paused_ = false;
  }
  judge(wishes);
}

void Watch::judge(const Wishes& wishes) {
  if (end_) return;
  if (wishes.is_killed) end_ = ended_by(EndState::kKilled, "killed", wishes);
  if (wishes.is_taken_over && !end_) end_ = ended_by(EndState::kTakenOver, "taken over", wishes);
}

bool Watch::keeps_going() {
  const std::scoped_lock lock(mutex_);
  if (end_) return false;
  look(false);
  if (end_) return false;
  const std::int64_t now = clock_.now_ms();
  if (expects_life_ && limits_.stall_ms > 0 && now - alive_ms_ >= limits_.stall_ms) {
    end_ = stalled(limits_);
  }
  const std::int64_t worked = worked_before_ms_ + now - started_ms_ - paused_ms_;
  if (!end_ && limits_.time_ms > 0 && worked >= limits_.time_ms) {
    end_ = Ended{.state = EndState::kTimeLimit,
                 .reason = fmt::format("it has worked for {} s, as long as it may", worked / 1'000)};
  }
  return !end_;
}

std::optional<Ended> Watch::end() {
  if (keeps_going()) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  return end_;
}

bool Watch::is_paused() {
  const std::scoped_lock lock(mutex_);
  return is_paused_;
}

void Watch::wait_while_paused() {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      look(true);
      if (end_ || !is_paused_) return;
    }
    // Others look meanwhile whether to go on.
    const std::int64_t from = clock_.now_ms();
    clock_.sleep_ms(kPauseMs);
    const std::scoped_lock lock(mutex_);
    paused_ms_ += clock_.now_ms() - from;
  }
}

std::int64_t Watch::worked_ms() {
  const std::scoped_lock lock(mutex_);
  return worked_before_ms_ + clock_.now_ms() - started_ms_ - paused_ms_;
}

std::int64_t Watch::left_ms() {
  const std::int64_t worked = worked_ms();
  return limits_.time_ms <= 0 ? 0 : std::max<std::int64_t>(limits_.time_ms - worked, 1);
}

Ended stalled(const WorkLimits& limits) {
  return {.state = EndState::kStalled,
          .reason = fmt::format("no sign of life from the model for {} s", limits.stall_ms / 1'000)};
}

}  // namespace sb::agent

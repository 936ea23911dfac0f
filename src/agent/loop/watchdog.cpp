#include "agent/loop/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sb::agent {
namespace {

constexpr std::int64_t kWatchdogMs = 300;
constexpr std::int64_t kPauseMs = 200;

WorkResult ended_by(EndState state, std::string_view what, const ControlRequests& requests) {
  WorkResult ended;
  ended.state = state;
  ended.reason = fmt::format("{}{}{}", what, requests.by.empty() ? "" : fmt::format(" by {}", requests.by),
                             requests.reason.empty() ? "" : fmt::format(": {}", requests.reason));
  return ended;
}

}  // namespace

Watchdog::Watchdog(AgentLog& log, Clock& clock, const WorkLimits& limits, std::int64_t worked_ms,
                   std::function<bool()> above)
    : log_(log),
      clock_(clock),
      limits_(limits),
      parent_continues_(std::move(above)),
      worked_before_ms_(worked_ms),
      started_ms_(clock.now_ms()),
      active_ms_(started_ms_) {}

void Watchdog::note_activity() {
  const std::scoped_lock lock(mutex_);
  active_ms_ = clock_.now_ms();
}

void Watchdog::expect_activity(bool expects) {
  const std::scoped_lock lock(mutex_);
  expects_activity_ = expects;
  active_ms_ = clock_.now_ms();
}

void Watchdog::mark_seen(std::int64_t seq, const ControlRequests& requests) {
  const std::scoped_lock lock(mutex_);
  seq_ = seq;
  is_paused_ = requests.is_paused;
  if (requests.is_killed && !end_) end_ = ended_by(EndState::kKilled, "killed", requests);
  if (requests.is_taken_over && !end_) end_ = ended_by(EndState::kTakenOver, "taken over", requests);
}

// Only events since the transcript was read: a request does not undo one made there.
void Watchdog::poll(bool now) {
  const std::int64_t time = clock_.now_ms();
  if (!now && time - polled_ms_ < kWatchdogMs) return;
  polled_ms_ = time;
  if (parent_continues_ && !parent_continues_() && !end_) end_ = WorkResult{.state = EndState::kKilled, .reason = ""};
  const auto events = log_.read(seq_ + 1);
  if (!events) return;  // the next append reports the error
  const ControlRequests requests = control_requests_in(*events);
  for (const LoggedEvent& event : *events) {
    if (event.type == "pause_asked") is_paused_ = true;
    if (event.type == "go_on_asked" || event.type == "retried") is_paused_ = false;
  }
  apply_requests(requests);
}

void Watchdog::apply_requests(const ControlRequests& requests) {
  if (end_) return;
  if (requests.is_killed) end_ = ended_by(EndState::kKilled, "killed", requests);
  if (requests.is_taken_over && !end_) end_ = ended_by(EndState::kTakenOver, "taken over", requests);
}

bool Watchdog::should_continue() {
  const std::scoped_lock lock(mutex_);
  if (end_) return false;
  poll(false);
  if (end_) return false;
  const std::int64_t now = clock_.now_ms();
  if (expects_activity_ && limits_.stall_ms > 0 && now - active_ms_ >= limits_.stall_ms) {
    end_ = stalled(limits_);
  }
  const std::int64_t worked = worked_before_ms_ + now - started_ms_ - paused_ms_;
  if (!end_ && limits_.time_ms > 0 && worked >= limits_.time_ms) {
    end_ =
        WorkResult{.state = EndState::kTimeLimit, .reason = fmt::format("time limit of {} s reached", worked / 1'000)};
  }
  return !end_;
}

std::optional<WorkResult> Watchdog::end() {
  if (should_continue()) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  return end_;
}

bool Watchdog::is_paused() {
  const std::scoped_lock lock(mutex_);
  return is_paused_;
}

void Watchdog::wait_while_paused() {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      poll(true);
      if (end_ || !is_paused_) return;
    }
    // Other threads check meanwhile whether to continue.
    const std::int64_t from = clock_.now_ms();
    clock_.sleep_ms(kPauseMs);
    const std::scoped_lock lock(mutex_);
    paused_ms_ += clock_.now_ms() - from;
  }
}

std::int64_t Watchdog::worked_ms() {
  const std::scoped_lock lock(mutex_);
  return worked_before_ms_ + clock_.now_ms() - started_ms_ - paused_ms_;
}

std::int64_t Watchdog::left_ms() {
  const std::int64_t worked = worked_ms();
  return limits_.time_ms <= 0 ? 0 : std::max<std::int64_t>(limits_.time_ms - worked, 1);
}

WorkResult stalled(const WorkLimits& limits) {
  return {.state = EndState::kStalled,
          .reason = fmt::format("no response from the model for {} s", limits.stall_ms / 1'000)};
}

}  // namespace sb::agent

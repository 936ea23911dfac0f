#include "agent/programs/program_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/limits.hpp"
#include "agent/model/prices.hpp"
#include "agent/model/provider.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

constexpr std::int64_t kFarewellMs = 30'000;  // for a program that has nothing left to do
constexpr int kFarewellTurns = 3;
constexpr std::int64_t kProxyOutageRetryMs = 60'000;  // where the provider did not say how long

using Kind = ModelError::Kind;

std::int64_t cost_at(const ModelSettings* model, const Usage& usage) {
  return model == nullptr ? 0 : cost_of(*model, usage);
}

ModelError not_allowed(Kind kind, std::string message) {
  return {kind, {ErrorCode::kForbidden, std::move(message), {}, {}}, {}};
}

}  // namespace

LedSession::LedSession(const CommandParts& parts, const ModelSettings* upstream, std::string sandbox)
    : parts_(parts), upstream_(upstream), sandbox_(std::move(sandbox)), duty_(own_duty()), tools_(duty_) {
  last_life_ms_ = now();
}

// The tools work on other threads than whoever looks on is told on.
Duty LedSession::own_duty() {
  Duty duty = parts_.duty;
  duty.on_progress = [this](const Progress& progress) {
    const std::scoped_lock lock(mutex_);
    if (told_.size() < 1'000) told_.push_back(progress);
  };
  duty.left = [this] {
    const std::scoped_lock lock(mutex_);
    return parts_.duty.left();
  };
  duty.totals = [this] {
    const std::scoped_lock lock(mutex_);
    return parts_.duty.totals();
  };
  return duty;
}

TimestampMs LedSession::now() const {
  return parts_.duty.parts.seams.clock.now_ms();
}

Status LedSession::prepare() {
  const StaffParts& staff = parts_.duty.parts;
  const Assignment& assignment = parts_.duty.assignment;
  if (upstream_ != nullptr && upstream_->provider == ModelSettings::Provider::kScripted) {
    scripted_ = SB_TRY(make_model(*upstream_, {.seams = staff.seams,
                                               .http = staff.http,
                                               .store = staff.desk.desk().store(),
                                               .run = assignment.run.empty() ? assignment.session : assignment.run,
                                               .used = parts_.used}));
  }
  for (const LoggedEvent& event : SB_TRY(parts_.duty.log.read())) {
    if (event.type == "tool_started" || event.type == "tool_ended") ++calls_;
  }
  return {};
}

Status LedSession::follow() {
  Course& course = parts_.course;
  for (const LoggedEvent& event : SB_TRY(parts_.duty.log.read(course.seq() + 1))) {
    SB_TRY(course.follow(event, [this](std::string_view hex) { return parts_.duty.log.blob(hex); }));
  }
  parts_.duty.watch.has_followed(course.seq(), course.wishes());
  return {};
}

Status LedSession::keep(std::vector<AgentLog::Entry> entries, std::vector<AgentLog::Row> rows) {
  SB_TRY(parts_.duty.log.append(std::move(entries), std::move(rows)));
  return follow();
}

void LedSession::decide(Ended ended) {
  if (!verdict_) verdict_ = std::move(ended);
}

std::optional<Ended> LedSession::verdict() {
  const std::scoped_lock lock(mutex_);
  if (verdict_) return verdict_;
  return parts_.duty.watch.end();
}

std::optional<Ended> LedSession::rested() {
  const std::scoped_lock lock(mutex_);
  over_at_ms_ = 0;
  turns_after_end_ = 0;
  return std::exchange(left_, std::nullopt);
}

Ended LedSession::ended_by(const ModelError& failure) const {
  const std::string why = parts_.duty.redactor.clean(failure.error.to_string());
  if (!failure.retry_helps()) {
    return ended_as(EndState::kModelFailed, fmt::format("{}: {}", to_string(failure.kind), why));
  }
  Ended ended = ended_as(EndState::kOutage, why);
  ended.retry_at_ms = retry_at_ms_;
  ended.is_told = failure.retry_after_ms.has_value();
  return ended;
}

std::optional<Ended> LedSession::outage() {
  const std::scoped_lock lock(mutex_);
  if (!last_failure_ || last_failure_->kind == Kind::kStopped) return std::nullopt;
  return ended_by(*last_failure_);
}

Ended LedSession::finish(Ended ended) {
  const std::scoped_lock lock(mutex_);
  const Ended totals = parts_.duty.totals();
  ended.usage = totals.usage;
  ended.micro_cents = totals.micro_cents;
  ended.turns = totals.turns;
  const bool is_left_off = ended.state == EndState::kKilled && ended.reason.empty();
  if (is_left_off || ended.state == EndState::kBroke) return ended;
  const int turn = parts_.course.turn();
  AgentLog::Entry last;
  if (ended.state == EndState::kAwaiting) {
    last = {"awaiting", Value::object({{"turn", turn}, {"decision", ended.decision}})};
  } else if (ended.state == EndState::kOutage) {
    last = {"parked", Value::object({{"turn", turn},
                                     {"reason", ended.reason},
                                     {"until", ended.retry_at_ms},
                                     {"model", upstream_ == nullptr ? "" : upstream_->name},
                                     {"told", ended.is_told}})};
  } else {
    last = {"ended", Value::object({{"state", to_string(ended.state)},
                                    {"reason", ended.reason},
                                    {"usage", to_value(ended.usage)},
                                    {"cost", ended.micro_cents},
                                    {"turns", ended.turns},
                                    {"ms", parts_.duty.watch.worked_ms()}})};
  }
  if (const Status kept = keep({std::move(last)}); !kept) {
    ended.state = EndState::kBroke;
    ended.reason = kept.error().to_string();
  }
  parts_.duty.tell(Progress::Kind::kEnded, std::string(to_string(ended.state)), step_);
  return ended;
}

void LedSession::sign_of_life() {
  last_life_ms_ = now();
  parts_.duty.watch.alive();
}

bool LedSession::keeps_going() {
  std::vector<Progress> told;
  bool goes_on = true, is_waiting = false;
  {
    const std::scoped_lock lock(mutex_);
    told.swap(told_);
    is_waiting = last_failure_ && last_failure_->retry_helps() && now() < retry_at_ms_;
    const bool has_stayed = over_at_ms_ != 0 && now() - over_at_ms_ > kFarewellMs;
    goes_on = !verdict_ && !has_stayed;
  }
  // A tool of ours has limits of its own, and so has one of the program's; who is held, or waits for its provider, does
  // not stall.
  const bool is_at_work = is_at_tools_ && now() - last_life_ms_ < limits::kBashMs;
  if (calls_running_ > 0 || held_ > 0 || is_at_work || is_waiting) parts_.duty.watch.alive();
  for (const Progress& progress : told) {
    if (parts_.duty.on_progress) parts_.duty.on_progress(progress);
  }
  return parts_.duty.watch.keeps_going() && goes_on;
}

std::optional<Ended> LedSession::over_limits() {
  const WorkLimits& limits = parts_.duty.limits;
  const Course& course = parts_.course;
  if (course.turns() >= limits.turns) {
    return ended_as(EndState::kTurnLimit, fmt::format("{} turns are used up", limits.turns));
  }
  if (course.advances() == 0 && limits.turns >= 5 && course.turns() * 10 >= limits.turns * 8) {
    return ended_as(EndState::kNoProgress,
                    fmt::format("{} of {} turns are used and no step is delivered", course.turns(), limits.turns));
  }
  return over_budget(course.spent(), course.spent_micro_cents(), limits);
}

std::optional<ModelError> LedSession::refusal(const std::function<bool()>&) {
  ++held_;
  parts_.duty.watch.wait_while_paused();
  --held_;
  sign_of_life();
  is_at_tools_ = false;
  const std::scoped_lock lock(mutex_);
  if (const auto end = parts_.duty.watch.end()) return not_allowed(Kind::kStopped, "the session was ended");
  if (over_at_ms_ != 0 && turns_after_end_ >= kFarewellTurns) {
    return not_allowed(Kind::kStopped, "nothing is left to do in this session");
  }
  if (over_at_ms_ != 0) return std::nullopt;
  if (auto over = over_limits()) decide(std::move(*over));
  if (verdict_) return not_allowed(Kind::kBudget, verdict_->reason);
  return std::nullopt;
}

std::optional<ModelReply> LedSession::farewell() {
  const std::scoped_lock lock(mutex_);
  if (over_at_ms_ == 0) return std::nullopt;
  ++turns_after_end_;
  const Value text = Value::object({{"type", "text"}, {"text", "I end my turn here."}});
  return ModelReply{.content = {text}, .stop = StopReason::kEndTurn, .usage = {}, .model = {}, .mark = {}};
}

Replied LedSession::reply(ModelRequest request) {
  if (!scripted_) return std::unexpected(not_allowed(Kind::kScript, "the model of this session is no scripted one"));
  const Assignment& assignment = parts_.duty.assignment;
  {
    const std::scoped_lock lock(mutex_);
    const auto summary = parts_.duty.parts.desk.sessions().summary(assignment.session);
    request.asker = {.run = assignment.run,
                     .session = assignment.session,
                     .workflow = assignment.workflow,
                     .role = assignment.role,
                     .step = summary ? summary->step_id : std::string(),
                     .turn = parts_.course.turn() + 1};
  }
  request.keeps_going = [this] { return parts_.duty.watch.keeps_going(); };
  return scripted_->reply(request, [this](std::string_view) {
    sign_of_life();
    return parts_.duty.watch.keeps_going();
  });
}

Status LedSession::failed(const ModelError& failure, const Usage& usage) {
  last_failure_ = failure;
  retry_at_ms_ = now() + failure.retry_after_ms.value_or(kProxyOutageRetryMs);
  // The program would only be told the same again, or wait longer than is waited for here.
  const bool is_too_long = failure.retry_helps() && failure.retry_after_ms.value_or(0) > RetryPolicy{}.patience_ms;
  if (failure.kind == Kind::kAuth || failure.kind == Kind::kScript || is_too_long) decide(ended_by(failure));
  const std::string text = parts_.duty.redactor.clean(failure.error.to_string());
  Value payload = Value::object({{"turn", parts_.course.turn() + 1},
                                 {"kind", to_string(failure.kind)},
                                 {"reason", text},
                                 {"model", upstream_ == nullptr ? "" : upstream_->name}});
  if (usage.total() > 0) {
    payload.set("usage", to_value(usage));
    payload.set("cost", cost_at(upstream_, usage));
  }
  if (failure.retry_helps()) {
    payload.set("until", retry_at_ms_);
    if (failure.retry_after_ms) payload.set("told", true);
    told_.push_back({.kind = Progress::Kind::kWait,
                     .session = parts_.duty.assignment.session,
                     .workflow = parts_.duty.assignment.workflow,
                     .step = step_,
                     .text = text,
                     .until_ms = retry_at_ms_});
  }
  return keep({{"setback", std::move(payload)}});
}

Status LedSession::asked(const LedExchange& exchange) {
  sign_of_life();
  const std::scoped_lock lock(mutex_);
  last_failure_.reset();
  if (exchange.failure) return failed(*exchange.failure, exchange.usage);
  const Redactor& redactor = parts_.duty.redactor;
  const std::string request = redactor.clean(as_utf8(exchange.request));
  const std::string reply = redactor.clean(as_utf8(exchange.reply));
  const std::string message = to_canonical_json(to_value(
      ModelReply{.stop = exchange.stop, .usage = exchange.usage, .model = exchange.model, .mark = exchange.mark}));
  const Value bytes = Value::object({{"request", sha256_hex(request)}, {"reply", sha256_hex(reply)}});
  Value payload = Value::object({{"turn", parts_.course.turn() + 1},
                                 {"reply", sha256_hex(message)},
                                 {"request", sha256_hex(request)},
                                 {"usage", to_value(exchange.usage)},
                                 {"cost", cost_at(upstream_, exchange.usage)},
                                 {"stop", to_string(exchange.stop)},
                                 {"model", exchange.model},
                                 {"ms", exchange.ms},
                                 {"bytes", bytes}});
  std::vector<AgentLog::Row> rows;
  if (!exchange.mark.empty()) {
    payload.set("mark", exchange.mark);
    const Assignment& assignment = parts_.duty.assignment;
    const std::string& run = assignment.run.empty() ? assignment.session : assignment.run;
    rows.push_back({std::string(kScriptUsed), run + "/" + exchange.mark, "{}"});
  }
  SB_TRY(keep({{"turn", std::move(payload), {message, request, reply}}}, std::move(rows)));
  is_at_tools_ = exchange.stop == StopReason::kToolUse;
  told_.push_back({.kind = Progress::Kind::kTurn,
                   .session = parts_.duty.assignment.session,
                   .workflow = parts_.duty.assignment.workflow,
                   .step = step_,
                   .text = "",
                   .turn = parts_.course.turn(),
                   .usage = parts_.course.usage(),
                   .micro_cents = parts_.course.micro_cents()});
  return {};
}

}  // namespace sb::agent

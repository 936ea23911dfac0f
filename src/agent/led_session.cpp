#include "agent/led_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/limits.hpp"
#include "agent/plain_text.hpp"
#include "agent/provider.hpp"
#include "agent/secret.hpp"
#include "base/crypto.hpp"

namespace sb::agent {
namespace {

constexpr std::int64_t kFarewellMs = 30'000;  // for a program that has nothing left to do
constexpr int kFarewellTurns = 3;
constexpr std::int64_t kPausedLookMs = 200;
constexpr std::int64_t kOutageWaitMs = 60'000;  // where the provider did not say how long

using Kind = ModelError::Kind;

std::int64_t cost_of(const Usage& usage, const ModelSettings* model) {
  if (model == nullptr) return 0;
  return usage.input * model->input_price + usage.output * model->output_price +
         usage.cache_read * model->cache_read_price + usage.cache_write * model->cache_write_price;
}

std::int64_t integer_at(const Value& value, std::string_view name) {
  const Value& found = value[name];
  return found.is_integer() ? found.as_integer() : 0;
}

Value limits_value(const WorkLimits& limits) {
  return Value::object({{"turns", limits.turns},
                        {"time_ms", limits.time_ms},
                        {"stall_ms", limits.stall_ms},
                        {"tokens", limits.tokens},
                        {"micro_cents", limits.micro_cents}});
}

ModelError not_allowed(Kind kind, std::string message) {
  return {kind, {ErrorCode::kForbidden, std::move(message), {}, {}}, {}};
}

std::vector<std::string> known_secrets(const LedParts& parts) {
  if (parts.upstream == nullptr) return {};
  auto secret = secret_of(parts.upstream->key, parts.staff.seams);
  return secret ? std::vector{std::move(*secret)} : std::vector<std::string>();
}

}  // namespace

LedSession::LedSession(LedParts parts, std::unique_ptr<engine::SessionDesk> desk,
                       std::unique_ptr<engine::SessionDesk> tool_desk)
    : parts_(std::move(parts)),
      redactor_(known_secrets(parts_)),
      desk_(std::move(desk)),
      log_(desk_->desk().store(), parts_.staff.seams.clock, parts_.assignment.session),
      tool_desk_(std::move(tool_desk)) {
  last_life_ms_ = parts_.staff.seams.clock.now_ms();
}

Result<std::unique_ptr<LedSession>> LedSession::open(LedParts parts) {
  auto desk = SB_TRY(engine::SessionDesk::open(parts.staff.seams, engine::Surface::kTools));
  auto tool_desk = SB_TRY(engine::SessionDesk::open(parts.staff.seams, engine::Surface::kTools));
  std::unique_ptr<LedSession> led(new LedSession(std::move(parts), std::move(desk), std::move(tool_desk)));
  SB_TRY(led->desk_->sessions().check_lineage(led->parts_.assignment.session));
  SB_TRY(led->recall());
  const ModelSettings* upstream = led->parts_.upstream;
  if (upstream != nullptr && upstream->provider == ModelSettings::Provider::kScripted) {
    const Assignment& assignment = led->parts_.assignment;
    auto model = SB_TRY(make_model(*upstream, {.seams = led->parts_.staff.seams,
                                               .http = led->parts_.staff.http,
                                               .store = led->desk_->desk().store(),
                                               .run = assignment.run.empty() ? assignment.session : assignment.run,
                                               .used = {}}));
    led->scripted_ = std::move(model);
  }
  return led;
}

Status LedSession::recall() {
  for (const LoggedEvent& event : SB_TRY(log_.read())) {
    has_begun_ = has_begun_ || event.type == "began";
    if (event.type == "tool_ended" || event.type == "tool_started") ++calls_;
    if (event.type != "turn") continue;
    ++turns_;
    usage_ += usage_from(event.payload["usage"]);
    micro_cents_ += integer_at(event.payload, "cost");
  }
  return {};
}

Result<std::optional<Standstill>> LedSession::settled() {
  const std::scoped_lock lock(mutex_);
  engine::Sessions& sessions = desk_->sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(parts_.assignment.session));
  if (summary.status == engine::SessionStatus::kComplete) return Standstill{EndState::kComplete, "", ""};
  if (summary.status == engine::SessionStatus::kStopped) {
    return Standstill{EndState::kSessionStopped, summary.stopped_reason, ""};
  }
  const auto answer = sessions.go_on({.token = SB_TRY(sessions.token_for(summary))});
  if (!answer) return std::unexpected(answer.error().error);
  step_ = answer->line["pending"].string_at("stepId").value_or("");
  if (answer->line.string_at("kind") == "complete") return Standstill{EndState::kComplete, "", ""};
  const auto decision = answer->line["decision"].string_at("id");
  if (answer->line.string_at("kind") != "awaiting_decision" || !decision) return std::nullopt;
  return Standstill{EndState::kAwaiting, fmt::format("a person must decide {}", *decision), *decision};
}

Status LedSession::begin() {
  const std::scoped_lock lock(mutex_);
  if (has_begun_) {
    return log_.append(
        {{"recovered", Value::object({{"turn", turns_},
                                      {"how", "resumed"},
                                      {"why", "the program is started anew and goes on where the session stands"}})}});
  }
  const Assignment& assignment = parts_.assignment;
  const std::string bundle = to_canonical_json(assignment.bundle.to_value());
  Value payload = Value::object({{"v", 1},
                                 {"session", assignment.session},
                                 {"workflow", assignment.workflow},
                                 {"role", assignment.role},
                                 {"model", fmt::format("command/{}", parts_.model.name)},
                                 {"mode", to_string(assignment.bundle.mode)},
                                 {"bundle", sha256_hex(bundle)},
                                 {"keys", assignment.bundle.facts()["keys"]},
                                 {"limits", limits_value(assignment.limits)},
                                 {"sandbox", parts_.sandbox}});
  if (!assignment.run.empty()) payload.set("run", assignment.run);
  if (parts_.upstream != nullptr) payload.set("upstream", parts_.upstream->name);
  has_begun_ = true;
  return log_.append({{"began", std::move(payload), {bundle}}});
}

Status LedSession::ended(const Ended& ended) {
  const std::scoped_lock lock(mutex_);
  return log_.append({{"ended", Value::object({{"state", to_string(ended.state)},
                                               {"reason", redactor_.clean(ended.reason)},
                                               {"usage", to_value(usage_)},
                                               {"cost", micro_cents_},
                                               {"turns", turns_},
                                               {"ms", 0}})}});
}

void LedSession::fill(Ended& ended) const {
  const std::scoped_lock lock(mutex_);
  ended.usage = usage_;
  ended.micro_cents = micro_cents_;
  ended.turns = turns_;
}

void LedSession::decide(EndState state, std::string reason) {
  if (!verdict_) verdict_ = Standstill{state, std::move(reason), ""};
}

std::optional<Standstill> LedSession::verdict() const {
  const std::scoped_lock lock(mutex_);
  return verdict_;
}

Standstill LedSession::failure_verdict(const ModelError& failure) const {
  const EndState state = failure.retry_helps() ? EndState::kOutage : EndState::kModelFailed;
  return {state, redactor_.clean(failure.error.to_string()), ""};
}

std::optional<Standstill> LedSession::outage() const {
  const std::scoped_lock lock(mutex_);
  if (!last_failure_ || last_failure_->kind == Kind::kStopped) return std::nullopt;
  return failure_verdict(*last_failure_);
}

void LedSession::sign_of_life() {
  last_life_ms_ = parts_.staff.seams.clock.now_ms();
}

bool LedSession::keeps_going() {
  const TimestampMs now = parts_.staff.seams.clock.now_ms();
  std::vector<Progress> told;
  {
    const std::scoped_lock lock(mutex_);
    told.swap(told_);
    const auto events = log_.read();
    if (!events) {
      decide(EndState::kBroke, events.error().to_string());
      return false;
    }
    const Wishes wishes = wishes_in(*events);
    is_paused_ = wishes.is_paused;
    if (wishes.is_killed) decide(EndState::kKilled, fmt::format("killed by {}: {}", wishes.by, wishes.reason));
    if (wishes.is_taken_over) decide(EndState::kTakenOver, fmt::format("taken over by {}", wishes.by));
    const TimestampMs over_at = over_at_ms_;
    if (over_at != 0 && now - over_at > kFarewellMs) decide(EndState::kStoppedEarly, "it had nothing left to do");
    const std::int64_t patience = parts_.assignment.limits.stall_ms + (is_at_tools_ ? limits::kBashMs : 0);
    const bool is_busy = calls_running_ > 0 || held_ > 0;
    if (is_busy) last_life_ms_ = now;
    if (now - last_life_ms_ > patience) {
      decide(EndState::kStalled, fmt::format("no sign of life for {} s", (now - last_life_ms_) / 1'000));
    }
    if (verdict_) return false;
  }
  for (const Progress& progress : told) {
    if (parts_.on_progress) parts_.on_progress(progress);
  }
  return true;
}

void LedSession::tell(Progress::Kind kind, std::string text) {
  told_.push_back({.kind = kind,
                   .session = parts_.assignment.session,
                   .workflow = parts_.assignment.workflow,
                   .step = step_,
                   .text = std::move(text),
                   .turn = turns_,
                   .usage = usage_,
                   .micro_cents = micro_cents_});
}

std::optional<ModelError> LedSession::over_limits() {
  const WorkLimits& limits = parts_.assignment.limits;
  if (limits.turns > 0 && turns_ >= limits.turns) {
    decide(EndState::kTurnLimit, fmt::format("all {} turns are used", limits.turns));
  } else if (limits.tokens > 0 && usage_.total() >= limits.tokens) {
    decide(EndState::kTokenLimit, fmt::format("all {} tokens are used", limits.tokens));
  } else if (limits.micro_cents > 0 && micro_cents_ >= limits.micro_cents) {
    decide(EndState::kMoneyLimit,
           fmt::format("the session's ${:.2f} are spent", static_cast<double>(limits.micro_cents) / 100'000'000.0));
  }
  if (verdict_) return not_allowed(Kind::kBudget, verdict_->reason);
  if (over_at_ms_ != 0 && ++turns_after_end_ > kFarewellTurns) {
    return not_allowed(Kind::kStopped, "nothing is left to do in this session");
  }
  return std::nullopt;
}

std::optional<ModelError> LedSession::refusal(const std::function<bool()>& keeps_going) {
  ++held_;
  while (is_paused_ && keeps_going()) parts_.staff.seams.clock.sleep_ms(kPausedLookMs);
  --held_;
  sign_of_life();
  const std::scoped_lock lock(mutex_);
  is_at_tools_ = false;
  return over_limits();
}

Replied LedSession::reply(ModelRequest request) {
  if (!scripted_) return std::unexpected(not_allowed(Kind::kScript, "the model of this session is no scripted one"));
  {
    const std::scoped_lock lock(mutex_);
    request.asker = {.run = parts_.assignment.run,
                     .session = parts_.assignment.session,
                     .workflow = parts_.assignment.workflow,
                     .role = parts_.assignment.role,
                     .step = step_,
                     .turn = turns_ + 1};
  }
  return scripted_->reply(request, [this](std::string_view) {
    sign_of_life();
    return true;
  });
}

Status LedSession::asked(const LedExchange& exchange) {
  sign_of_life();
  const std::scoped_lock lock(mutex_);
  last_failure_ = exchange.failure;
  if (exchange.failure) {
    const ModelError& failure = *exchange.failure;
    usage_ += exchange.usage;
    micro_cents_ += cost_of(exchange.usage, parts_.upstream);
    retry_at_ms_ = parts_.staff.seams.clock.now_ms() + failure.retry_after_ms.value_or(kOutageWaitMs);
    // The program would only be told the same again.
    if (failure.kind == Kind::kAuth || failure.kind == Kind::kScript) {
      const Standstill why = failure_verdict(failure);
      decide(why.state, why.reason);
    }
    const std::string text = redactor_.clean(failure.error.to_string());
    return log_.append(
        {{"nudged", Value::object({{"turn", turns_}, {"why", to_string(failure.kind)}, {"text", text}})}});
  }
  const std::string request = redactor_.clean(as_utf8(exchange.request)),
                    reply = redactor_.clean(as_utf8(exchange.reply));
  const std::int64_t cost = cost_of(exchange.usage, parts_.upstream);
  Value payload = Value::object({{"turn", turns_ + 1},
                                 {"reply", sha256_hex(reply)},
                                 {"request", sha256_hex(request)},
                                 {"usage", to_value(exchange.usage)},
                                 {"cost", cost},
                                 {"stop", to_string(exchange.stop)},
                                 {"model", exchange.model},
                                 {"ms", exchange.ms}});
  std::vector<AgentLog::Row> rows;
  if (!exchange.mark.empty()) {
    payload.set("mark", exchange.mark);
    const std::string run = parts_.assignment.run.empty() ? parts_.assignment.session : parts_.assignment.run;
    rows.push_back({std::string(kScriptUsed), fmt::format("{}/{}", run, exchange.mark), "used"});
  }
  SB_TRY(log_.append({{"turn", std::move(payload), {reply, request}}}, std::move(rows)));
  ++turns_;
  usage_ += exchange.usage;
  micro_cents_ += cost;
  is_at_tools_ = exchange.stop == StopReason::kToolUse;
  tell(Progress::Kind::kTurn, "");
  return {};
}

}  // namespace sb::agent

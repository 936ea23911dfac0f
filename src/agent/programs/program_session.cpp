#include "agent/programs/program_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/limits.hpp"
#include "agent/loop/reply_check.hpp"
#include "agent/model/make_model.hpp"
#include "agent/model/prices.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

constexpr std::int64_t kFarewellMs = 30'000;  // for a program with nothing left to do
constexpr int kFarewellTurns = 3;
constexpr std::int64_t kProxyOutageRetryMs = 60'000;  // if the provider did not name a time

using Kind = ModelError::Kind;

std::int64_t cost_at(const ModelSettings* model, const Usage& usage) {
  return model == nullptr ? 0 : cost_of(*model, usage);
}

std::set<std::string> names_of(const std::vector<ToolDeclaration>& tools) {
  std::set<std::string> names;
  for (const ToolDeclaration& tool : tools) names.insert(tool.name);
  return names;
}

ModelError not_allowed(Kind kind, std::string message) {
  return {kind, {ErrorCode::kForbidden, std::move(message), {}, {}}, {}};
}

}  // namespace

ProgramSession::ProgramSession(const CommandParts& parts, const ModelSettings* upstream, std::string sandbox)
    : parts_(parts),
      upstream_(upstream),
      sandbox_(std::move(sandbox)),
      work_context_(tool_work_context()),
      tools_(work_context_),
      own_calls_(parts.work_context.redactor, names_of(tools_.declarations())) {
  last_activity_ms_ = now();
}

// Tools run on other threads than the progress reports.
WorkContext ProgramSession::tool_work_context() {
  WorkContext work_context = parts_.work_context;
  work_context.on_progress = [this](const Progress& progress) {
    const std::scoped_lock lock(mutex_);
    if (pending_progress_.size() < 1'000) pending_progress_.push_back(progress);
  };
  work_context.left = [this] {
    const std::scoped_lock lock(mutex_);
    return parts_.work_context.left();
  };
  work_context.totals = [this] {
    const std::scoped_lock lock(mutex_);
    return parts_.work_context.totals();
  };
  return work_context;
}

TimestampMs ProgramSession::now() const {
  return parts_.work_context.parts.seams.clock.now_ms();
}

Status ProgramSession::prepare() {
  const AgentRunnerParts& runner = parts_.work_context.parts;
  const Assignment& assignment = parts_.work_context.assignment;
  if (upstream_ != nullptr && upstream_->is_scripted()) {
    scripted_ = SB_TRY(make_model(*upstream_, {.seams = runner.seams,
                                               .http = runner.http,
                                               .store = runner.home.home().store(),
                                               .run = assignment.run.empty() ? assignment.session : assignment.run,
                                               .used = parts_.used}));
  }
  for (const LoggedEvent& event : SB_TRY(parts_.work_context.log.read())) {
    if (event.type == "tool_started" || event.type == "tool_ended") ++calls_;
  }
  return {};
}

Status ProgramSession::follow() {
  Transcript& transcript = parts_.transcript;
  for (const LoggedEvent& event : SB_TRY(parts_.work_context.log.read(transcript.seq() + 1))) {
    SB_TRY(transcript.follow(event, [this](std::string_view hex) { return parts_.work_context.log.blob(hex); }));
  }
  parts_.work_context.watchdog.mark_seen(transcript.seq(), transcript.requests());
  return {};
}

Status ProgramSession::commit(std::vector<AgentLog::Entry> entries, std::vector<AgentLog::Row> rows) {
  SB_TRY(parts_.work_context.log.append(std::move(entries), std::move(rows)));
  return follow();
}

void ProgramSession::set_end(WorkResult ended) {
  if (!end_result_) end_result_ = std::move(ended);
}

std::optional<WorkResult> ProgramSession::end_result() {
  const std::scoped_lock lock(mutex_);
  if (end_result_) return end_result_;
  return parts_.work_context.watchdog.end();
}

std::optional<WorkResult> ProgramSession::waiting_result() {
  const std::scoped_lock lock(mutex_);
  finished_at_ms_ = 0;
  turns_after_end_ = 0;
  return std::exchange(left_, std::nullopt);
}

WorkResult ProgramSession::ended_by(const ModelError& failure) const {
  const std::string why = parts_.work_context.redactor.clean(failure.error.to_string());
  if (!failure.is_retryable()) {
    return work_result(EndState::kModelFailed, fmt::format("{}: {}", to_string(failure.kind), why));
  }
  WorkResult ended = work_result(EndState::kOutage, why);
  ended.retry_at_ms = retry_at_ms_;
  ended.is_retry_after = failure.retry_after_ms.has_value();
  return ended;
}

std::optional<WorkResult> ProgramSession::outage() {
  const std::scoped_lock lock(mutex_);
  if (!last_failure_ || last_failure_->kind == Kind::kStopped) return std::nullopt;
  return ended_by(*last_failure_);
}

WorkResult ProgramSession::finish(WorkResult ended) {
  const std::scoped_lock lock(mutex_);
  const WorkResult totals = parts_.work_context.totals();
  ended.usage = totals.usage;
  ended.micro_cents = totals.micro_cents;
  ended.turns = totals.turns;
  const bool was_interrupted = ended.state == EndState::kKilled && ended.reason.empty();
  if (was_interrupted || ended.state == EndState::kInternalError) return ended;
  const int turn = parts_.transcript.turn();
  AgentLog::Entry last;
  if (ended.state == EndState::kAwaiting) {
    last = {"awaiting", Value::object({{"turn", turn}, {"decision", ended.decision}})};
  } else if (ended.state == EndState::kOutage) {
    last = {"parked", Value::object({{"turn", turn},
                                     {"reason", ended.reason},
                                     {"until", ended.retry_at_ms},
                                     {"model", upstream_ == nullptr ? "" : upstream_->name},
                                     {"told", ended.is_retry_after}})};
  } else {
    last = {"ended", Value::object({{"state", to_string(ended.state)},
                                    {"reason", ended.reason},
                                    {"usage", to_value(ended.usage)},
                                    {"cost", ended.micro_cents},
                                    {"turns", ended.turns},
                                    {"ms", parts_.work_context.watchdog.worked_ms()}})};
  }
  if (const Status kept = commit({std::move(last)}); !kept) {
    ended.state = EndState::kInternalError;
    ended.reason = kept.error().to_string();
  }
  parts_.work_context.report(Progress::Kind::kEnded, std::string(to_string(ended.state)), step_);
  return ended;
}

void ProgramSession::note_activity() {
  last_activity_ms_ = now();
  parts_.work_context.watchdog.note_activity();
}

bool ProgramSession::should_continue() {
  std::vector<Progress> progress_list;
  bool continues = true, is_waiting = false;
  {
    const std::scoped_lock lock(mutex_);
    progress_list.swap(pending_progress_);
    is_waiting = last_failure_ && last_failure_->is_retryable() && now() < retry_at_ms_;
    const bool has_stayed = finished_at_ms_ != 0 && now() - finished_at_ms_ > kFarewellMs;
    continues = !end_result_ && !has_stayed;
  }
  // Our tools have their own limits, and so have the program's; a program that is paused or waits for its provider does
  // not stall.
  const bool is_at_work = is_at_tools_ && now() - last_activity_ms_ < limits::kBashMs;
  if (calls_running_ > 0 || paused_requests_ > 0 || is_at_work || is_waiting)
    parts_.work_context.watchdog.note_activity();
  for (const Progress& progress : progress_list) {
    if (parts_.work_context.on_progress) parts_.work_context.on_progress(progress);
  }
  return parts_.work_context.watchdog.should_continue() && continues;
}

std::optional<WorkResult> ProgramSession::over_limits() {
  const WorkLimits& limits = parts_.work_context.limits;
  const Transcript& transcript = parts_.transcript;
  if (transcript.turns() >= limits.turns) {
    return work_result(EndState::kTurnLimit, fmt::format("turn limit of {} reached", limits.turns));
  }
  if (transcript.advances() == 0 && limits.turns >= 5 && transcript.turns() * 10 >= limits.turns * 8) {
    return work_result(EndState::kNoProgress,
                       fmt::format("{} of {} turns used without completing a step", transcript.turns(), limits.turns));
  }
  return over_budget(transcript.spent(), transcript.spent_micro_cents(), limits);
}

std::optional<ModelError> ProgramSession::refusal(const std::function<bool()>&) {
  ++paused_requests_;
  parts_.work_context.watchdog.wait_while_paused();
  --paused_requests_;
  note_activity();
  is_at_tools_ = false;
  const std::scoped_lock lock(mutex_);
  if (const auto end = parts_.work_context.watchdog.end()) return not_allowed(Kind::kStopped, "the session was ended");
  if (finished_at_ms_ != 0 && turns_after_end_ >= kFarewellTurns) {
    return not_allowed(Kind::kStopped, "nothing is left to do in this session");
  }
  if (finished_at_ms_ != 0) return std::nullopt;
  if (auto over = over_limits()) set_end(std::move(*over));
  if (end_result_) return not_allowed(Kind::kBudget, end_result_->reason);
  return std::nullopt;
}

std::optional<ModelReply> ProgramSession::final_reply() {
  const std::scoped_lock lock(mutex_);
  if (finished_at_ms_ == 0) return std::nullopt;
  ++turns_after_end_;
  const Value text = Value::object({{"type", "text"}, {"text", "I end my turn here."}});
  return ModelReply{.content = {text}, .stop = StopReason::kEndTurn, .usage = {}, .model = {}, .mark = {}};
}

ModelResult ProgramSession::reply(ModelRequest request) {
  if (!scripted_) return std::unexpected(not_allowed(Kind::kScript, "the model of this session is not scripted"));
  const Assignment& assignment = parts_.work_context.assignment;
  {
    const std::scoped_lock lock(mutex_);
    const auto summary = parts_.work_context.parts.home.sessions().summary(assignment.session);
    request.requester = {.run = assignment.run,
                         .session = assignment.session,
                         .workflow = assignment.workflow,
                         .role = assignment.role,
                         .step = summary ? summary->step_id : std::string(),
                         .turn = parts_.transcript.turn() + 1,
                         .attempt = request.requester.attempt};
  }
  request.should_continue = [this] { return parts_.work_context.watchdog.should_continue(); };
  return scripted_->reply(request, [this](std::string_view) {
    note_activity();
    return parts_.work_context.watchdog.should_continue();
  });
}

Status ProgramSession::failed(const ModelError& failure, const Usage& usage) {
  last_failure_ = failure;
  retry_at_ms_ = now() + failure.retry_after_ms.value_or(kProxyOutageRetryMs);
  // The program would only get the same error again, or wait longer than allowed here.
  const bool is_too_long = failure.is_retryable() && failure.retry_after_ms.value_or(0) > RetryPolicy{}.patience_ms;
  if (failure.kind == Kind::kAuth || failure.kind == Kind::kScript || is_too_long) set_end(ended_by(failure));
  const std::string text = parts_.work_context.redactor.clean(failure.error.to_string());
  Value payload = Value::object({{"turn", parts_.transcript.turn() + 1},
                                 {"kind", to_string(failure.kind)},
                                 {"reason", text},
                                 {"model", upstream_ == nullptr ? "" : upstream_->name}});
  if (usage.total() > 0) {
    payload.set("usage", to_value(usage));
    payload.set("cost", cost_at(upstream_, usage));
  }
  if (failure.is_retryable()) {
    payload.set("until", retry_at_ms_);
    if (failure.retry_after_ms) payload.set("told", true);
    pending_progress_.push_back({.kind = Progress::Kind::kWait,
                                 .session = parts_.work_context.assignment.session,
                                 .workflow = parts_.work_context.assignment.workflow,
                                 .step = step_,
                                 .text = text,
                                 .until_ms = retry_at_ms_});
  }
  return commit({{"setback", std::move(payload)}});
}

Result<bool> ProgramSession::record_exchange(const ProxiedExchange& exchange) {
  note_activity();
  const std::scoped_lock lock(mutex_);
  last_failure_.reset();
  if (exchange.failure) {
    SB_TRY(failed(*exchange.failure, exchange.usage));
    return false;
  }
  const Redactor& redactor = parts_.work_context.redactor;
  const std::string request = redactor.clean_json(as_utf8(exchange.request));
  const std::string reply = redactor.clean_stream(as_utf8(exchange.reply));
  const std::string message =
      to_canonical_json(to_value(ModelReply{.content = logged_blocks(exchange.content, redactor),
                                            .stop = exchange.stop,
                                            .usage = exchange.usage,
                                            .model = exchange.model,
                                            .mark = exchange.mark}));
  const Value bytes = Value::object({{"request", sha256_hex(request)}, {"reply", sha256_hex(reply)}});
  Value payload = Value::object({{"turn", parts_.transcript.turn() + 1},
                                 {"reply", sha256_hex(message)},
                                 {"request", sha256_hex(request)},
                                 {"usage", to_value(exchange.usage)},
                                 {"cost", cost_at(upstream_, exchange.usage)},
                                 {"stop", to_string(exchange.stop)},
                                 {"model", exchange.model},
                                 {"ms", exchange.ms},
                                 {"bytes", bytes}});
  if (exchange.is_malformed) payload.set("malformed", true);
  std::vector<AgentLog::Row> rows;
  if (!exchange.mark.empty()) {
    payload.set("mark", exchange.mark);
    const Assignment& assignment = parts_.work_context.assignment;
    const std::string& run = assignment.run.empty() ? assignment.session : assignment.run;
    rows.push_back({std::string(kScriptUsed), run + "/" + exchange.mark, "{}"});
  }
  const std::string rule = broken_rule(exchange.final_text, parts_.work_context.parts.settings.block_offers);
  const bool is_discarded = mark_attempt(rule, exchange.attempt, payload);
  std::vector<AgentLog::Entry> entries = own_calls_.answered_by(exchange.results);
  entries.push_back({is_discarded ? "discarded" : "turn", std::move(payload), {message, request, reply}});
  SB_TRY(commit(std::move(entries), std::move(rows)));
  if (is_discarded) return true;
  own_calls_.add(exchange.content, parts_.transcript.turn());
  is_at_tools_ = exchange.stop == StopReason::kToolUse;
  pending_progress_.push_back({.kind = Progress::Kind::kTurn,
                               .session = parts_.work_context.assignment.session,
                               .workflow = parts_.work_context.assignment.workflow,
                               .step = step_,
                               .text = "",
                               .turn = parts_.transcript.turn(),
                               .usage = parts_.transcript.usage(),
                               .micro_cents = parts_.transcript.micro_cents()});
  return false;
}

}  // namespace sb::agent

#include "agent/loop/agent_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/loop/reply_check.hpp"
#include "agent/model/prices.hpp"
#include "agent/model/scripted.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

constexpr std::int64_t kAfreshMs = 300'000;  // a crashed session younger than this that submitted nothing restarts
constexpr std::string_view kHowToDeliver =
    "\n\nWhen the step is done, submit it with complete_step: notes, and the artifacts and context keys it asks for.";

std::string with_how_to(std::string_view text) {
  return std::string(text) + std::string(kHowToDeliver);
}

// Secrets that a model repeats are redacted before its reply is used. Only known values: a reply also holds what will
// be written into files, where much looks like a key but is not one.
ModelReply without_secrets(const Redactor& redactor, ModelReply reply) {
  for (Value& block : reply.content) block = redactor.clean_known_value(block);
  return reply;
}

// Calls are identified by their ids; duplicate or missing ids in a model's reply are replaced.
void make_ids_unique(ModelReply& reply, const std::vector<Message>& before, int turn) {
  std::set<std::string> known;
  for (const Message& message : before) {
    for (const Value& block : message.content) {
      if (block.string_at("type") == "tool_use") known.insert(block.string_at("id").value_or(""));
    }
  }
  int number = 0;
  for (Value& block : reply.content) {
    if (block.string_at("type") != "tool_use") continue;
    ++number;
    std::string id = block.string_at("id").value_or("");
    if (id.empty() || known.contains(id)) id = fmt::format("call_{}_{}", turn, number);
    known.insert(id);
    block.set("id", id);
  }
}

}  // namespace

AgentLoop::AgentLoop(AgentLoopParts parts)
    : work_context_(parts.work_context),
      transcript_(parts.transcript),
      choose_(std::move(parts.choose)),
      tools_(parts.tools),
      sandbox_(std::move(parts.sandbox)),
      session_tools_(parts.work_context) {}

WorkResult AgentLoop::work() {
  if (auto end = enter()) return std::move(*end);
  for (;;) {
    if (auto end = one_turn()) return std::move(*end);
  }
}

// Messages from people come after this: a conversation that restarts must not lose them.
std::optional<WorkResult> AgentLoop::enter() {
  if (auto end = obey_control_requests()) return end;
  if (auto end = transcript_.has_begun() ? recover() : begin()) return end;
  const auto stored = work_context_.log.blob(transcript_.bundle());
  const auto value = stored ? parse_json(*stored, kLogBounds) : Result<Value>(std::unexpected(stored.error()));
  const auto bundle = value ? Bundle::from((*value)["bundle"]) : Result<Bundle>(std::unexpected(value.error()));
  if (!bundle) return with_totals({.state = EndState::kInternalError, .reason = bundle.error().to_string()});
  for (const Slot& slot : bundle->slots) {
    if (!slot.text.empty()) system_.push_back(slot.text);
  }
  return std::nullopt;
}

// The bundle and the first message are stored as sent, so that a restart sends the same.
std::optional<WorkResult> AgentLoop::begin() {
  StepOutcome settled = advance_session(work_context_);
  if (settled.kind == StepOutcome::Kind::kSuspended) return suspend(std::move(settled.ended));
  if (settled.kind == StepOutcome::Kind::kComplete) return finish({.state = EndState::kComplete});
  const auto text = full_step_text(work_context_);
  if (!text) return with_totals({.state = EndState::kInternalError, .reason = text.error().to_string()});
  step_ = settled.step;
  if (auto end = choose_model()) return end;
  const Assignment& assignment = work_context_.assignment;
  const std::string made = to_canonical_json(
      Value::object({{"bundle", assignment.bundle.to_value()}, {"first", settled.notices + with_how_to(*text)}}));
  const Value facts = assignment.bundle.facts();
  Value began = Value::object({{"v", 1},
                               {"session", assignment.session},
                               {"workflow", assignment.workflow},
                               {"role", assignment.role},
                               {"model", chosen_.model->name()},
                               {"mode", to_string(assignment.bundle.mode)},
                               {"bundle", sha256_hex(made)},
                               {"keys", facts["keys"]},
                               {"limits", to_value(work_context_.limits)},
                               {"depth", assignment.depth},
                               {"place", settled.place},
                               {"sandbox", sandbox_}});
  if (!assignment.run.empty()) began.set("run", assignment.run);
  Batch batch;
  batch.entries.push_back({"began", std::move(began), {made}});
  work_context_.report(Progress::Kind::kStep, step_, step_);
  return commit(batch);
}

// A session that is resumed: after a wait nothing is added; after a crash that is recorded, and a session that had
// hardly begun starts again.
std::optional<WorkResult> AgentLoop::recover() {
  const bool is_open = transcript_.has_open_calls();
  const bool repeats = is_open && std::ranges::any_of(transcript_.calls(), [](const TurnCall& call) {
                         return call.has_started && !call.has_ended && SessionTools::handles(call.call.name);
                       });
  if (transcript_.was_retried()) {
    Batch batch;
    const std::string by = transcript_.requests().reason;
    batch.entries.push_back(
        {"nudged",
         Value::object({{"turn", transcript_.turn()},
                        {"why", "retried"},
                        {"text", fmt::format("A person allowed you to continue.{}{}", by.empty() ? "" : " ", by)}})});
    if (auto end = commit(batch)) return end;
    return is_open ? std::nullopt : resume();
  }
  if (transcript_.has_suspended() || transcript_.turn() == 0 || transcript_.ended())
    return is_open ? std::nullopt : resume();
  const bool starts_again = transcript_.advances() == 0 && !repeats && transcript_.worked_ms() < kAfreshMs;
  if (!starts_again) {
    Batch batch;
    batch.entries.push_back({"recovered", Value::object({{"turn", transcript_.turn()},
                                                         {"how", "resumed"},
                                                         {"why", "the process that worked on it ended"}})});
    if (auto end = commit(batch)) return end;
    return is_open ? std::nullopt : resume();
  }
  StepOutcome settled = advance_session(work_context_);
  if (settled.kind == StepOutcome::Kind::kSuspended) return suspend(std::move(settled.ended));
  if (settled.kind == StepOutcome::Kind::kComplete) return finish({.state = EndState::kComplete});
  auto text = full_step_text(work_context_);
  if (!text) return with_totals({.state = EndState::kInternalError, .reason = text.error().to_string()});
  *text = with_how_to(*text) +
          "\n\nAn earlier attempt at this step was interrupted before it submitted anything. The work tree "
          "may contain its changes: look before you edit.";
  for (const TurnCall& call : transcript_.calls()) {
    if (call.has_started && !call.has_ended) {
      *text += fmt::format("\nIt was interrupted during {}; it is unknown whether that took effect.", call.call.name);
    }
  }
  step_ = settled.step;
  Batch batch;
  batch.entries.push_back({"recovered",
                           Value::object({{"turn", transcript_.turn()},
                                          {"how", "afresh"},
                                          {"why", "the process ended before anything was submitted"},
                                          {"place", settled.place},
                                          {"text", sha256_hex(*text)}}),
                           {*text}});
  return commit(batch);
}

// The session may have advanced in the meantime: a person took over, a gate was answered.
std::optional<WorkResult> AgentLoop::resume() {
  StepOutcome settled = advance_session(work_context_);
  if (settled.kind == StepOutcome::Kind::kSuspended) return suspend(std::move(settled.ended));
  if (settled.kind == StepOutcome::Kind::kComplete) return finish({.state = EndState::kComplete});
  step_ = settled.step;
  if (settled.place == transcript_.place()) return std::nullopt;
  const auto text = full_step_text(work_context_);
  if (!text) return with_totals({.state = EndState::kInternalError, .reason = text.error().to_string()});
  Batch batch;
  batch.entries.push_back(
      {"nudged", Value::object({{"turn", transcript_.turn()},
                                {"why", "moved"},
                                {"place", settled.place},
                                {"text", "The session has advanced in the meantime. The open step is now:\n\n" +
                                             settled.notices + with_how_to(*text)}})});
  return commit(batch);
}

std::optional<WorkResult> AgentLoop::one_turn() {
  if (transcript_.has_open_calls()) {
    if (auto end = run_calls(transcript_.calls(), {})) return end;
  }
  if (auto end = read_control_requests()) return end;
  if (auto end = stopped_by_others()) return end;
  if (auto end = limit_reached()) return end;
  Batch batch;
  add_nudges(batch);
  if (auto end = commit(batch)) return end;
  if (auto end = choose_model()) return end;
  // Between two steps a compaction loses little; within a step it is the last resort.
  const std::int64_t room = static_cast<std::int64_t>(chosen_.settings->context_tokens) / 10;
  const bool is_long = transcript_.size_in_tokens() > room * (transcript_.turns_in_step() == 0 ? 6 : 9);
  if (is_long) {
    if (auto end = compact("the conversation has grown long")) return end;
  }
  return ask_model();
}

// Stopping a session does not involve its agent.
std::optional<WorkResult> AgentLoop::stopped_by_others() {
  const auto summary = work_context_.parts.home.sessions().summary(work_context_.assignment.session);
  if (!summary) return with_totals({.state = EndState::kInternalError, .reason = summary.error().to_string()});
  if (summary->status != engine::SessionStatus::kStopped) return std::nullopt;
  return finish({.state = EndState::kSessionStopped, .reason = summary->stopped_reason});
}

std::optional<WorkResult> AgentLoop::obey_control_requests() {
  const auto followed = follow();
  if (!followed) return with_totals({.state = EndState::kInternalError, .reason = followed.error().to_string()});
  if (work_context_.watchdog.is_paused()) work_context_.watchdog.wait_while_paused();
  if (const auto again = follow(); !again) {
    return with_totals({.state = EndState::kInternalError, .reason = again.error().to_string()});
  }
  if (auto end = work_context_.watchdog.end()) return finish(std::move(*end));
  return std::nullopt;
}

std::optional<WorkResult> AgentLoop::read_control_requests() {
  if (auto end = obey_control_requests()) return end;
  const ControlRequests requests = transcript_.requests();
  if (requests.steered.empty()) return std::nullopt;
  Batch batch;
  batch.entries.push_back({"steer_seen", Value::object({{"turn", transcript_.turn()}, {"upto", requests.upto}})});
  return commit(batch);
}

ModelRequest AgentLoop::next_request() {
  const Assignment& assignment = work_context_.assignment;
  ModelRequest request;
  request.system = system_;
  request.messages = transcript_.messages(chosen_.settings->name);
  request.tools = session_tools_.declarations();
  for (const auto& tool : tools_) request.tools.push_back(tool->declaration());
  request.max_tokens = chosen_.settings->max_tokens;
  request.requester = {.run = assignment.run,
                       .session = assignment.session,
                       .workflow = assignment.workflow,
                       .role = assignment.role,
                       .step = step_,
                       .turn = transcript_.turn() + 1,
                       .attempt = transcript_.discarded() + 1};
  request.should_continue = [this] { return work_context_.watchdog.should_continue(); };
  request.idle_timeout_ms = idle_timeout_ms(work_context_.limits);
  return request;
}

std::optional<WorkResult> AgentLoop::choose_model() {
  if (step_.empty()) {
    const auto summary = work_context_.parts.home.sessions().summary(work_context_.assignment.session);
    if (summary) step_ = summary->step_id;
  }
  const auto chosen = choose_(step_);
  if (!chosen) {
    return finish(
        {.state = EndState::kModelFailed, .reason = work_context_.redactor.clean(chosen.error().to_string())});
  }
  chosen_ = *chosen;
  return std::nullopt;
}

std::optional<WorkResult> AgentLoop::ask_model() {
  const std::int64_t from = work_context_.parts.seams.clock.now_ms();
  if (auto end = transcript_.must_wait(chosen_.model->name(), from)) return suspend(std::move(*end));
  ModelRequest request = next_request();
  std::optional<WorkResult> broke;
  request.on_retry = [&](const ModelError& error, std::int64_t at_ms) { broke = log_retry(error, at_ms); };
  work_context_.turn = transcript_.turn() + 1;
  work_context_.watchdog.expect_activity(true);
  ModelResult replied = chosen_.model->reply(request, [&](std::string_view text) {
    work_context_.watchdog.note_activity();
    work_context_.report(Progress::Kind::kDelta, std::string(text), step_);
    return !broke && work_context_.watchdog.should_continue();
  });
  work_context_.watchdog.expect_activity(false);
  if (broke) return broke;
  if (!replied) return model_failed(replied.error());
  was_compacted_ = false;
  ModelReply reply = without_secrets(work_context_.redactor, std::move(*replied));
  make_ids_unique(reply, request.messages, work_context_.turn);
  Batch batch;
  if (note_reply(request, reply, from, batch)) return commit(batch);  // the next round makes the same request again
  std::vector<TurnCall> calls;
  for (const Value& block : reply.content) {
    if (block.string_at("type") != "tool_use") continue;
    calls.push_back(
        {.call = {block.string_at("id").value_or(""), block.string_at("name").value_or(""), block["input"]}});
  }
  work_context_.report(Progress::Kind::kTurn, "", step_);
  if (auto end = run_calls(std::move(calls), std::move(batch))) return end;
  if (reply.stop != StopReason::kRefusal) return std::nullopt;
  return finish({.state = EndState::kStoppedEarly, .reason = "the model refused to continue"});
}

// Adds the reply to the batch. True: it is discarded.
bool AgentLoop::note_reply(const ModelRequest& request, const ModelReply& reply, TimestampMs from, Batch& batch) {
  std::string text = to_canonical_json(to_value(reply));
  Value entry = Value::object({{"turn", work_context_.turn},
                               {"reply", sha256_hex(text)},
                               {"request", sha256_hex(to_canonical_json(to_value(request)))},
                               {"usage", to_value(reply.usage)},
                               {"cost", cost_of(*chosen_.settings, reply.usage)},
                               {"stop", to_string(reply.stop)},
                               {"model", reply.model},
                               {"by", chosen_.settings->name},
                               {"ms", work_context_.parts.seams.clock.now_ms() - from}});
  if (!reply.mark.empty()) {
    entry.set("mark", reply.mark);
    const std::string& run =
        work_context_.assignment.run.empty() ? work_context_.assignment.session : work_context_.assignment.run;
    batch.rows.push_back({std::string(kScriptUsed), run + "/" + reply.mark, "{}"});
  }
  const std::string rule = broken_rule(final_text(reply), work_context_.parts.settings.block_offers);
  const bool is_discarded = mark_attempt(rule, request.requester.attempt, entry);
  batch.entries.push_back({is_discarded ? "discarded" : "turn", std::move(entry), {std::move(text)}});
  return is_discarded;
}

std::optional<WorkResult> AgentLoop::compact(std::string_view why) {
  const auto text = full_step_text(work_context_);
  if (!text) return with_totals({.state = EndState::kInternalError, .reason = text.error().to_string()});
  const std::string restart_message = fmt::format(
      "{}\n\nThe earlier conversation was dropped because {}. What you submitted is listed above; the work tree is as "
      "you left it.",
      with_how_to(*text), why);
  Batch batch;
  batch.entries.push_back({"compacted",
                           Value::object({{"turn", transcript_.turn()},
                                          {"text", sha256_hex(restart_message)},
                                          {"before", transcript_.size_in_tokens()},
                                          {"after", restart_message.size() / 4}}),
                           {restart_message}});
  return commit(batch);
}

Status AgentLoop::follow() {
  for (const LoggedEvent& event : SB_TRY(work_context_.log.read(transcript_.seq() + 1))) {
    SB_TRY(transcript_.follow(event, [this](std::string_view hex) { return work_context_.log.blob(hex); }));
  }
  work_context_.watchdog.mark_seen(transcript_.seq(), transcript_.requests());
  return {};
}

std::optional<WorkResult> AgentLoop::commit(Batch& batch) {
  if (batch.entries.empty() && batch.rows.empty()) return std::nullopt;
  const Status kept = work_context_.log.append(std::move(batch.entries), std::move(batch.rows));
  batch = {};
  const Status followed = kept ? follow() : kept;
  if (followed) return std::nullopt;
  return with_totals({.state = EndState::kInternalError, .reason = followed.error().to_string()});
}

}  // namespace sb::agent

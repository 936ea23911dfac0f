#include "agent/loop/agent_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/model/prices.hpp"
#include "agent/model/scripted.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

constexpr std::int64_t kAfreshMs = 300'000;  // below this a crashed session that delivered nothing begins again
constexpr std::string_view kHowToDeliver =
    "\n\nWhen the step is done, deliver it with complete_step: notes, and the artifacts and context keys it asks for.";

std::string with_how_to(std::string_view text) {
  return std::string(text) + std::string(kHowToDeliver);
}

// What a model repeats of a key is taken out before anything is done with its reply. Only known values: a reply is also
// what is going to be written into files, and much that looks like a key there is none.
ModelReply without(const std::vector<std::string>& secrets, ModelReply reply) {
  std::string text = to_json(Value(reply.content));
  bool has_one = false;
  for (const std::string& secret : secrets) {
    const std::string quoted = quote_json(secret);
    const std::string_view inside = std::string_view(quoted).substr(1, quoted.size() - 2);
    if (inside.size() < 6) continue;
    for (std::size_t at = text.find(inside); at != std::string::npos; at = text.find(inside, at)) {
      text.replace(at, inside.size(), "[redacted: secret]");
      has_one = true;
    }
  }
  if (!has_one) return reply;
  if (auto cleaned = parse_json(text, kLogBounds)) reply.content = cleaned->items();
  return reply;
}

// Calls are told apart by their ids; a model that gives two the same in one conversation, or none, is helped out.
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

Loop::Loop(LoopParts parts)
    : duty_(parts.duty),
      course_(parts.course),
      choose_(std::move(parts.choose)),
      tools_(parts.tools),
      sandbox_(std::move(parts.sandbox)),
      session_tools_(parts.duty) {}

Ended Loop::work() {
  if (auto end = enter()) return std::move(*end);
  for (;;) {
    if (auto end = one_turn()) return std::move(*end);
  }
}

// What people said is heard behind this: a conversation that begins anew must not begin without it.
std::optional<Ended> Loop::enter() {
  if (auto end = heed_people()) return end;
  if (auto end = course_.has_begun() ? recover() : begin()) return end;
  const auto stored = duty_.log.blob(course_.bundle());
  const auto value = stored ? parse_json(*stored, kLogBounds) : Result<Value>(std::unexpected(stored.error()));
  const auto bundle = value ? Bundle::from((*value)["bundle"]) : Result<Bundle>(std::unexpected(value.error()));
  if (!bundle) return with_totals({.state = EndState::kBroke, .reason = bundle.error().to_string()});
  for (const Slot& slot : bundle->slots) {
    if (!slot.text.empty()) system_.push_back(slot.text);
  }
  return std::nullopt;
}

// The bundle and the first message are kept as they are sent, so that a restart says the same.
std::optional<Ended> Loop::begin() {
  Settled settled = settle(duty_);
  if (settled.kind == Settled::Kind::kLeft) return leave(std::move(settled.ended));
  if (settled.kind == Settled::Kind::kComplete) return finish({.state = EndState::kComplete});
  const auto text = step_anew(duty_);
  if (!text) return with_totals({.state = EndState::kBroke, .reason = text.error().to_string()});
  step_ = settled.step;
  if (auto end = choose_model()) return end;
  const Assignment& assignment = duty_.assignment;
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
                               {"limits", to_value(duty_.limits)},
                               {"depth", assignment.depth},
                               {"place", settled.place},
                               {"sandbox", sandbox_}});
  if (!assignment.run.empty()) began.set("run", assignment.run);
  Batch batch;
  batch.entries.push_back({"began", std::move(began), {made}});
  duty_.tell(Progress::Kind::kStep, step_, step_);
  return keep(batch);
}

// A session that is taken up again: after a wait nothing needs to be said; after a crash it is recorded, and one that
// had hardly begun begins again.
std::optional<Ended> Loop::recover() {
  const bool is_open = course_.has_open_calls();
  const bool repeats = is_open && std::ranges::any_of(course_.calls(), [](const CourseCall& call) {
                         return call.has_started && !call.has_ended && SessionTools::is_one(call.call.name);
                       });
  if (course_.was_retried()) {
    Batch batch;
    const std::string by = course_.wishes().reason;
    batch.entries.push_back(
        {"nudged", Value::object({{"turn", course_.turn()},
                                  {"why", "retried"},
                                  {"text", fmt::format("A person lets you go on.{}{}", by.empty() ? "" : " ", by)}})});
    if (auto end = keep(batch)) return end;
    return is_open ? std::nullopt : take_up();
  }
  if (course_.has_left() || course_.turn() == 0 || course_.ended()) return is_open ? std::nullopt : take_up();
  const bool begins_anew = course_.advances() == 0 && !repeats && course_.worked_ms() < kAfreshMs;
  if (!begins_anew) {
    Batch batch;
    batch.entries.push_back(
        {"recovered",
         Value::object({{"turn", course_.turn()}, {"how", "resumed"}, {"why", "the process that worked it ended"}})});
    if (auto end = keep(batch)) return end;
    return is_open ? std::nullopt : take_up();
  }
  Settled settled = settle(duty_);
  if (settled.kind == Settled::Kind::kLeft) return leave(std::move(settled.ended));
  if (settled.kind == Settled::Kind::kComplete) return finish({.state = EndState::kComplete});
  auto text = step_anew(duty_);
  if (!text) return with_totals({.state = EndState::kBroke, .reason = text.error().to_string()});
  *text = with_how_to(*text) +
          "\n\nAn earlier try at this step was interrupted before it delivered anything. The work tree "
          "may hold what it left: look before you change.";
  for (const CourseCall& call : course_.calls()) {
    if (call.has_started && !call.has_ended) {
      *text +=
          fmt::format("\nIt was interrupted in the middle of {}: whether that happened is not known.", call.call.name);
    }
  }
  step_ = settled.step;
  Batch batch;
  batch.entries.push_back({"recovered",
                           Value::object({{"turn", course_.turn()},
                                          {"how", "afresh"},
                                          {"why", "the process ended before anything was delivered"},
                                          {"place", settled.place},
                                          {"text", sha256_hex(*text)}}),
                           {*text}});
  return keep(batch);
}

// The session may have been moved on by others meanwhile: a person who took over, an answered gate.
std::optional<Ended> Loop::take_up() {
  Settled settled = settle(duty_);
  if (settled.kind == Settled::Kind::kLeft) return leave(std::move(settled.ended));
  if (settled.kind == Settled::Kind::kComplete) return finish({.state = EndState::kComplete});
  step_ = settled.step;
  if (settled.place == course_.place()) return std::nullopt;
  const auto text = step_anew(duty_);
  if (!text) return with_totals({.state = EndState::kBroke, .reason = text.error().to_string()});
  Batch batch;
  batch.entries.push_back(
      {"nudged", Value::object({{"turn", course_.turn()},
                                {"why", "moved"},
                                {"place", settled.place},
                                {"text", "The session was moved on meanwhile. This is open now:\n\n" + settled.notices +
                                             with_how_to(*text)}})});
  return keep(batch);
}

std::optional<Ended> Loop::one_turn() {
  if (course_.has_open_calls()) {
    if (auto end = run_calls(course_.calls(), {})) return end;
  }
  if (auto end = hear_people()) return end;
  if (auto end = stopped_by_others()) return end;
  if (auto end = limit_reached()) return end;
  Batch batch;
  add_nudges(batch);
  if (auto end = keep(batch)) return end;
  if (auto end = choose_model()) return end;
  // At the border of two steps little is lost by beginning anew; within one only when there is no other way.
  const std::int64_t room = static_cast<std::int64_t>(chosen_.settings->context_tokens) / 10;
  const bool is_long = course_.size_in_tokens() > room * (course_.turns_in_step() == 0 ? 6 : 9);
  if (is_long) {
    if (auto end = compact("the conversation has grown long")) return end;
  }
  return ask_model();
}

// Who stops a session does not ask its agent.
std::optional<Ended> Loop::stopped_by_others() {
  const auto summary = duty_.parts.desk.sessions().summary(duty_.assignment.session);
  if (!summary) return with_totals({.state = EndState::kBroke, .reason = summary.error().to_string()});
  if (summary->status != engine::SessionStatus::kStopped) return std::nullopt;
  return finish({.state = EndState::kSessionStopped, .reason = summary->stopped_reason});
}

std::optional<Ended> Loop::heed_people() {
  const auto followed = follow();
  if (!followed) return with_totals({.state = EndState::kBroke, .reason = followed.error().to_string()});
  if (duty_.watch.is_paused()) duty_.watch.wait_while_paused();
  if (const auto again = follow(); !again) {
    return with_totals({.state = EndState::kBroke, .reason = again.error().to_string()});
  }
  if (auto end = duty_.watch.end()) return finish(std::move(*end));
  return std::nullopt;
}

std::optional<Ended> Loop::hear_people() {
  if (auto end = heed_people()) return end;
  const Wishes wishes = course_.wishes();
  if (wishes.steered.empty()) return std::nullopt;
  Batch batch;
  batch.entries.push_back({"steer_seen", Value::object({{"turn", course_.turn()}, {"upto", wishes.upto}})});
  return keep(batch);
}

ModelRequest Loop::next_request() {
  const Assignment& assignment = duty_.assignment;
  ModelRequest request;
  request.system = system_;
  request.messages = course_.messages(chosen_.settings->name);
  request.tools = session_tools_.declarations();
  for (const auto& tool : tools_) request.tools.push_back(tool->declaration());
  request.max_tokens = chosen_.settings->max_tokens;
  request.asker = {.run = assignment.run,
                   .session = assignment.session,
                   .workflow = assignment.workflow,
                   .role = assignment.role,
                   .step = step_,
                   .turn = course_.turn() + 1};
  request.keeps_going = [this] { return duty_.watch.keeps_going(); };
  request.silence_ms = silence_ms(duty_.limits);
  return request;
}

std::optional<Ended> Loop::choose_model() {
  if (step_.empty()) {
    const auto summary = duty_.parts.desk.sessions().summary(duty_.assignment.session);
    if (summary) step_ = summary->step_id;
  }
  const auto chosen = choose_(step_);
  if (!chosen) {
    return finish({.state = EndState::kModelFailed, .reason = duty_.redactor.clean(chosen.error().to_string())});
  }
  chosen_ = *chosen;
  return std::nullopt;
}

std::optional<Ended> Loop::ask_model() {
  const std::int64_t from = duty_.parts.seams.clock.now_ms();
  if (auto end = course_.must_wait(chosen_.model->name(), from)) return leave(std::move(*end));
  ModelRequest request = next_request();
  std::optional<Ended> broke;
  request.on_setback = [&](const ModelError& error, std::int64_t at_ms) { broke = keep_setback(error, at_ms); };
  duty_.turn = course_.turn() + 1;
  duty_.watch.expects_life(true);
  Replied replied = chosen_.model->reply(request, [&](std::string_view text) {
    duty_.watch.alive();
    duty_.tell(Progress::Kind::kDelta, std::string(text), step_);
    return !broke && duty_.watch.keeps_going();
  });
  duty_.watch.expects_life(false);
  if (broke) return broke;
  if (!replied) return model_failed(replied.error());
  was_compacted_ = false;
  ModelReply reply = without(duty_.secrets, std::move(*replied));
  make_ids_unique(reply, request.messages, duty_.turn);
  const std::string text = to_canonical_json(to_value(reply));
  const std::int64_t cost = cost_of(*chosen_.settings, reply.usage);
  Value turn = Value::object({{"turn", duty_.turn},
                              {"reply", sha256_hex(text)},
                              {"request", sha256_hex(to_canonical_json(to_value(request)))},
                              {"usage", to_value(reply.usage)},
                              {"cost", cost},
                              {"stop", to_string(reply.stop)},
                              {"model", reply.model},
                              {"by", chosen_.settings->name},
                              {"ms", duty_.parts.seams.clock.now_ms() - from}});
  Batch batch;
  if (!reply.mark.empty()) {
    turn.set("mark", reply.mark);
    const std::string& run = duty_.assignment.run.empty() ? duty_.assignment.session : duty_.assignment.run;
    batch.rows.push_back({std::string(kScriptUsed), run + "/" + reply.mark, "{}"});
  }
  batch.entries.push_back({"turn", std::move(turn), {text}});
  std::vector<CourseCall> calls;
  for (const Value& block : reply.content) {
    if (block.string_at("type") != "tool_use") continue;
    calls.push_back(
        {.call = {block.string_at("id").value_or(""), block.string_at("name").value_or(""), block["input"]}});
  }
  duty_.tell(Progress::Kind::kTurn, "", step_);
  if (auto end = run_calls(std::move(calls), std::move(batch))) return end;
  if (reply.stop != StopReason::kRefusal) return std::nullopt;
  return finish({.state = EndState::kStoppedEarly, .reason = "the model refused to go on"});
}

std::optional<Ended> Loop::compact(std::string_view why) {
  const auto text = step_anew(duty_);
  if (!text) return with_totals({.state = EndState::kBroke, .reason = text.error().to_string()});
  const std::string anew = fmt::format(
      "{}\n\nWhat was said before is no longer here, because {}. What was delivered stands above; the work tree is as "
      "you "
      "left it.",
      with_how_to(*text), why);
  Batch batch;
  batch.entries.push_back({"compacted",
                           Value::object({{"turn", course_.turn()},
                                          {"text", sha256_hex(anew)},
                                          {"before", course_.size_in_tokens()},
                                          {"after", anew.size() / 4}}),
                           {anew}});
  return keep(batch);
}

Status Loop::follow() {
  for (const LoggedEvent& event : SB_TRY(duty_.log.read(course_.seq() + 1))) {
    SB_TRY(course_.follow(event, [this](std::string_view hex) { return duty_.log.blob(hex); }));
  }
  duty_.watch.has_followed(course_.seq(), course_.wishes());
  return {};
}

std::optional<Ended> Loop::keep(Batch& batch) {
  if (batch.entries.empty() && batch.rows.empty()) return std::nullopt;
  const Status kept = duty_.log.append(std::move(batch.entries), std::move(batch.rows));
  batch = {};
  const Status followed = kept ? follow() : kept;
  if (followed) return std::nullopt;
  return with_totals({.state = EndState::kBroke, .reason = followed.error().to_string()});
}

}  // namespace sb::agent

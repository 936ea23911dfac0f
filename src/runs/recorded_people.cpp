#include "runs/recorded_people.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"

namespace sb::runs {
namespace {

constexpr std::int64_t kNoticedMs = 5'000;  // a session's worker has polled for requests by then
constexpr std::string_view kWho = "replay";

// The run's own events. People's requests, resuming and waiting come at other times in a replay.
bool is_own(const pipeline::RunEvent& event) {
  if (event.payload.string_at("question") == "ticket_changed") return false;
  return event.type == "phase_started" || event.type == "phase_ended" || event.type == "delivered" ||
         event.type == "asked" || event.type == "decided";
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> all;
  if (!list.is_array()) return all;
  for (const Value& item : list.items()) {
    if (item.is_string()) all.push_back(item.as_string());
  }
  return all;
}

std::int64_t number(const Value& value) {
  return value.is_integer() ? value.as_integer() : 0;
}

const pipeline::PhaseRecord* phase_of(const pipeline::RunState& state, const std::string& session) {
  const auto found = std::ranges::find(state.phases, session, &pipeline::PhaseRecord::session);
  return found == state.phases.end() ? nullptr : &*found;
}

}  // namespace

ReplayedPeople::ReplayedPeople(const Recording& recording, Clock& clock) : recording_(recording), clock_(clock) {
  for (const pipeline::RunEvent& event : recording.events) {
    const bool is_ticket = event.type == "asked" && event.payload.string_at("question") == "ticket_changed";
    if (is_ticket || event.type == "stop_asked") actions_.push_back({total_, event});
    if (is_own(event)) ++total_;
  }
  // A stop takes effect when the current action has ended.
  for (PersonAction& act : actions_) {
    if (act.event.type == "stop_asked") act.position = total_;
  }
  interventions_ = interventions_in(recording.people["told"]);
}

bool ReplayedPeople::Intervention::is_of(const pipeline::PhaseRecord& record) const {
  return phase == to_string(record.phase) && round == record.round && attempt == record.attempt;
}

std::vector<ReplayedPeople::Intervention> ReplayedPeople::interventions_in(const Value& list) {
  std::vector<Intervention> all;
  if (!list.is_array()) return all;
  for (const Value& each : list.items()) {
    all.push_back({.phase = each.string_at("phase").value_or(""),
                   .type = each.string_at("type").value_or(""),
                   .text = each.string_at("text").value_or(""),
                   .in_call = each.string_at("in_call").value_or(""),
                   .by = each.string_at("by").value_or(std::string(kWho)),
                   .round = number(each["round"]),
                   .attempt = number(each["attempt"]),
                   .turn = number(each["turn"])});
  }
  return all;
}

void ReplayedPeople::attach(RunEnvironment& run_environment, std::string run) {
  run_environment_ = &run_environment;
  run_ = std::move(run);
}

Status ReplayedPeople::answer(const std::string& decision) {
  const pipeline::RunState now = SB_TRY(run_environment_->log().state(run_));
  const auto found = std::ranges::find(now.asked, decision, &pipeline::RunQuestion::decision);
  if (found == now.asked.end()) return {};
  const auto index = static_cast<std::size_t>(found - now.asked.begin());
  const auto& then = recording_.state.asked;
  if (index >= then.size() || then[index].question != found->question) {
    run_environment_->mark_divergence(fmt::format("The replay asked a person another question: {} (recorded: {})",
                                                  found->question,
                                                  index < then.size() ? then[index].question : "none"));
    return {};
  }
  const Value& answers = recording_.people["answers"];
  if (!answers.is_array() || index >= answers.size() || !answers.items()[index].is_object()) return {};
  const Status given = submit_answer(run_environment_->home().home().inbox(), decision, answers.items()[index]);
  if (given) return {};
  run_environment_->mark_divergence(
      fmt::format("The replay cannot repeat the recorded answer ({}): {}", found->question, given.error().to_string()));
  return {};
}

Status ReplayedPeople::submit_answer(inbox::Inbox& inbox, const std::string& decision, const Value& answer) {
  const inbox::Responder from{inbox::Channel::kProgram, std::string(kWho)};
  const inbox::DecisionState asked = SB_TRY(inbox.load(decision));
  if (!asked.is_open()) return {};
  const std::string ending = answer.string_at("ending").value_or("");
  if (ending == "defaulted" || ending == "expired") {
    if (asked.opened.deadline) clock_.sleep_ms(*asked.opened.deadline - clock_.now_ms() + 1);
    SB_TRY(inbox.load(decision));
    return {};
  }
  const std::string remark = fmt::format("{}", fmt::join(texts(answer["texts"]), "\n"));
  if (ending == "answered") {
    inbox::AnswerSubmission submission;
    submission.given.options = texts(answer["options"]);
    if (answer["values"].is_object()) submission.given.values = answer["values"];
    submission.waived = answer["waived"];
    submission.from = from;
    submission.resolved_by = inbox::ResolvedBy::kRelayed;
    SB_TRY(inbox.answer(decision, submission, remark));
    return {};
  }
  if (!remark.empty()) SB_TRY(inbox.note_free_text(decision, remark, from));
  if (ending == "declined") {
    SB_TRY(inbox.decline(decision, from, ""));
  } else if (ending == "cancelled") {
    SB_TRY(inbox.cancel(decision, from));
  } else {
    SB_TRY(inbox.supersede(decision));
  }
  return {};
}

void ReplayedPeople::on_event(const pipeline::RunEvent& event) {
  if (is_own(event)) ++count_;
  if (event.type != "phase_started") return;
  // Messages to its agent before its first turn.
  const std::scoped_lock lock(mutex_);
  const auto state = run_environment_->log().state(run_);
  const auto* record = state ? phase_of(*state, event.payload.string_at("session").value_or("")) : nullptr;
  for (Intervention& intervention : interventions_) {
    if (record == nullptr || !intervention.is_of(*record) || intervention.turn > 0 || intervention.type != "steered")
      continue;
    (void)apply(intervention, record->session);
  }
}

// A message during a turn is seen at the next turn, or by the calls of this one; an interruption between turns happens
// at the next request.
std::int64_t ReplayedPeople::Intervention::due_turn() const {
  return type == "steered" || !in_call.empty() ? turn : turn + 1;
}

// False: interrupt the agent.
Result<bool> ReplayedPeople::apply(Intervention& intervention, const std::string& session) {
  intervention.is_done = true;
  const bool is_control = intervention.type == "steered" || intervention.type == "kill_asked";
  if (!is_control && !intervention.in_call.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("The process working on {} ended during a call of {} in turn {}. Its effects, and "
                            "what the agent was shown about it, cannot be replayed",
                            intervention.phase, intervention.in_call, intervention.turn));
  }
  if (is_control) {
    agent::AgentLog log(run_environment_->home().home().store(), clock_, session);
    Value control_event = Value::object({{"by", intervention.by}});
    control_event.set(intervention.type == "steered" ? "text" : "reason", intervention.text);
    SB_TRY(log.append({{intervention.type, std::move(control_event)}}));
  }
  if (intervention.type == "steered" || intervention.type == "resumed" || !intervention.in_call.empty()) return true;
  is_cut_ = intervention.type == "afresh";
  clock_.sleep_ms(kNoticedMs);
  return false;
}

bool ReplayedPeople::before(const agent::Requester& requester) {
  const std::scoped_lock lock(mutex_);
  const auto state = run_environment_->log().state(run_);
  const auto* record = state ? phase_of(*state, requester.session) : nullptr;
  if (record == nullptr) return true;
  for (Intervention& intervention : interventions_) {
    if (intervention.is_done || !intervention.is_of(*record) || intervention.due_turn() > requester.turn) continue;
    const auto continues = apply(intervention, record->session);
    if (!continues) run_environment_->mark_divergence(continues.error().to_string());
    if (!continues || !*continues) return false;
  }
  return true;
}

Result<bool> ReplayedPeople::act(pipeline::Coordinator& coordinator) {
  if (is_cut_.exchange(false)) return true;
  if (!is_due()) return false;
  const PersonAction& act = actions_[next_++];
  if (act.event.type == "stop_asked") {
    const std::string reason = act.event.payload.string_at("reason").value_or("");
    SB_TRY(
        run_environment_->log().append_at_head(run_, "stop_asked", Value::object({{"by", kWho}, {"reason", reason}})));
    return true;
  }
  SB_TRY(
      coordinator.compare_ticket(run_, SB_TRY(pipeline::Ticket::from(act.event.payload["packet"]["more"]["ticket"]))));
  return true;
}

}  // namespace sb::runs

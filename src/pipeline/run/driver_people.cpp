// The questions of a run to people, and people's requests to it and to its sessions.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"
#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kAnswerCheckMs = 200;

std::string chosen_by(const inbox::DecisionState& decision) {
  if (!decision.outcome) return "(ended)";
  const inbox::DecisionOutcome& outcome = *decision.outcome;
  const bool is_choice =
      outcome.kind == inbox::OutcomeKind::kAnswered || outcome.kind == inbox::OutcomeKind::kDefaulted;
  if (!is_choice) return fmt::format("({})", to_string(outcome.kind));
  if (!outcome.options.empty()) return fmt::format("{}", fmt::join(outcome.options, ","));
  return outcome.values.is_null() ? "(answered)" : to_json(outcome.values);
}

// The event by which a person retried the agent after its newest end; null: none.
const agent::LoggedEvent* newest_retry(const std::vector<agent::LoggedEvent>& events) {
  const agent::LoggedEvent* found = nullptr;
  for (const agent::LoggedEvent& event : events) {
    if (event.type == "ended") found = nullptr;
    if (event.type == "retried") found = &event;
  }
  return found;
}

}  // namespace

Status RunDriver::open_question(QuestionContext about) {
  if (state_.tree.path.empty()) {
    about.diff_stat.clear();
  } else {
    about.diff_stat = diff_stat();
    if (about.question == "merge" || about.question == "escalation") add_judge_hunks(about);
  }
  const auto declared = question_for(state_, about, parts_.settings);
  if (!declared) return std::unexpected(declared.error().front());
  inbox::Inbox& inbox = parts_.home.home().inbox();
  Value payload = Value::object({{"question", about.question}, {"packet", packet_for(state_, about)}});
  const Status asked = parts_.home.home().store().write([&](store::Transaction& transaction) -> Status {
    const inbox::DecisionHandle ticket = SB_TRY(inbox.open_in(
        transaction, *declared, {.workspace = state_.workspace, .session = "", .asker = run_, .is_gate = true}));
    payload.set("decision", ticket.id);
    return log_.append_in(transaction, run_, state_.events, "asked", payload);
  });
  if (!asked && asked.error().code != ErrorCode::kConflict) return asked;
  SB_TRY(load());
  if (!asked) return {};
  if (parts_.on_event) parts_.on_event(state_, {state_.events, state_.updated_at, "asked", payload});
  return {};
}

Result<DriveStatus> RunDriver::act(const AskPerson& ask) {
  SB_TRY(open_question({.question = ask.question, .reason = ask.reason}));
  return DriveStatus::kContinue;
}

// Whether it has an outcome, which is then logged. The answer to a session's question is read by the session.
Result<bool> RunDriver::settle_question(const RunQuestion& asked) {
  inbox::Inbox& inbox = parts_.home.home().inbox();
  const inbox::DecisionState seen = SB_TRY(inbox.load(asked.decision));
  if (seen.is_open()) return false;
  if (asked.question == "escalation" && SB_TRY(reopen())) return true;
  Value payload = Value::object({{"question", asked.question}, {"decision", asked.decision}});
  bool is_open_again = false;
  const Status written = parts_.home.home().store().write([&](store::Transaction& transaction) -> Status {
    inbox::DecisionState now = seen;
    if (asked.question != "session") now = SB_TRY(inbox.consume_in(transaction, asked.decision, "run " + run_));
    is_open_again = now.is_open();
    if (is_open_again) return {};
    payload.set("choice", chosen_by(now));
    payload.set("by", now.outcome ? now.outcome->principal : "");
    if (!now.free_texts.empty()) payload.set("remark", fmt::format("{}", fmt::join(now.free_texts, "\n")));
    return log_.append_in(transaction, run_, state_.events, "decided", payload);
  });
  if (!written && written.error().code != ErrorCode::kConflict) return std::unexpected(written.error());
  if (!written || is_open_again) return false;
  SB_TRY(load());
  if (parts_.on_event) parts_.on_event(state_, {state_.events, state_.updated_at, "decided", payload});
  return true;
}

// For all open questions.
Result<bool> RunDriver::settle_any_question() {
  const std::vector<RunQuestion> all = state_.asked;
  for (const RunQuestion& asked : all) {
    if (asked.choice.empty() && SB_TRY(settle_question(asked))) return true;
  }
  return false;
}

// A failed phase whose session a person retried is running again; that settles the question about its end. Answers of a
// person stay.
Result<bool> RunDriver::reopen() {
  if (state_.phases.empty()) return false;
  const PhaseRecord record = state_.phases.back();
  if (!record.is_over || record.state == agent::to_string(agent::EndState::kComplete)) return false;
  std::vector<std::string> open;
  for (const RunQuestion& asked : state_.asked) {
    if (asked.seq < record.ended_seq || asked.question != "escalation") continue;
    if (!asked.choice.empty()) return false;
    open.push_back(asked.decision);
  }
  const agent::AgentLog log(parts_.home.home().store(), parts_.seams.clock, record.session);
  const auto events = SB_TRY(log.read());
  const agent::LoggedEvent* retried = newest_retry(events);
  if (retried == nullptr || retried->seq <= record.retried_seq) return false;
  const Value payload = Value::object({{"phase", to_string(record.phase)},
                                       {"round", record.round},
                                       {"attempt", record.attempt},
                                       {"session", record.session},
                                       {"retried", retried->seq},
                                       {"by", retried->payload.string_at("by").value_or("")}});
  const Status written = parts_.home.home().store().write([&](store::Transaction& transaction) -> Status {
    for (const std::string& decision : open) SB_TRY(parts_.home.home().inbox().discard_in(transaction, decision));
    return log_.append_in(transaction, run_, state_.events, "phase_reopened", payload);
  });
  if (!written && written.error().code != ErrorCode::kConflict) return std::unexpected(written.error());
  SB_TRY(load());
  if (written && parts_.on_event) {
    parts_.on_event(state_, {state_.events, state_.updated_at, "phase_reopened", payload});
  }
  return written.has_value();
}

// Whether the answer is still needed: false after a person's request about the run or about the asking session.
Result<bool> RunDriver::is_still_open(const RunQuestion& asked) {
  if (SB_TRY(log_.state(run_)).events != state_.events) return false;
  if (asked.question != "session") return true;
  const agent::AgentLog log(parts_.home.home().store(), parts_.seams.clock,
                            asked.packet.string_at("session").value_or(""));
  for (agent::LoggedEvent& event : SB_TRY(log.read(agent_events_.empty() ? 1 : agent_events_.back().seq + 1))) {
    agent_events_.push_back(std::move(event));
  }
  const agent::ControlRequests requests = agent::control_requests_in(agent_events_);
  return !requests.is_killed && !requests.is_taken_over;
}

// The session keeps its own question; its worker logs how it ended.
Result<DriveStatus> RunDriver::suspend_for_question(const RunQuestion& asked) {
  if (SB_TRY(log_.state(run_)).events == state_.events) {
    SB_TRY(append("decided", Value::object({{"question", asked.question},
                                            {"decision", asked.decision},
                                            {"choice", "(left)"},
                                            {"by", agent::control_requests_in(agent_events_).by}})));
  } else {
    SB_TRY(load());
  }
  return DriveStatus::kContinue;
}

Result<DriveStatus> RunDriver::wait_for_person(const RunQuestion& asked) {
  const TimestampMs until = parts_.seams.clock.now_ms() + wait_limits_.people_ms;
  while (should_continue()) {
    if (SB_TRY(settle_any_question())) return DriveStatus::kContinue;
    if (!SB_TRY(is_still_open(asked))) return suspend_for_question(asked);
    const std::int64_t left = until - parts_.seams.clock.now_ms();
    if (left <= 0) break;
    parts_.seams.clock.sleep_ms(std::min(left, kAnswerCheckMs));
    SB_TRY(parts_.home.home().refresh_operators(parts_.seams.files));
  }
  return suspend(fmt::format("a person must answer {} ({})", asked.decision, asked.question));
}

Result<DriveStatus> RunDriver::act(const AwaitAnswer& wait) {
  agent_events_.clear();
  if (SB_TRY(settle_any_question())) return DriveStatus::kContinue;
  if (SB_TRY(is_settled_by_forge(wait.asked))) return DriveStatus::kContinue;
  if (parts_.ask_interactively && SB_TRY(is_still_open(wait.asked))) {
    SB_TRY(parts_.ask_interactively(wait.asked.decision, [&] { return is_still_open(wait.asked).value_or(true); }));
  }
  return wait_for_person(wait.asked);
}

// No more questions about a run that is over, and no more work on its sessions. Completed ones stay complete.
Status RunDriver::withdraw_questions() {
  for (const PhaseRecord& record : state_.phases) {
    SB_TRY(parts_.home.sessions().stop(record.session, "its run is over", "run " + run_));
  }
  return discard_questions();
}

// Those that were not answered, except a session's own.
Status RunDriver::discard_questions() {
  return parts_.home.home().store().write([&](store::Transaction& transaction) -> Status {
    for (const RunQuestion& asked : state_.asked) {
      if (asked.choice.empty() && asked.question != "session") {
        SB_TRY(parts_.home.home().inbox().discard_in(transaction, asked.decision));
      }
    }
    return {};
  });
}

}  // namespace sb::pipeline

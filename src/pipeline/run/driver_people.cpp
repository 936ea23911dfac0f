// What a run asks people, and what they do to it and to its sessions meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/agent_log.hpp"
#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kAnswerCheckMs = 200;

std::string chosen_by(const inbox::DecisionState& decision) {
  if (!decision.outcome) return "(ended)";
  const inbox::Outcome& outcome = *decision.outcome;
  const bool is_choice = outcome.ending == inbox::Ending::kAnswered || outcome.ending == inbox::Ending::kDefaulted;
  if (!is_choice) return fmt::format("({})", to_string(outcome.ending));
  if (!outcome.options.empty()) return fmt::format("{}", fmt::join(outcome.options, ","));
  return outcome.values.is_null() ? "(answered)" : to_json(outcome.values);
}

// That a person let the agent go on after its newest end; null: nobody did.
const agent::LoggedEvent* let_on(const std::vector<agent::LoggedEvent>& events) {
  const agent::LoggedEvent* found = nullptr;
  for (const agent::LoggedEvent& event : events) {
    if (event.type == "ended") found = nullptr;
    if (event.type == "retried") found = &event;
  }
  return found;
}

}  // namespace

Status RunDriver::open_question(AskedAbout about) {
  if (state_.tree.path.empty()) {
    about.diff_stat.clear();
  } else {
    about.diff_stat = diff_stat();
  }
  const auto declared = question_for(state_, about, parts_.settings);
  if (!declared) return std::unexpected(declared.error().front());
  inbox::Inbox& inbox = parts_.desk.desk().inbox();
  Value payload = Value::object({{"question", about.question}, {"packet", packet_for(state_, about)}});
  const Status asked = parts_.desk.desk().store().write([&](store::Transaction& transaction) -> Status {
    const inbox::Ticket ticket =
        SB_TRY(inbox.open_in(transaction, *declared, {.workspace = state_.workspace, .session = "", .asker = run_}));
    payload.set("decision", ticket.id);
    return log_.append_in(transaction, run_, state_.events, "asked", payload);
  });
  if (!asked && asked.error().code != ErrorCode::kConflict) return asked;
  SB_TRY(load());
  if (!asked) return {};
  if (parts_.on_event) parts_.on_event(state_, {state_.events, state_.updated_at, "asked", payload});
  return {};
}

Result<Next> RunDriver::act(const Ask& ask) {
  SB_TRY(open_question({.question = ask.question, .reason = ask.reason}));
  return Next::kGoOn;
}

// Whether it has an outcome, which is then in the log. What a session asked is read by the session, not by us.
Result<bool> RunDriver::settle(const Asked& asked) {
  inbox::Inbox& inbox = parts_.desk.desk().inbox();
  const inbox::DecisionState seen = SB_TRY(inbox.load(asked.decision));
  if (seen.is_open()) return false;
  if (asked.question == "escalation" && SB_TRY(reopen())) return true;
  Value payload = Value::object({{"question", asked.question}, {"decision", asked.decision}});
  bool is_open_again = false;
  const Status written = parts_.desk.desk().store().write([&](store::Transaction& transaction) -> Status {
    inbox::DecisionState now = seen;
    if (asked.question != "session") now = SB_TRY(inbox.take_in(transaction, asked.decision, "run " + run_));
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

// Of all that is asked now.
Result<bool> RunDriver::settle_any() {
  const std::vector<Asked> all = state_.asked;
  for (const Asked& asked : all) {
    if (asked.choice.empty() && SB_TRY(settle(asked))) return true;
  }
  return false;
}

// A phase that ended badly and whose session a person lets go on is under way again; that settles what was asked about
// its end. What a person has answered stands.
Result<bool> RunDriver::reopen() {
  if (state_.phases.empty()) return false;
  const PhaseRecord record = state_.phases.back();
  if (!record.is_over || record.state == agent::to_string(agent::EndState::kComplete)) return false;
  std::vector<std::string> open;
  for (const Asked& asked : state_.asked) {
    if (asked.seq < record.ended_seq || asked.question != "escalation") continue;
    if (!asked.choice.empty()) return false;
    open.push_back(asked.decision);
  }
  const agent::AgentLog log(parts_.desk.desk().store(), parts_.seams.clock, record.session);
  const auto events = SB_TRY(log.read());
  const agent::LoggedEvent* wish = let_on(events);
  if (wish == nullptr || wish->seq <= record.let_on_seq) return false;
  const Value payload = Value::object({{"phase", to_string(record.phase)},
                                       {"round", record.round},
                                       {"attempt", record.attempt},
                                       {"session", record.session},
                                       {"retried", wish->seq},
                                       {"by", wish->payload.string_at("by").value_or("")}});
  const Status written = parts_.desk.desk().store().write([&](store::Transaction& transaction) -> Status {
    for (const std::string& decision : open) SB_TRY(parts_.desk.desk().inbox().drop_in(transaction, decision));
    return log_.append_in(transaction, run_, state_.events, "phase_reopened", payload);
  });
  if (!written && written.error().code != ErrorCode::kConflict) return std::unexpected(written.error());
  SB_TRY(load());
  if (written && parts_.on_event) {
    parts_.on_event(state_, {state_.events, state_.updated_at, "phase_reopened", payload});
  }
  return written.has_value();
}

// Whether nothing has happened that makes waiting for this answer pointless: a wish of a person about the run, or about
// the session that asks.
Result<bool> RunDriver::is_still_asked(const Asked& asked) {
  if (SB_TRY(log_.state(run_)).events != state_.events) return false;
  if (asked.question != "session") return true;
  const agent::AgentLog log(parts_.desk.desk().store(), parts_.seams.clock,
                            asked.packet.string_at("session").value_or(""));
  for (agent::LoggedEvent& event : SB_TRY(log.read(told_.empty() ? 1 : told_.back().seq + 1))) {
    told_.push_back(std::move(event));
  }
  const agent::Wishes wishes = agent::wishes_in(told_);
  return !wishes.is_killed && !wishes.is_taken_over;
}

// Its own question is for the session to keep; whoever works it notes how it ended.
Result<Next> RunDriver::leave_question(const Asked& asked) {
  if (SB_TRY(log_.state(run_)).events == state_.events) {
    SB_TRY(append("decided", Value::object({{"question", asked.question},
                                            {"decision", asked.decision},
                                            {"choice", "(left)"},
                                            {"by", agent::wishes_in(told_).by}})));
  } else {
    SB_TRY(load());
  }
  return Next::kGoOn;
}

Result<Next> RunDriver::wait_for_person(const Asked& asked) {
  const TimestampMs until = parts_.seams.clock.now_ms() + patience_.people_ms;
  while (keeps_going()) {
    if (SB_TRY(settle_any())) return Next::kGoOn;
    if (!SB_TRY(is_still_asked(asked))) return leave_question(asked);
    const std::int64_t left = until - parts_.seams.clock.now_ms();
    if (left <= 0) break;
    parts_.seams.clock.sleep_ms(std::min(left, kAnswerCheckMs));
    SB_TRY(parts_.desk.desk().refresh_operators(parts_.seams.files));
  }
  return leave(fmt::format("a person must answer {} ({})", asked.decision, asked.question));
}

Result<Next> RunDriver::act(const AwaitAnswer& wait) {
  told_.clear();
  if (SB_TRY(settle_any())) return Next::kGoOn;
  if (SB_TRY(settled_by_forge(wait.asked))) return Next::kGoOn;
  if (parts_.ask_here && SB_TRY(is_still_asked(wait.asked))) {
    SB_TRY(parts_.ask_here(wait.asked.decision, [&] { return is_still_asked(wait.asked).value_or(true); }));
  }
  return wait_for_person(wait.asked);
}

// Nobody is asked any more about a run that is over, nor led through a session of it. Those that are complete stay so.
Status RunDriver::drop_questions() {
  for (const PhaseRecord& record : state_.phases) {
    SB_TRY(parts_.desk.sessions().stop(record.session, "its run is over", "run " + run_));
  }
  return parts_.desk.desk().store().write([&](store::Transaction& transaction) -> Status {
    for (const Asked& asked : state_.asked) {
      if (asked.choice.empty() && asked.question != "session") {
        SB_TRY(parts_.desk.desk().inbox().drop_in(transaction, asked.decision));
      }
    }
    return {};
  });
}

}  // namespace sb::pipeline

// Events to the state of a run.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/document/stored_members.hpp"
#include "pipeline/run/run_log.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

Error damaged(const RunEvent& event, std::string_view what) {
  return Error{ErrorCode::kCorrupt, fmt::format("event {} ({}) of the run {}", event.seq, event.type, what), {}, {}};
}

std::string text(const Value& payload, std::string_view name) {
  return payload.string_at(name).value_or("");
}

std::int64_t number(const Value& payload, std::string_view name) {
  const Value& value = payload[name];
  return value.is_integer() ? value.as_integer() : 0;
}

bool flag(const Value& payload, std::string_view name) {
  const Value& value = payload[name];
  return value.is_bool() && value.as_bool();
}

std::vector<std::string> strings(const Value& value) {
  std::vector<std::string> all;
  if (!value.is_array()) return all;
  for (const Value& item : value.items()) {
    if (item.is_string()) all.push_back(item.as_string());
  }
  return all;
}

std::optional<Policy> policy_in(const Value& payload) {
  const Value& policy = payload["policy"];
  if (!policy.is_object()) return std::nullopt;
  const std::string word = text(policy, "on_partial");
  const auto known = std::ranges::find(kOnPartial, word, &std::pair<std::string_view, OnPartial>::first);
  if (known == kOnPartial.end()) return std::nullopt;
  return Policy{known->second, static_cast<int>(number(policy, "fix_rounds"))};
}

class Folding {
 public:
  Status take(const RunEvent& event) {
    if (state_.events == 0 && event.type != "opened") {
      return std::unexpected(damaged(event, "comes before it was opened"));
    }
    const auto kind = std::ranges::find(kinds(), event.type, &std::pair<std::string_view, Fold>::first);
    if (kind == kinds().end()) return unknown_event(run_stream(state_.id), event.seq, event.type);
    SB_TRY((this->*kind->second)(event));
    state_.events = event.seq;
    state_.updated_at = event.time_ms;
    return {};
  }
  RunState finish() { return std::move(state_); }

 private:
  using Fold = Status (Folding::*)(const RunEvent&);
  static const std::vector<std::pair<std::string_view, Fold>>& kinds() {
    static const std::vector<std::pair<std::string_view, Fold>> all = {
        {"opened", &Folding::opened},
        {"routed", &Folding::routed},
        {"tree_made", &Folding::tree_made},
        {"phase_started", &Folding::phase_started},
        {"interpretation", &Folding::interpretation},
        {"phase_ended", &Folding::phase_ended},
        {"phase_reopened", &Folding::phase_reopened},
        {"delivered", &Folding::delivered},
        {"asked", &Folding::asked},
        {"decided", &Folding::decided},
        {"escalated", &Folding::escalated},
        {"parked", &Folding::parked},
        {"woken", &Folding::woken},
        {"stop_asked", &Folding::stop_asked},
        {"resumed", &Folding::resumed},
        {"settings_changed", &Folding::settings_changed},
        {"workflow_changed", &Folding::workflow_changed},
        {"pitch_archived", &Folding::pitch_archived},
        {"halted", &Folding::halted},
        {"ended", &Folding::ended},
    };
    return all;
  }

  Status opened(const RunEvent& event) {
    const Value& payload = event.payload;
    if (number(payload, "v") != 1) return newer_version("the run");
    if (state_.events != 0) return std::unexpected(damaged(event, "opens it twice"));
    state_.id = text(payload, "run");
    state_.goal = text(payload, "goal");
    state_.workspace = text(payload, "workspace");
    state_.repository = text(payload, "repository");
    state_.settings_hash = text(payload, "settings_hash");
    state_.ticket_hash = text(payload, "ticket_hash");
    state_.ticket_source = text(payload, "ticket_source");
    state_.trigger = text(payload, "trigger");
    state_.sandbox = text(payload, "sandbox");
    if (payload["workflows"].is_object()) {
      for (const Value::Member& member : payload["workflows"].members()) {
        if (member.value.is_string()) state_.workflows[member.name] = member.value.as_string();
      }
    }
    if (payload["ticket"].is_object()) state_.ticket = SB_TRY(Ticket::from(payload["ticket"]));
    if (const auto mode = payload.string_at("mode")) state_.wanted = run_mode_named(*mode);
    state_.started_at = event.time_ms;
    return {};
  }

  Status routed(const RunEvent& event) {
    const auto mode = run_mode_named(text(event.payload, "mode"));
    if (!mode) return std::unexpected(damaged(event, "names no mode"));
    state_.route = Route{*mode, strings(event.payload["reasons"]), flag(event.payload, "touches_ui")};
    return {};
  }

  Status tree_made(const RunEvent& event) {
    const Value& payload = event.payload;
    state_.tree = {text(payload, "path"), text(payload, "branch"), text(payload, "base"), text(payload, "commit"),
                   text(payload, "git_dir")};
    return {};
  }

  Status phase_started(const RunEvent& event) {
    const Value& payload = event.payload;
    const auto phase = phase_named(text(payload, "phase"));
    if (!phase) return std::unexpected(damaged(event, "names no phase"));
    PhaseRecord record;
    record.phase = *phase;
    record.round = static_cast<int>(number(payload, "round"));
    record.attempt = static_cast<int>(number(payload, "attempt"));
    record.workflow = text(payload, "workflow");
    record.hash = text(payload, "hash");
    record.session = text(payload, "session");
    record.bundle = payload["bundle"];
    record.blob = text(payload, "blob");
    record.started_at = event.time_ms;
    record.started_seq = event.seq;
    state_.workflows[record.workflow] = record.hash;
    state_.phases.push_back(std::move(record));
    working_since_ = event.time_ms;
    return {};
  }

  Status interpretation(const RunEvent& event) {
    state_.interpretation = event.payload["artifact"];
    return {};
  }

  // As the event names it; null: there is none that is over, or not over.
  PhaseRecord* named_by(const RunEvent& event, bool is_over) {
    const Value& payload = event.payload;
    const auto is_it = [&](const PhaseRecord& record) {
      return record.is_over == is_over && to_string(record.phase) == text(payload, "phase") &&
             record.round == number(payload, "round") && record.attempt == number(payload, "attempt");
    };
    const auto found = std::ranges::find_if(state_.phases, is_it);
    return found == state_.phases.end() ? nullptr : &*found;
  }

  Status phase_ended(const RunEvent& event) {
    const Value& payload = event.payload;
    PhaseRecord* found = named_by(event, false);
    if (found == nullptr) return std::unexpected(damaged(event, "ends a phase that was not started"));
    found->is_over = true;
    found->state = text(payload, "state");
    found->reason = text(payload, "reason");
    found->result = SB_TRY(PhaseResult::from(payload["result"]));
    found->policy = policy_in(payload);
    found->usage = agent::usage_from(payload["usage"]);
    found->micro_cents = number(payload, "cost");
    found->turns = static_cast<int>(number(payload, "turns"));
    found->ended_at = event.time_ms;
    found->ended_seq = event.seq;
    stop_work_timer(event);
    return {};
  }

  // What was asked about its end is settled, and what was to be asked is not any more.
  Status phase_reopened(const RunEvent& event) {
    PhaseRecord* found = named_by(event, true);
    if (found == nullptr) return std::unexpected(damaged(event, "opens a phase that had not ended"));
    std::int64_t asked_at = 0;
    for (RunQuestion& asked : state_.asked) {
      if (asked.question != "escalation") continue;
      asked_at = asked.seq;
      if (asked.seq < found->ended_seq || !asked.choice.empty()) continue;
      asked.choice = "(retried)";
      asked.by = text(event.payload, "by");
      asked.decided_seq = event.seq;
    }
    std::erase_if(state_.escalations,
                  [&](const Escalation& one) { return one.seq > found->ended_seq && one.seq > asked_at; });
    found->is_over = false;
    found->state.clear();
    found->reason.clear();
    found->result = {};
    found->ended_seq = found->ended_at = 0;
    found->retried_seq = number(event.payload, "retried");
    working_since_ = event.time_ms;
    return {};
  }

  Status delivered(const RunEvent& event) {
    const Value& payload = event.payload;
    const auto step = step_named(text(payload, "step"));
    if (!step) return std::unexpected(damaged(event, "names no step"));
    RunState::DeliveryRecord made;
    made.step = *step;
    made.round = static_cast<int>(number(payload, "round"));
    made.done.passed = flag(payload, "passed");
    made.done.already_existed = flag(payload, "was_there");
    made.done.facts = payload["facts"];
    if (payload["findings"].is_array()) {
      for (const Value& item : payload["findings"].items()) {
        made.done.findings.push_back(
            {text(item, "severity"), text(item, "summary"), text(item, "file"), text(item, "cause")});
      }
    }
    made.policy = policy_in(payload);
    made.at = event.time_ms;
    made.seq = event.seq;
    note_facts(made.done.facts);
    state_.deliveries.push_back(std::move(made));
    return {};
  }

  void note_facts(const Value& facts) {
    if (const auto commit = facts.string_at("commit")) state_.commit = *commit;
    // On the base it may be another: of the merge, or squashed.
    if (const auto merged = facts.string_at("merged_as"); merged && !merged->empty()) state_.commit = *merged;
    if (const auto request = facts.string_at("request")) state_.request = *request;
    if (const auto url = facts.string_at("url")) state_.url = *url;
  }

  Status asked(const RunEvent& event) {
    const Value& payload = event.payload;
    RunQuestion question;
    question.question = text(payload, "question");
    question.decision = text(payload, "decision");
    question.packet = payload["packet"];
    question.seq = event.seq;
    state_.asked.push_back(std::move(question));
    stop_work_timer(event);
    return {};
  }

  Status decided(const RunEvent& event) {
    const std::string decision = text(event.payload, "decision");
    for (RunQuestion& asked : state_.asked) {
      if (asked.decision != decision || !asked.choice.empty()) continue;
      asked.choice = text(event.payload, "choice");
      asked.by = text(event.payload, "by");
      asked.remark = text(event.payload, "remark");
      asked.decided_seq = event.seq;
    }
    start_work_timer(event);
    return {};
  }

  Status escalated(const RunEvent& event) {
    state_.escalations.push_back({text(event.payload, "phase"), text(event.payload, "reason"),
                                  static_cast<int>(number(event.payload, "round")), event.seq});
    return {};
  }

  Status parked(const RunEvent& event) {
    state_.parked_until = number(event.payload, "until");
    state_.parked_reason = text(event.payload, "reason");
    state_.is_parked_by_retry_after = flag(event.payload, "told");
    stop_work_timer(event);
    return {};
  }

  Status woken(const RunEvent& event) {
    state_.parked_until = 0;
    state_.parked_reason.clear();
    state_.is_parked_by_retry_after = false;
    start_work_timer(event);
    return {};
  }

  Status stop_asked(const RunEvent& event) {
    state_.stop_requested = true;
    state_.stop_by = text(event.payload, "by");
    state_.stop_reason = text(event.payload, "reason");
    return {};
  }

  // Nobody worked between the last event and this one.
  Status resumed(const RunEvent& event) {
    const bool was_halted = !std::exchange(state_.halted, {}).empty();
    if (was_halted && state_.parked_until == 0 && state_.open_question() == nullptr) start_work_timer(event);
    if (working_since_ == 0) return {};
    state_.worked_ms += std::max<std::int64_t>(0, state_.updated_at - working_since_);
    working_since_ = event.time_ms;
    return {};
  }

  Status settings_changed(const RunEvent& event) {
    state_.settings_hash = text(event.payload, "hash");
    note_change("settings", event);
    return {};
  }

  Status workflow_changed(const RunEvent& event) {
    const std::string workflow = text(event.payload, "workflow");
    state_.workflows[workflow] = text(event.payload, "hash");
    note_change(workflow, event);
    return {};
  }

  void note_change(const std::string& what, const RunEvent& event) {
    state_.changes.push_back({what, text(event.payload, "was"), text(event.payload, "hash"), event.time_ms});
  }

  Status pitch_archived(const RunEvent&) {
    state_.pitch_archived = true;
    return {};
  }

  Status halted(const RunEvent& event) {
    state_.halted = text(event.payload, "reason");
    stop_work_timer(event);
    return {};
  }

  Status ended(const RunEvent& event) {
    const Value& payload = event.payload;
    state_.outcome = text(payload, "outcome");
    if (state_.outcome.empty()) return std::unexpected(damaged(event, "names no outcome"));
    state_.outcome_reason = text(payload, "reason");
    note_facts(payload);
    return {};
  }

  void stop_work_timer(const RunEvent& event) {
    if (working_since_ == 0) return;
    state_.worked_ms += std::max<std::int64_t>(0, event.time_ms - working_since_);
    working_since_ = 0;
  }
  void start_work_timer(const RunEvent& event) {
    const bool is_working = !state_.phases.empty() && !state_.phases.back().is_over;
    if (is_working && working_since_ == 0) working_since_ = event.time_ms;
  }

  RunState state_;
  TimestampMs working_since_ = 0;
};

}  // namespace

Value to_value(const Policy& policy) {
  return Value::object({{"on_partial", word_of(kOnPartial, policy.on_partial)}, {"fix_rounds", policy.fix_rounds}});
}

Result<RunState> fold_run(const std::vector<RunEvent>& events) {
  if (events.empty()) return fail(ErrorCode::kCorrupt, "a run without events is none");
  Folding folding;
  for (const RunEvent& event : events) SB_TRY(folding.take(event));
  return folding.finish();
}

}  // namespace sb::pipeline

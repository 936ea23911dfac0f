// Folds events into the state of a run.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/document/stored_reader.hpp"
#include "pipeline/run/run_log.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

Error damaged(const RunEvent& event, std::string_view what) {
  return Error{ErrorCode::kCorrupt, fmt::format("event {} ({}) of the run {}", event.seq, event.type, what), {}, {}};
}

Result<std::optional<Policy>> policy_in(StoredReader& stored) {
  if (!stored.has("policy")) return std::nullopt;
  StoredReader policy(stored.object("policy"), "the policy of a run's event");
  Policy found{policy.choice<OnPartial>("on_partial", kOnPartial), policy.small("fix_rounds")};
  SB_TRY(policy.done());
  return found;
}

class Folding {
 public:
  Status take(const RunEvent& event) {
    if (state_.events == 0 && event.type != "opened") {
      return std::unexpected(damaged(event, "comes before it was opened"));
    }
    const auto kind = std::ranges::find(kinds(), event.type, &std::pair<std::string_view, Fold>::first);
    if (kind == kinds().end()) return unknown_event(run_stream(state_.id), event.seq, event.type);
    StoredReader stored(event.payload, event_name("the run", event.seq, event.type));
    SB_TRY((this->*kind->second)(event, stored));
    SB_TRY(stored.done());
    state_.events = event.seq;
    state_.updated_at = event.time_ms;
    return {};
  }
  RunState finish() { return std::move(state_); }

 private:
  using Fold = Status (Folding::*)(const RunEvent&, StoredReader&);
  static const std::vector<std::pair<std::string_view, Fold>>& kinds() {
    static const std::vector<std::pair<std::string_view, Fold>> all = {
        {"opened", &Folding::opened},
        {"routed", &Folding::routed},
        {"tree_made", &Folding::tree_made},
        {"tree_restored", &Folding::tree_restored},
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

  Status opened(const RunEvent& event, StoredReader& stored) {
    const std::int64_t version = stored.integer("v");
    SB_TRY(stored.done());
    if (version != 1) return newer_version("the run");
    if (state_.events != 0) return std::unexpected(damaged(event, "opens it twice"));
    state_.id = stored.optional_string("run");
    state_.goal = stored.optional_string("goal");
    state_.workspace = stored.optional_string("workspace");
    state_.repository = stored.optional_string("repository");
    state_.settings_hash = stored.optional_string("settings_hash");
    state_.ticket_hash = stored.optional_string("ticket_hash");
    state_.ticket_source = stored.optional_string("ticket_source");
    state_.trigger = stored.optional_string("trigger");
    state_.sandbox = stored.optional_string("sandbox");
    for (const Value::Member& member : stored.optional_object("workflows").members()) {
      if (member.value.is_string())
        state_.workflows[member.name] = member.value.as_string();
      else
        stored.refuse("workflows", "contains something that is not a hash");
    }
    if (stored.has("ticket")) state_.ticket = SB_TRY(Ticket::from(stored.object("ticket")));
    if (stored.has("mode")) state_.wanted = stored.word("mode", run_mode_named);
    state_.started_at = event.time_ms;
    return {};
  }

  Status routed(const RunEvent& event, StoredReader& stored) {
    const auto mode = run_mode_named(stored.optional_string("mode"));
    if (!mode) return std::unexpected(damaged(event, "has an unknown mode"));
    state_.route = Route{*mode, stored.strings("reasons"), stored.optional_boolean("touches_ui")};
    return {};
  }

  Status tree_made(const RunEvent&, StoredReader& stored) {
    state_.tree = {stored.optional_string("path"), stored.optional_string("branch"), stored.optional_string("base"),
                   stored.optional_string("commit"), stored.optional_string("git_dir")};
    return {};
  }

  Status tree_restored(const RunEvent& event, StoredReader& stored) {
    SB_TRY(tree_made(event, stored));
    stored.optional_string("at");
    for (const Value& item : stored.optional_array("lost").items()) {
      StoredReader lost(item, "a phase that was lost");
      const std::string phase = lost.optional_string("phase");
      const std::int64_t round = lost.optional_integer("round"), attempt = lost.optional_integer("attempt");
      SB_TRY(lost.done());
      for (PhaseRecord& record : state_.phases) {
        if (to_string(record.phase) == phase && record.round == round && record.attempt == attempt) lose(record, event);
      }
    }
    return {};
  }

  // Questions about it are settled: it is done again.
  void lose(PhaseRecord& record, const RunEvent& event) {
    for (RunQuestion& asked : state_.asked) {
      if (asked.seq < record.started_seq || !asked.choice.empty()) continue;
      asked.choice = "(lost)";
      asked.decided_seq = event.seq;
    }
    std::erase_if(state_.escalations, [&](const Escalation& one) { return one.seq > record.started_seq; });
    if (!record.is_over) {
      record.ended_at = event.time_ms;
      stop_work_timer(event);
    }
    record.is_over = record.is_lost = true;
    record.ended_seq = event.seq;
    record.state = "lost";
    record.reason = "its work tree was deleted";
  }

  Status phase_started(const RunEvent& event, StoredReader& stored) {
    const auto phase = phase_named(stored.optional_string("phase"));
    if (!phase) return std::unexpected(damaged(event, "has an unknown phase"));
    PhaseRecord record;
    record.phase = *phase;
    record.round = stored.optional_small("round");
    record.attempt = stored.optional_small("attempt");
    record.workflow = stored.optional_string("workflow");
    record.hash = stored.optional_string("hash");
    record.session = stored.optional_string("session");
    record.bundle = stored.any("bundle");
    record.blob = stored.optional_string("blob");
    record.started_at = event.time_ms;
    record.started_seq = event.seq;
    state_.workflows[record.workflow] = record.hash;
    state_.phases.push_back(std::move(record));
    working_since_ = event.time_ms;
    return {};
  }

  Status interpretation(const RunEvent&, StoredReader& stored) {
    state_.interpretation = stored.any("artifact");
    return {};
  }

  // The phase that the event names; null: there is none in that state.
  PhaseRecord* named_by(StoredReader& stored, bool is_over) {
    const std::string phase = stored.optional_string("phase");
    const std::int64_t round = stored.optional_integer("round"), attempt = stored.optional_integer("attempt");
    const auto is_it = [&](const PhaseRecord& record) {
      return record.is_over == is_over && to_string(record.phase) == phase && record.round == round &&
             record.attempt == attempt;
    };
    const auto found = std::ranges::find_if(state_.phases, is_it);
    return found == state_.phases.end() ? nullptr : &*found;
  }

  Status phase_ended(const RunEvent& event, StoredReader& stored) {
    PhaseRecord* found = named_by(stored, false);
    if (found == nullptr) return std::unexpected(damaged(event, "ends a phase that was not started"));
    found->is_over = true;
    found->state = stored.optional_string("state");
    found->reason = stored.optional_string("reason");
    found->result = SB_TRY(PhaseResult::from(stored.any("result")));
    found->policy = SB_TRY(policy_in(stored));
    found->usage = agent::usage_from(stored.any("usage"));
    found->micro_cents = stored.optional_integer("cost");
    found->turns = stored.optional_small("turns");
    found->ended_at = event.time_ms;
    found->ended_seq = event.seq;
    stop_work_timer(event);
    return {};
  }

  // The question about its end is settled, and pending escalations are dropped.
  Status phase_reopened(const RunEvent& event, StoredReader& stored) {
    PhaseRecord* found = named_by(stored, true);
    if (found == nullptr) return std::unexpected(damaged(event, "opens a phase that had not ended"));
    std::int64_t asked_at = 0;
    for (RunQuestion& asked : state_.asked) {
      if (asked.question != "escalation") continue;
      asked_at = asked.seq;
      if (asked.seq < found->ended_seq || !asked.choice.empty()) continue;
      asked.choice = "(retried)";
      asked.by = stored.optional_string("by");
      asked.decided_seq = event.seq;
    }
    std::erase_if(state_.escalations,
                  [&](const Escalation& one) { return one.seq > found->ended_seq && one.seq > asked_at; });
    found->is_over = false;
    found->state.clear();
    found->reason.clear();
    found->result = {};
    found->ended_seq = found->ended_at = 0;
    found->retried_seq = stored.optional_integer("retried");
    working_since_ = event.time_ms;
    return {};
  }

  Status delivered(const RunEvent& event, StoredReader& stored) {
    const auto step = step_named(stored.optional_string("step"));
    if (!step) return std::unexpected(damaged(event, "has an unknown step"));
    RunState::DeliveryRecord made;
    made.step = *step;
    made.round = stored.optional_small("round");
    made.done.passed = stored.optional_boolean("passed");
    made.done.already_existed = stored.optional_boolean("was_there");
    made.done.facts = stored.any("facts");
    for (const Value& item : stored.optional_array("findings").items()) {
      StoredReader finding(item, "a finding of a delivery");
      made.done.findings.push_back({finding.optional_string("severity"), finding.optional_string("summary"),
                                    finding.optional_string("file"), finding.optional_string("cause")});
      SB_TRY(finding.done());
    }
    made.policy = SB_TRY(policy_in(stored));
    made.at = event.time_ms;
    made.seq = event.seq;
    note_facts(made.done.facts);
    state_.deliveries.push_back(std::move(made));
    return {};
  }

  void note_facts(const Value& facts) {
    if (const auto commit = facts.string_at("commit")) state_.commit = *commit;
    // The commit on the base may be another: the merge, or squashed.
    if (const auto merged = facts.string_at("merged_as"); merged && !merged->empty()) state_.commit = *merged;
    if (const auto request = facts.string_at("request")) state_.request = *request;
    if (const auto url = facts.string_at("url")) state_.url = *url;
  }

  Status asked(const RunEvent& event, StoredReader& stored) {
    RunQuestion question;
    question.question = stored.optional_string("question");
    question.decision = stored.optional_string("decision");
    question.packet = stored.any("packet");
    question.seq = event.seq;
    state_.asked.push_back(std::move(question));
    stop_work_timer(event);
    return {};
  }

  Status decided(const RunEvent& event, StoredReader& stored) {
    const std::string decision = stored.optional_string("decision");
    for (RunQuestion& asked : state_.asked) {
      if (asked.decision != decision || !asked.choice.empty()) continue;
      asked.choice = stored.optional_string("choice");
      asked.by = stored.optional_string("by");
      asked.remark = stored.optional_string("remark");
      asked.decided_seq = event.seq;
    }
    start_work_timer(event);
    return {};
  }

  Status escalated(const RunEvent& event, StoredReader& stored) {
    state_.escalations.push_back(
        {stored.optional_string("phase"), stored.optional_string("reason"), stored.optional_small("round"), event.seq});
    return {};
  }

  Status parked(const RunEvent& event, StoredReader& stored) {
    state_.parked_until = stored.optional_integer("until");
    state_.parked_reason = stored.optional_string("reason");
    state_.is_parked_by_retry_after = stored.optional_boolean("told");
    stop_work_timer(event);
    return {};
  }

  Status woken(const RunEvent& event, StoredReader&) {
    state_.parked_until = 0;
    state_.parked_reason.clear();
    state_.is_parked_by_retry_after = false;
    start_work_timer(event);
    return {};
  }

  Status stop_asked(const RunEvent&, StoredReader& stored) {
    state_.stop_requested = true;
    state_.stop_by = stored.optional_string("by");
    state_.stop_reason = stored.optional_string("reason");
    return {};
  }

  // No work between the last event and this one.
  Status resumed(const RunEvent& event, StoredReader&) {
    const bool was_halted = !std::exchange(state_.halted, {}).empty();
    if (was_halted && state_.parked_until == 0 && state_.open_question() == nullptr) start_work_timer(event);
    if (working_since_ == 0) return {};
    state_.worked_ms += std::max<std::int64_t>(0, state_.updated_at - working_since_);
    working_since_ = event.time_ms;
    return {};
  }

  Status settings_changed(const RunEvent& event, StoredReader& stored) {
    state_.settings_hash = stored.optional_string("hash");
    note_change("settings", event, stored);
    return {};
  }

  Status workflow_changed(const RunEvent& event, StoredReader& stored) {
    const std::string workflow = stored.optional_string("workflow");
    state_.workflows[workflow] = stored.optional_string("hash");
    note_change(workflow, event, stored);
    return {};
  }

  void note_change(const std::string& what, const RunEvent& event, StoredReader& stored) {
    state_.changes.push_back({what, stored.optional_string("was"), stored.optional_string("hash"), event.time_ms});
  }

  Status pitch_archived(const RunEvent&, StoredReader&) {
    state_.pitch_archived = true;
    return {};
  }

  Status halted(const RunEvent& event, StoredReader& stored) {
    state_.halted = stored.optional_string("reason");
    stop_work_timer(event);
    return {};
  }

  Status ended(const RunEvent& event, StoredReader& stored) {
    state_.outcome = stored.optional_string("outcome");
    if (state_.outcome.empty()) return std::unexpected(damaged(event, "has no outcome"));
    state_.outcome_reason = stored.optional_string("reason");
    note_facts(event.payload);
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
  if (events.empty()) return fail(ErrorCode::kCorrupt, "a run without events");
  Folding folding;
  for (const RunEvent& event : events) SB_TRY(folding.take(event));
  return folding.finish();
}

}  // namespace sb::pipeline

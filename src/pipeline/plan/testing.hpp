// Simulates whole runs of a plan; the test says what happens. For tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "pipeline/plan/next_action.hpp"

namespace sb::pipeline {

class PlanSimulator {
 public:
  RunSettings settings;
  bool is_hosted = false;
  Ticket ticket = {};
  RunMode mode = RunMode::kFull;
  bool touches_ui = false;
  std::deque<std::string> verdicts;                      // of reviews, in order; clean when used up
  std::map<std::string, std::deque<std::string>> ends;   // of phases: full, partial, fallback, or an end state
  std::map<std::string, std::deque<bool>> steps;         // of delivery: whether they pass; true when used up
  std::map<std::string, std::deque<std::string>> words;  // a person's answers, by question
  std::map<std::string, std::string> remarks;
  std::map<std::string, std::string> causes;  // of findings, by step
  std::map<std::string, Value> failed_facts;  // of steps that fail
  std::map<int, std::string> judges;          // the file of each round that judges later changes; empty: none
  std::int64_t phase_ms = 60'000, phase_tokens = 0;
  bool retries_at_once = false;  // a person retries the first failed session before a question is asked

  // The trace: one or two words per event, delivery up to the request as `deliver ROUND`.
  std::string run() {
    add("opened", Value::object({{"v", 1},
                                 {"run", "r-1"},
                                 {"goal", "Do it"},
                                 {"ticket", ticket.to_value()},
                                 {"ticket_hash", ticket.hash()},
                                 {"workspace", "/w"},
                                 {"repository", "/w"},
                                 {"settings_hash", "s"}}));
    return resume();
  }

  // After a wait: with other settings, or another answer.
  std::string resume() {
    is_stuck_ = false;
    for (int count = 0; count < 500; ++count) {
      const auto folded = fold_run(events_);
      if (!folded) return fmt::format("broke: {}", folded.error().to_string());
      state = *folded;
      const RunAction action = next_action(state, settings, is_hosted);
      if (std::holds_alternative<Finished>(action)) return trace_;
      std::visit([&](const auto& one) { act(one); }, action);
      if (is_stuck_) return trace_ + ", and waits";
    }
    return trace_ + ", and so on forever";
  }

  RunState state;
  void add(std::string type, Value payload) {
    events_.push_back({static_cast<std::int64_t>(events_.size()) + 1, now_, std::move(type), std::move(payload)});
  }

 private:
  void say(const std::string& what) { trace_ += (trace_.empty() ? "" : ", ") + what; }

  template <class T>
  static T take(std::map<std::string, std::deque<T>>& from, const std::string& name, T otherwise) {
    auto found = from.find(name);
    if (found == from.end() || found->second.empty()) return otherwise;
    T value = found->second.front();
    found->second.pop_front();
    return value;
  }

  void act(const ChooseMode&) {
    add("routed", Value::object({{"mode", to_string(mode)}, {"reasons", Value::array()}, {"touches_ui", touches_ui}}));
  }
  void act(const CreateWorkTree&) {
    add("tree_made", Value::object({{"path", "/t"}, {"branch", "b"}, {"base", "main"}, {"commit", "c0"}}));
  }
  void act(const StartPhase& one) {
    say(fmt::format("{}{}{}", to_string(one.phase), one.round > 0 ? fmt::format(" {}", one.round) : "",
                    one.attempt > 1 ? fmt::format(" again") : ""));
    add("phase_started", Value::object({{"phase", to_string(one.phase)},
                                        {"round", one.round},
                                        {"attempt", one.attempt},
                                        {"workflow", "w"},
                                        {"session", "s"}}));
  }
  void act(const ContinuePhase& work) {
    now_ += phase_ms;
    const PhaseRecord& record = work.record;
    const std::string name(to_string(record.phase));
    const std::string end = take<std::string>(ends, name, "full");
    if (end == "outage") {
      say("parked");
      add("parked", Value::object({{"until", now_ + 1'000}, {"reason", "outage"}}));
      return;
    }
    PhaseResult result;
    std::string state_name = "complete";
    if (end == "full") {
      result.kind = ResultKind::kFull;
      result.artifact = artifact_of(record.phase);
    } else if (end == "partial") {
      result.kind = ResultKind::kPartial;
      result.notes = std::string(60, 'n');
    } else if (end != "fallback") {
      state_name = end;
    }
    add("phase_ended", Value::object({{"phase", name},
                                      {"round", record.round},
                                      {"attempt", record.attempt},
                                      {"state", state_name},
                                      {"reason", ""},
                                      {"result", result.to_value()},
                                      {"usage", agent::to_value(agent::Usage{.output = phase_tokens})},
                                      {"policy", to_value(policy_of(settings))}}));
  }
  Value artifact_of(Phase phase) {
    if (phase != Phase::kReview) return Value::object({{"kind", artifact_kind(phase)}});
    std::string verdict = "clean";
    if (!verdicts.empty()) {
      verdict = verdicts.front();
      verdicts.pop_front();
    }
    Value::Array findings;
    if (verdict == "clean but") {
      verdict = "clean";
      findings.push_back(Value::object({{"severity", "major"}, {"summary", "It loses data."}}));
    } else if (verdict != "clean") {
      findings.push_back(Value::object({{"severity", "minor"}, {"summary", fmt::format("{} finding", verdict)}}));
    }
    return Value::object({{"kind", "wr.review_verdict"}, {"verdict", verdict}, {"findings", Value(findings)}});
  }
  void act(const DeliverStep& one) {
    const std::string name(to_string(one.step));
    const bool passed = take(steps, name, true);
    Value payload = Value::object(
        {{"step", name}, {"round", one.round}, {"passed", passed}, {"was_there", false}, {"facts", Value::object()}});
    payload.set("policy", to_value(policy_of(settings)));
    if (one.step == DeliveryStep::kRequest) payload.set("facts", Value::object({{"request", "1"}, {"url", "u"}}));
    if (one.step == DeliveryStep::kScope) {
      Value files = Value::array();
      if (!judges[one.round].empty()) files.push_back(Value::object({{"file", judges[one.round]}, {"why", "a check"}}));
      payload.set("facts", Value::object({{"judges", std::move(files)}}));
    }
    if (!passed) {
      say(fmt::format("{} {} fails", name, one.round));
      payload.set("facts", failed_facts[name].is_null() ? Value::object() : failed_facts[name]);
      payload.set("findings", Value(Value::Array{Value::object(
                                  {{"severity", "major"}, {"summary", name + " said no"}, {"cause", causes[name]}})}));
    } else if (one.step == DeliveryStep::kRequest) {
      say(fmt::format("deliver {}", one.round));
    } else if (one.step >= DeliveryStep::kUpdate && one.step != DeliveryStep::kConfirm) {
      say(name);
    }
    add("delivered", std::move(payload));
  }
  void act(const AskPerson& ask) {
    say("ask " + ask.question);
    add("asked", Value::object({{"question", ask.question},
                                {"decision", fmt::format("d-{}", events_.size())},
                                {"packet", Value::object()}}));
  }
  void act(const AwaitAnswer& wait) {
    const std::string word = take<std::string>(words, wait.asked.question, "");
    if (word.empty()) {
      is_stuck_ = true;
      return;
    }
    if (!word.starts_with('(')) {
      std::set<std::string> offered;
      for (const Choice& choice : choices_for(state, wait.asked.question, settings)) offered.insert(choice.id);
      EXPECT_TRUE(offered.contains(word)) << word << " is not offered for " << wait.asked.question;
    }
    if (word == "(retried)") return reopen();
    say(word);
    add("decided", Value::object({{"question", wait.asked.question},
                                  {"decision", wait.asked.decision},
                                  {"choice", word},
                                  {"by", "kim"},
                                  {"remark", remarks[word]}}));
  }
  void act(const Escalate& one) {
    say("escalate " + one.phase);
    add("escalated", Value::object({{"phase", one.phase}, {"round", one.round}, {"reason", one.reason}}));
    if (std::exchange(retries_at_once, false)) reopen();
  }
  void reopen() {
    const PhaseRecord& last = state.phases.back();
    say("(retried)");
    add("phase_reopened", Value::object({{"phase", to_string(last.phase)},
                                         {"round", last.round},
                                         {"attempt", last.attempt},
                                         {"session", last.session},
                                         {"retried", 7},
                                         {"by", "kim"}}));
  }
  void act(const WaitUntil& wait) {
    now_ = wait.until;
    add("woken", Value::object());
  }
  void act(const ArchivePitch&) {
    say("archive");
    add("pitch_archived", Value::object());
  }
  void act(const EndRun& end) {
    say(end.outcome);
    add("ended", Value::object({{"outcome", end.outcome}, {"reason", end.reason}}));
  }
  void act(const Finished&) {}

  std::vector<RunEvent> events_;
  std::string trace_;
  TimestampMs now_ = 1'000;
  bool is_stuck_ = false;
};

}  // namespace sb::pipeline

#include "runs/run_records.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "agent/loop/agent_log.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb::runs {
namespace {

using pipeline::PhaseRecord;

constexpr std::string_view kHashPrefix = "sha256:";

// A workflow and everything it calls, from the blobs of the store.
class Pins {
 public:
  explicit Pins(const pipeline::RunLog& log) : log_(log) {}

  Result<Value> bundle_of(const std::string& hash) {
    Value::Array bundle;
    std::set<std::string> known;
    SB_TRY(add(hash, bundle, known));
    return Value::object({{"bundle", std::move(bundle)}});
  }

 private:
  Status add(const std::string& hash, Value::Array& bundle, std::set<std::string>& known) {
    if (!known.insert(hash).second) return {};
    const auto text = log_.blob(hash.starts_with(kHashPrefix) ? hash.substr(kHashPrefix.size()) : hash);
    if (!text) {
      return fail(
          ErrorCode::kNotFound,
          fmt::format("a workflow pinned by the run ({}) is no longer in the store: {}", hash, text.error().message),
          "Without it the run cannot be replayed");
    }
    Value pinned = SB_TRY(parse_json(*text, {.bytes = limits::kStoreValueBytes}));
    if (const Value& calls = pinned["calls"]; calls.is_object()) {
      for (const Value::Member& call : calls.members()) {
        if (call.value.is_string()) SB_TRY(add(call.value.as_string(), bundle, known));
      }
    }
    bundle.push_back(std::move(pinned));
    return {};
  }

  const pipeline::RunLog& log_;
};

struct StartedWorkflow {
  std::string workflow, hash;
};

// The sessions that agents of this session started, recursively.
Status add_spawned(const RunRecords& source, const std::string& session, std::vector<StartedWorkflow>& started,
                   std::set<std::string>& known) {
  for (const auto& event : SB_TRY(agent::AgentLog(source.home.home().store(), source.clock, session).read())) {
    const std::string child = event.payload.string_at("child").value_or("");
    if (event.type != "child_began" || !known.insert(child).second) continue;
    const engine::Summary summary = SB_TRY(source.home.sessions().summary(child));
    started.push_back({summary.workflow_id, summary.hash});
    SB_TRY(add_spawned(source, child, started, known));
  }
  return {};
}

Value answer_of(const inbox::DecisionState& decision) {
  if (!decision.outcome) return {};
  const inbox::DecisionOutcome& outcome = *decision.outcome;
  return Value::object({{"ending", to_string(outcome.kind)},
                        {"options", Value::array(outcome.options)},
                        {"values", outcome.values},
                        {"waived", outcome.waived},
                        {"texts", Value::array(decision.free_texts)}});
}

// People's messages to the agent of one phase, and where its process ended.
class InterventionReader {
 public:
  InterventionReader(const PhaseRecord& record, Value& interventions)
      : record_(record), interventions_(interventions) {}

  Status take(const agent::LoggedEvent& event) {
    const Value& payload = event.payload;
    if (event.type == "taken_over") {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("a person took over session {} ({}), and manual work is not recorded", record_.session,
                              to_string(record_.phase)),
                  "Such a run cannot be replayed");
    }
    if (event.type == "turn" && payload["turn"].is_integer()) turn_ = payload["turn"].as_integer();
    if (event.type == "tool_started") calls_[text(payload, "call")] = text(payload, "tool");
    if (event.type == "tool_ended") calls_.erase(text(payload, "call"));
    if (event.type == "steered") unseen_.push_back({event.seq, text(payload, "text")});
    if (event.type == "steer_seen") see(payload["upto"].is_integer() ? payload["upto"].as_integer() : 0);
    if (event.type == "kill_asked") {
      add(event.type, text(payload, "reason"));
      interventions_.items().back().set("by", text(payload, "by"));  // the next attempt sees who it was
    }
    if (event.type == "recovered") add(text(payload, "how"), "");
    return {};
  }

 private:
  static std::string text(const Value& payload, std::string_view name) { return payload.string_at(name).value_or(""); }
  void see(std::int64_t upto) {
    for (; !unseen_.empty() && unseen_.front().first <= upto; unseen_.erase(unseen_.begin())) {
      add("steered", unseen_.front().second);
    }
  }
  void add(const std::string& type, const std::string& words) {
    interventions_.push_back(Value::object({{"phase", to_string(record_.phase)},
                                            {"round", record_.round},
                                            {"attempt", record_.attempt},
                                            {"turn", turn_},
                                            {"type", type},
                                            {"text", words},
                                            {"in_call", calls_.empty() ? "" : calls_.begin()->second}}));
    if (type != "steered") calls_.clear();
  }

  const PhaseRecord& record_;
  Value& interventions_;
  std::int64_t turn_ = 0;
  std::map<std::string, std::string> calls_;  // running calls: their tools
  std::vector<std::pair<std::int64_t, std::string>> unseen_;
};

}  // namespace

Result<std::vector<Value>> pinned_workflows(const RunRecords& source, std::vector<std::string>& notes) {
  std::vector<StartedWorkflow> started;
  std::set<std::string> known;
  for (const PhaseRecord& record : source.state.phases) {
    started.push_back({record.workflow, record.hash});
    SB_TRY(add_spawned(source, record.session, started, known));
  }
  Pins pins(source.log);
  std::map<std::string, std::string> chosen;
  std::vector<Value> bundles;
  for (const StartedWorkflow& each : started) {
    const auto [place, is_new] = chosen.emplace(each.workflow, each.hash);
    if (is_new) {
      bundles.push_back(SB_TRY(pins.bundle_of(each.hash)));
    } else if (place->second != each.hash) {
      notes.push_back(
          fmt::format("the workflow {} was changed during the run; only its first version is replayed", each.workflow));
      place->second = each.hash;
    }
  }
  return bundles;
}

Result<Value> collect_people(const RunRecords& source) {
  Value answers = Value::array(), interventions = Value::array();
  inbox::Home& home = source.home.home();
  for (const pipeline::RunQuestion& asked : source.state.asked) {
    answers.push_back(asked.choice.empty() ? Value() : answer_of(SB_TRY(home.inbox().load(asked.decision))));
  }
  for (const PhaseRecord& record : source.state.phases) {
    InterventionReader of_phase(record, interventions);
    const agent::AgentLog log(home.store(), source.clock, record.session);
    for (const agent::LoggedEvent& event : SB_TRY(log.read())) SB_TRY(of_phase.take(event));
  }
  return Value::object({{"answers", std::move(answers)}, {"told", std::move(interventions)}});
}

Status check_programs(const RunRecords& source, const agent::AgentSettings& settings) {
  for (const PhaseRecord& record : source.state.phases) {
    const std::string bytes = SB_TRY(source.log.blob(record.blob));
    const Value kept = SB_TRY(parse_json(bytes, {.bytes = limits::kStoreValueBytes}));
    const auto model =
        settings.model_for(record.bundle.string_at("role").value_or(""), kept.string_at("tier").value_or(""));
    if (!model || !(*model)->is_program()) continue;
    return fail(ErrorCode::kUnsupported,
                fmt::format("the agent program {} worked on the phase {}, and a program cannot be replayed: its "
                            "model requests contain ids and times, so that no two are the same",
                            (*model)->name, to_string(record.phase)),
                "Only runs of built-in agents can be replayed");
  }
  return {};
}

}  // namespace sb::runs

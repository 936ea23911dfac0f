// Phases: one autonomous session each, started under an id derived from the run, so that a second start finds the
// first.
#include <fmt/format.h>

#include <algorithm>

#include "agent/context/identity.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/session/prepare.hpp"
#include "engine/state/token.hpp"
#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kOutageMs = 60'000;
constexpr std::string_view kRetrospectiveStep = "look-back";

std::string session_of(const std::string& run, const StartPhase& start) {
  const std::string name =
      fmt::format("sb-run-phase-1\n{}\n{}\n{}\n{}", run, to_string(start.phase), start.round, start.attempt);
  return engine::session_id_from_bytes(as_bytes(sha256(name)).substr(0, 16));
}

bool names_architecture(const Value::Array& findings) {
  return std::ranges::any_of(
      findings, [](const Value& finding) { return finding.string_at("findingCategory") == "architecture"; });
}

std::vector<std::string> texts_in(const Value& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Value& item : list.items()) {
    if (item.is_string()) texts.push_back(item.as_string());
  }
  return texts;
}

bool is_valid(const Value& artifact, std::string_view kind) {
  return std::ranges::all_of(workflow::Contracts::bundled().all(), [&](const workflow::Contract* contract) {
    return contract->kind != kind || workflow::violations(*contract, artifact).empty();
  });
}

Error error_of(const engine::SessionError& error) {
  return error.error;
}

}  // namespace

// One mark for each phase that ended with an incomplete result.
Value::Array RunDriver::degradations() const {
  Value::Array marks;
  for (const PhaseRecord& record : state_.phases) {
    if (!record.is_over || record.result.kind == ResultKind::kFull) continue;
    if (state_.newest(record.phase, record.round) != &record) continue;
    marks.push_back(Value::object({{"phase", to_string(record.phase)},
                                   {"round", record.round},
                                   {"kind", to_string(record.result.kind)},
                                   {"why", record.result.why}}));
  }
  return marks;
}

PhaseResults RunDriver::results_before(const StartPhase& start) const {
  PhaseResults results;
  for (const PhaseRecord& record : state_.phases) {
    if (record.is_over) results.newest[record.phase] = record.result;
  }
  const Value::Array marks = degradations();
  for (auto& [phase, result] : results.newest) result.degraded = marks;
  results.interpretation = state_.interpretation;
  if (start.phase == Phase::kFix) results.findings = findings_before(state_, start.round);
  if (start.phase == Phase::kAudit) results.findings = findings_before(state_, start.round + 1);
  if (const auto* scope = state_.newest(DeliveryStep::kScope, start.round)) {
    const Value& files = scope->done.facts["collateral"];
    if (files.is_array()) {
      for (const Value& file : files.items()) {
        if (file.is_string()) results.collateral.push_back(file.as_string());
      }
    }
  }
  return results;
}

Result<engine::StartRequest> RunDriver::prepare(const StartPhase& start, PhaseSetup& started) {
  started.workflow = parts_.settings.phases.at(start.phase);
  if (start.phase == Phase::kAudit && started.workflow == kAuditWorkflow &&
      names_architecture(findings_before(state_, start.round + 1))) {
    started.workflow = kArchitectureWorkflow;
  }
  const auto catalog = SB_TRY(open_run_catalog(parts_.seams, parts_.home.home().homes(), state_.workspace));
  const std::vector<ContextItem> context_items = context_items_for(start);
  Value context = Value::object({{"runId", run_}, {"phase", to_string(start.phase)}});
  for (const ContextItem& item : context_items) context.set(item.name, item.value);
  auto start_request = engine::prepare_start(parts_.seams.files, catalog,
                                             {.workflow_id = started.workflow,
                                              .goal = state_.goal,
                                              .workspace = state_.tree.path,
                                              .context = std::move(context),
                                              .is_autonomous = true});
  if (!start_request) return std::unexpected(error_of(start_request.error()));
  start_request->id = session_of(run_, start);
  start_request->run = run_;
  // Whatever the phase is shown: its agents must not get further than delivery would.
  if (const PhaseRecord* shaped = state_.newest(Phase::kShaping)) {
    start_request->out_of_scope = texts_in(shaped->result.artifact["outOfScope"]);
  }
  const workflow::CompiledWorkflow& compiled = *start_request->bundle.back();
  const agent::ContextSpec spec = isolation_of(parts_.settings, compiled.definition);
  started.role = spec.role;
  if (compiled.definition.model_tier) started.tier = std::string(to_string(*compiled.definition.model_tier));
  std::vector<std::string> work = {std::string(to_string(start.phase)), started.workflow};
  for (const workflow::Step& step : compiled.definition.steps) work.push_back(step.id);
  started.sources = SB_TRY(sources_for(start, work, started.notes));
  started.bundle = SB_TRY(agent::make_bundle(spec, agent::identity_text(), started.sources));
  apply_isolation(spec, context_items, *start_request, started.bundle);
  return std::move(*start_request);
}

// Settings or a workflow file that no longer fit: a person fixes that and resumes. The run's state does not change.
Result<DriveStatus> RunDriver::phase_not_started(const StartPhase& start, const Error& error) {
  if (error.is_retryable) return park(parts_.seams.clock.now_ms() + kOutageMs, error.to_string());
  const std::string what = fmt::format("{} cannot start: ", to_string(start.phase));
  if (is_internal_failure(error.code)) {
    Error reported = error;
    reported.message = fmt::format("run {} stops: {}{}", run_, what, error.message);
    if (reported.remedy.empty()) reported.remedy = fmt::format("Fix this, then: signalbox runs resume {}", run_);
    return std::unexpected(std::move(reported));
  }
  return act(Escalate{.phase = "start", .reason = what + error.to_string(), .round = start.round});
}

Result<DriveStatus> RunDriver::act(const StartPhase& start) {
  PhaseSetup started;
  const auto prepared = prepare(start, started);
  if (!prepared) return phase_not_started(start, prepared.error());
  const engine::StartRequest& start_request = *prepared;
  const auto answer = parts_.home.sessions().start(start_request);
  if (!answer) return phase_not_started(start, error_of(answer.error()));
  // A session started before a crash keeps its workflow.
  const std::string hash = SB_TRY(parts_.home.sessions().summary(start_request.id)).hash;
  SB_TRY(note_workflow(started.workflow, hash));
  Value kept = started.bundle.to_value();
  kept.set("tier", started.tier);
  kept.set("sources", to_value(started.sources));
  const std::string bytes = to_canonical_json(kept);
  Value facts = started.bundle.facts();
  if (!started.notes.empty()) facts.set("notes", Value::array(started.notes));
  SB_TRY(append("phase_started",
                Value::object({{"phase", to_string(start.phase)},
                               {"round", start.round},
                               {"attempt", start.attempt},
                               {"workflow", started.workflow},
                               {"hash", hash},
                               {"session", start_request.id},
                               {"bundle", std::move(facts)},
                               {"blob", sha256_hex(bytes)}}),
                {bytes}));
  return DriveStatus::kContinue;
}

Result<DriveStatus> RunDriver::act(const ContinuePhase& work) {
  const PhaseRecord& record = work.record;
  const Value kept = SB_TRY(parse_json(SB_TRY(log_.blob(record.blob)), {.bytes = sb::limits::kStoreValueBytes}));
  agent::Assignment assignment;
  assignment.run = run_;
  assignment.session = record.session;
  assignment.workflow = record.workflow;
  assignment.bundle = SB_TRY(agent::Bundle::from(kept));
  assignment.role = assignment.bundle.role;
  assignment.tier = kept.string_at("tier").value_or("");
  assignment.work_tree = state_.tree.path;
  assignment.is_writable = record.phase != Phase::kReview && record.phase != Phase::kAudit;
  assignment.limits = limits_for(record.phase, state_, parts_.settings);
  assignment.should_continue = parts_.should_continue;
  // One that an earlier version started does not name its run yet.
  SB_TRY(parts_.home.sessions().drive(record.session, run_));
  const agent::WorkResult ended = parts_.runner.work(assignment, parts_.on_progress);
  if (!should_continue()) return suspend("it was interrupted");
  return end_phase(record, ended);
}

Result<DriveStatus> RunDriver::end_phase(const PhaseRecord& record, agent::WorkResult ended) {
  using agent::EndState;
  SB_TRY(note_interpretation(record));
  // A session that a person completed counts like one that an agent completed.
  if (ended.state == EndState::kTakenOver &&
      SB_TRY(parts_.home.sessions().summary(record.session)).status == engine::SessionStatus::kComplete) {
    ended.state = EndState::kComplete;
  }
  switch (ended.state) {
    case EndState::kAwaiting:
      SB_TRY(append("asked", Value::object({{"question", "session"},
                                            {"decision", ended.decision},
                                            {"packet", Value::object({{"session", record.session},
                                                                      {"phase", to_string(record.phase)}})}})));
      return DriveStatus::kContinue;
    case EndState::kTakenOver:
      return suspend(fmt::format("a person is working on session {}: {}", record.session, ended.reason));
    case EndState::kOutage: {
      const TimestampMs soon = parts_.seams.clock.now_ms() + kOutageMs;
      return park(ended.retry_at_ms > 0 ? ended.retry_at_ms : soon, ended.reason, ended.is_retry_after);
    }
    case EndState::kInternalError:
      return fail(ErrorCode::kIo, fmt::format("run {} stops in {}: {}", run_, to_string(record.phase), ended.reason),
                  fmt::format("Fix this, then: signalbox runs resume {}", run_));
    default:
      break;
  }
  const PhaseOutput left = SB_TRY(phase_output(record));
  const bool is_complete = ended.state == EndState::kComplete;
  Value::Array marks = degradations();
  const PhaseResult result =
      classify_phase(record.phase, is_complete ? left.artifact : Value(), left.notes, std::move(marks));
  SB_TRY(append("phase_ended", Value::object({{"phase", to_string(record.phase)},
                                              {"round", record.round},
                                              {"attempt", record.attempt},
                                              {"state", agent::to_string(ended.state)},
                                              {"reason", ended.reason},
                                              {"result", result.to_value()},
                                              {"usage", agent::to_value(ended.usage)},
                                              {"cost", ended.micro_cents},
                                              {"turns", ended.turns},
                                              {"policy", to_value(policy_of(parts_.settings))}})));
  return DriveStatus::kContinue;
}

// The committed interpretation is passed to every later phase, however this one ends.
Status RunDriver::note_interpretation(const PhaseRecord& record) {
  if (record.phase != Phase::kDiscovery) return {};
  const Value artifact = SB_TRY(artifact_of(record.session, "wr.interpretation"));
  if (artifact.is_null() || artifact == state_.interpretation) return {};
  return append("interpretation", Value::object({{"artifact", artifact}, {"session", record.session}}));
}

// The newest artifact of that kind that satisfies its contract; null when there is none.
Result<Value> RunDriver::artifact_of(const std::string& session, const std::string& kind) {
  engine::Sessions& sessions = parts_.home.sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(session));
  const engine::Node tip = SB_TRY(sessions.node(session, summary.tip));
  const auto found = tip.artifacts.find(kind);
  if (found == tip.artifacts.end()) return Value();
  const Value artifact = SB_TRY(parse_json(SB_TRY(log_.blob(found->second))));
  return is_valid(artifact, kind) ? artifact : Value();
}

Result<RunDriver::PhaseOutput> RunDriver::phase_output(const PhaseRecord& record) {
  engine::Sessions& sessions = parts_.home.sessions();
  const std::string& session = record.session;
  PhaseOutput left;
  const std::string kind(artifact_kind(record.phase));
  if (!kind.empty()) left.artifact = SB_TRY(artifact_of(session, kind));
  const engine::Summary summary = SB_TRY(sessions.summary(session));
  engine::Node node = SB_TRY(sessions.node(session, summary.tip));
  std::vector<Value> verdicts;  // newest first
  while (node.parent != 0) {
    const int number = node.parent_attempt;
    node = SB_TRY(sessions.node(session, node.parent));
    const auto attempt = SB_TRY(sessions.attempt(session, node.number, number));
    if (!attempt || attempt->output_seq == 0) continue;
    const auto output = SB_TRY(sessions.output(session, *attempt));
    // Without an artifact kind, the result of a phase is the output of its last step.
    if (kind.empty() && left.artifact.is_null() && !output.artifacts.empty()) left.artifact = output.artifacts.back();
    for (const Value& artifact : output.artifacts) {
      const bool is_verdict = record.phase == Phase::kReview && artifact.string_at("kind") == kind;
      if (is_verdict && is_valid(artifact, kind)) verdicts.push_back(artifact);
    }
    if (node.position.step == kRetrospectiveStep || output.notes.empty()) continue;
    left.notes += fmt::format("{}{}: {}", left.notes.empty() ? "" : "\n\n", node.title, output.notes);
  }
  // A review that says different things at different steps, or in the iterations of a loop, is as bad as the worst.
  if (const Value* worst = worst_verdict(verdicts); worst != nullptr && !left.artifact.is_null())
    left.artifact = *worst;
  return left;
}

}  // namespace sb::pipeline

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "engine/session/parts.hpp"
#include "engine/state/child_rows.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kChildOutcome = "wr.child_outcome";
constexpr std::size_t kCapturedNotesBytes = 8u << 10;
constexpr std::size_t kCapturedArtifactBytes = 32u << 10;

bool has_ended(const Child& child) {
  return !child.outcome.empty();
}

std::string name_ended_badly(const std::vector<Child>& children) {
  std::string text;
  for (const Child& child : children) {
    if (!has_ended(child) || child.outcome == "complete") continue;
    text += fmt::format("- {} is {}{}{}\n", child.id, child.outcome, child.reason.empty() ? "" : ": ", child.reason);
  }
  return text;
}

int quorum_of(const workflow::Step& step, std::size_t children) {
  const int declared = step.parallel() != nullptr ? step.parallel()->quorum : 0;
  return declared == 0 ? 0 : std::min(declared, static_cast<int>(children));
}

std::vector<Blocker> still_open(const std::vector<ChildView>& children) {
  std::vector<Blocker> blockers;
  for (const ChildView& child : children) {
    if (!child.outcome.empty()) continue;
    const std::string state = child.token.empty() ? "has not started" : "is not finished";
    blockers.push_back(
        {BlockerCode::kChildrenOpen, child.id, fmt::format("{} {}", child.id, state),
         "Continue it with its own token; if its agent is gone, report that with this artifact",
         Value::object(
             {{"kind", kChildOutcome}, {"child", child.id}, {"outcome", "dead"}, {"reason", "what became of it"}})});
  }
  return blockers;
}

// Only a complete report about an existing child ends it.
Status check_reports(const std::vector<Child>& children, const Submission& submission) {
  const workflow::Contract* contract = workflow::Contracts::bundled().find("wr.contracts.child_outcome");
  for (const Value& artifact : submission.artifacts) {
    if (artifact.string_at("kind") != kChildOutcome || contract == nullptr) continue;
    const std::vector<std::string> wrong = workflow::violations(*contract, artifact);
    if (!wrong.empty()) {
      return fail(ErrorCode::kInvalid, fmt::format("the artifact {} does not fit: {}", kChildOutcome, wrong.front()),
                  fmt::format("Send it like this: {}", to_json(contract->example)));
    }
    const std::string id = artifact.string_at("child").value_or("");
    std::vector<std::string> ids;
    for (const Child& child : children) ids.push_back(child.id);
    if (std::ranges::find(ids, id) == ids.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("this step has no child {}", quote_json(id)),
                  fmt::format("Name one of these: {}", fmt::join(ids, ", ")));
    }
  }
  return {};
}

}  // namespace

Status Sessions::Parts::record_child_results(SessionUpdate& update, NodeNo number, const Submission& submission) {
  const std::vector<Child> children = update.known(number).children;
  SB_TRY(check_reports(children, submission));
  const auto ended = [&](const Child& child, std::string_view outcome, std::string_view reason) {
    return update.emit(
        "child_ended",
        Value::object({{"node", number}, {"child", child.id}, {"outcome", outcome}, {"reason", reason}}));
  };
  for (const Child& child : children) {
    if (has_ended(child)) continue;
    const auto summary =
        child.session.empty() ? std::nullopt : SB_TRY(read_summary(update.transaction(), child.session));
    if (summary && summary->status == SessionStatus::kComplete) {
      SB_TRY(ended(child, "complete", ""));
      continue;
    }
    if (summary && summary->status == SessionStatus::kStopped) {
      SB_TRY(ended(child, "stopped", summary->stopped_reason));
      continue;
    }
    if (!child.session.empty() && !summary) {
      SB_TRY(ended(child, "dead", "its session was deleted"));
      continue;
    }
    const auto report = std::ranges::find_if(submission.artifacts, [&](const Value& artifact) {
      return artifact.string_at("kind") == kChildOutcome && artifact.string_at("child") == child.id;
    });
    if (report == submission.artifacts.end()) continue;
    const std::string outcome = report->string_at("outcome") == "stopped" ? "stopped" : "dead";
    const std::string reason = report->string_at("reason").value_or("");
    if (summary) SB_TRY(stop_in(update.transaction(), child.session, "its parent reported: " + reason, "parent"));
    SB_TRY(ended(child, outcome, reason));
  }
  return {};
}

Result<SessionResponse> Sessions::Parts::poll_children(SessionUpdate& update, const Program& program, NodeNo number,
                                                       const Submission& submission, bool has_output) {
  SB_TRY(record_child_results(update, number, submission));
  SB_TRY(start_children(update, program, number));
  const Node node = update.known(number);
  const auto completed = std::ranges::count(node.children, std::string("complete"), &Child::outcome);
  const bool all_ended = std::ranges::all_of(node.children, has_ended);
  const int quorum = quorum_of(program.step(node.position.step), node.children.size());
  const bool is_reached = quorum == 0 ? all_ended : completed >= quorum;
  if (is_reached) return join(update, program, number, submission);
  if (all_ended) {
    const std::string why = fmt::format("{} of {} sessions succeeded; {} were needed.\n{}", completed,
                                        node.children.size(), quorum, name_ended_badly(node.children));
    const std::string id = SB_TRY(ask(update, quorum_question({program, update.summary(), node}, why)));
    Value missing = Value::array();
    for (const Child& child : node.children) {
      if (child.outcome != "complete") missing.push_back(child.id);
    }
    SB_TRY(update.emit(
        "quorum_missed",
        Value::object({{"node", number}, {"decision", id}, {"missing", std::move(missing)}, {"reason", why}})));
    return awaiting(update.transaction(), program, update.summary(), update.known(number));
  }
  if (!has_output) return answer_for(update.transaction(), program, update.summary(), node, RenderReason::kAdvance, {});
  const auto open = still_open(SB_TRY(children_of(update.transaction(), node)));
  return blocked(update.transaction(), program, update.summary(), node, open, node.attempt, false);
}

// {outcome, notes, artifacts} of a child; what is too large for a context is named instead of included.
Result<Value> Sessions::Parts::result_of(store::Transaction& transaction, const Child& child) {
  // A child that was not waited for is stopped with the join.
  const bool is_left = child.outcome.empty();
  Value result = Value::object({{"outcome", is_left ? "stopped" : child.outcome}});
  if (is_left || !child.reason.empty()) result.set("reason", is_left ? "not waited for" : child.reason);
  if (!child.session.empty()) result.set("session", child.session);
  const auto summary = child.session.empty() ? std::nullopt : SB_TRY(read_summary(transaction, child.session));
  const auto tip = summary ? SB_TRY(read_node(transaction, child.session, summary->tip)) : std::nullopt;
  std::string notes;
  Value artifacts = Value::array();
  if (tip) {
    const auto last = tip->parent == 0
                          ? std::nullopt
                          : SB_TRY(read_attempt(transaction, child.session, tip->parent, tip->parent_attempt));
    if (last) notes = SB_TRY(delivered(transaction, child.session, last->output_seq)).notes;
    for (const auto& [kind, hash] : tip->artifacts) {
      Value artifact = SB_TRY(read_json_blob(transaction, hash));
      const std::size_t bytes = to_json(artifact).size();
      if (bytes > kCapturedArtifactBytes) {
        artifact = Value::object({{"kind", kind}, {"artifact", hash}, {"bytes", bytes}});
      }
      artifacts.push_back(std::move(artifact));
    }
  }
  if (notes.size() > kCapturedNotesBytes) {
    result.set("notesBytes", notes.size());
    notes = fmt::format("[{} bytes: signalbox session show {}]", notes.size(), child.session);
  }
  result.set("notes", std::move(notes));
  result.set("artifacts", std::move(artifacts));
  return result;
}

Result<Value> Sessions::Parts::captured_values(SessionUpdate& update, const Program& program, NodeNo number) {
  const Node& node = update.known(number);
  const workflow::Step& step = program.step(node.position.step);
  Value captured = Value::object();
  Value all = Value::array();
  for (const Child& child : node.children) {
    const bool is_loop = step.loop() != nullptr;
    if (child.capture_as.empty() && !(is_loop && !step.loop()->loop.capture_as.empty())) continue;
    Value result = SB_TRY(result_of(update.transaction(), child));
    if (is_loop) {
      all.push_back(std::move(result));
    } else {
      captured.set(child.capture_as, std::move(result));
    }
  }
  if (step.loop() != nullptr && !step.loop()->loop.capture_as.empty()) {
    captured.set(step.loop()->loop.capture_as, std::move(all));
  }
  return captured;
}

Result<SessionResponse> Sessions::Parts::join(SessionUpdate& update, const Program& program, NodeNo number,
                                              const Submission& submission) {
  const Node node = update.known(number);
  const Value captured = SB_TRY(captured_values(update, program, number));
  const Value context = SB_TRY(read_json_blob(update.transaction(), node.context));
  Value changes = captured;
  if (submission.context.is_object()) {
    for (const Value::Member& member : submission.context.members()) changes.set(member.name, member.value);
  }
  AdvanceResult moved;
  moved.context = SB_TRY(merge_context(context, changes));
  moved.move = next_position(program, node.position, node.jumps, moved.context, {}, false);
  moved.notes_to_agent = moved.move.warnings;
  const auto in_the_way = opening_blockers(program, update.summary(), moved.move, moved.context);
  if (!in_the_way.empty())
    return blocked(update.transaction(), program, update.summary(), node, in_the_way, node.attempt, false);
  Value missing = Value::array();
  for (const Child& child : node.children) {
    if (child.outcome == "complete") continue;
    missing.push_back(child.id);
    moved.notes_to_agent.push_back(
        child.outcome.empty()
            ? fmt::format("{} was not waited for: enough others had completed.", child.id)
            : fmt::format("{} is {}{}{}.", child.id, child.outcome, child.reason.empty() ? "" : ": ", child.reason));
    if (child.outcome.empty() && !child.session.empty()) {
      SB_TRY(stop_in(update.transaction(), child.session, "enough others had completed", "parent"));
    }
  }
  Value payload = Value::object({{"node", number}, {"attempt", node.attempt}, {"captured", captured}});
  if (missing.size() > 0) payload.set("missing", std::move(missing));
  if (!submission.notes.empty() || !submission.artifacts.empty() ||
      (submission.context.is_object() && submission.context.size() > 0)) {
    Value hashes = Value::array();
    for (const Value& artifact : submission.artifacts) {
      hashes.push_back(SB_TRY(put_json_blob(update.transaction(), artifact)));
    }
    SB_TRY(update.emit(
        "output_recorded",
        Value::object({{"node", number},
                       {"attempt", node.attempt},
                       {"notes", submission.notes},
                       {"artifacts", std::move(hashes)},
                       {"context_set", submission.context.is_object() ? submission.context : Value::object()}})));
  }
  SB_TRY(update.emit("joined", std::move(payload)));
  return finish_attempt(update, program, number, moved);
}

Status Sessions::Parts::stop_in(store::Transaction& transaction, std::string_view session, std::string_view reason,
                                std::string_view by) {
  SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, clock.now_ms()));
  // Also below one that is over: an agent may have left its own sessions open.
  for (const std::string& child : SB_TRY(list_children(transaction, session))) {
    if (SB_TRY(read_summary(transaction, child))) {
      SB_TRY(stop_in(transaction, child, "its parent session was stopped", by));
    }
  }
  if (update.summary().status == SessionStatus::kComplete || update.summary().status == SessionStatus::kStopped)
    return {};
  const Node tip = *SB_TRY(update.node(update.summary().tip));
  for (const Child& child : tip.children) {
    if (!child.session.empty() && child.outcome.empty()) {
      SB_TRY(stop_in(transaction, child.session, "its parent session was stopped", by));
    }
  }
  if (tip.waiting && !tip.waiting->decision.empty()) SB_TRY(inbox.discard_in(transaction, tip.waiting->decision));
  if (tip.waiting && !tip.waiting->session.empty()) {
    SB_TRY(stop_in(transaction, tip.waiting->session, "the session it evaluated was stopped", by));
  }
  SB_TRY(update.emit("session_stopped", Value::object({{"reason", reason}, {"by", by}})));
  return finish(update);
}

}  // namespace sb::engine

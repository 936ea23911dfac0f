#include "engine/steps/joins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "engine/steps/read_child_result.hpp"
#include "engine/transaction/session_events.hpp"
#include "workflow/check/contract.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kChildOutcome = "wr.child_outcome";
// Of a captured result, besides its parts: its key, its members, references to what is not included.
constexpr std::size_t kCapturedOverhead = 300;

bool has_ended(const Child& child) {
  return !child.outcome.empty();
}

// `taster is dead: its agent is gone`; a reason is somebody's text.
std::string how_it_ended(const Child& child) {
  return fmt::format("{} is {}{}{}", child.id, child.outcome, child.reason.empty() ? "" : ": ",
                     one_line(printable(child.reason)));
}

std::string name_ended_badly(const std::vector<Child>& children) {
  std::string text;
  for (const Child& child : children) {
    if (!has_ended(child) || child.outcome == "complete") continue;
    text += fmt::format("- {}\n", how_it_ended(child));
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
    if (!child.decision.empty()) {
      blockers.push_back({BlockerCode::kChildrenOpen, child.id,
                          fmt::format("{} waits for a person to answer {}", child.id, child.decision),
                          "Tell them; continue it with its own token once they have answered", Value()});
      continue;
    }
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

// What the children leave in the context, by key, each within its share of `room`.
Result<Value> captured_values(const StepUpdate& step, std::size_t room) {
  const workflow::LoopStep* loop = step.definition().loop();
  const std::string key = loop != nullptr ? loop->loop.capture_as : "";
  const std::vector<Child>& children = step.node().children;
  const std::size_t share = room / std::max<std::size_t>(children.size(), 1);
  Value captured = Value::object();
  Value all = Value::array();
  for (const Child& child : children) {
    if (child.capture_as.empty() && key.empty()) continue;
    Value result = captured_value(SB_TRY(read_child_result(step.transaction(), child)), share);
    if (loop != nullptr) {
      all.push_back(std::move(result));
    } else {
      captured.set(child.capture_as, std::move(result));
    }
  }
  if (!key.empty()) captured.set(key, std::move(all));
  return captured;
}

// What the agent delivered with the join.
Status record_submission(const StepUpdate& step, const Submission& submission) {
  Value hashes = Value::array();
  for (const Value& artifact : submission.artifacts) {
    hashes.push_back(SB_TRY(put_json_blob(step.transaction(), artifact)));
  }
  return step.emit(
      "output_recorded",
      Value::object({{"attempt", step.node().attempt},
                     {"notes", submission.notes},
                     {"artifacts", std::move(hashes)},
                     {"context_set", submission.context.is_object() ? submission.context : Value::object()}}));
}

std::vector<std::string> ids_not_complete(const std::vector<Child>& children) {
  std::vector<std::string> ids;
  for (const Child& child : children) {
    if (child.outcome != "complete") ids.push_back(child.id);
  }
  return ids;
}

}  // namespace

Result<SessionResponse> Joins::poll(const StepUpdate& step, const Submission& submission, bool delivers) {
  SB_TRY(record_ended_children(step, submission));
  SB_TRY(opener_.start_children(step));
  const std::vector<Child>& children = step.node().children;
  const auto completed = std::ranges::count(children, std::string("complete"), &Child::outcome);
  const bool all_ended = std::ranges::all_of(children, has_ended);
  const int quorum = quorum_of(step.definition(), children.size());
  const bool is_reached = quorum == 0 ? all_ended : completed >= quorum;
  if (is_reached) return join(step, submission);
  if (all_ended) {
    return ask_about_quorum(step, fmt::format("{} of {} sessions succeeded; {} were needed.\n{}", completed,
                                              children.size(), quorum, name_ended_badly(children)));
  }
  if (!delivers) return responses_.open(step.transaction(), step.here(), {});
  const auto open = still_open(SB_TRY(responses_.children(step.transaction(), step.node())));
  return responses_.blocked(step.transaction(), step.here(), open, false);
}

Status Joins::record_ended_children(const StepUpdate& step, const Submission& submission) {
  const std::vector<Child> children = step.node().children;
  SB_TRY(check_reports(children, submission));
  for (const Child& child : children) {
    if (!has_ended(child)) SB_TRY(record_end(step, child, submission));
  }
  return {};
}

// If it has ended, or the submission reports that.
Status Joins::record_end(const StepUpdate& step, const Child& child, const Submission& submission) {
  const auto ended = [&](std::string_view outcome, std::string_view reason) {
    return step.emit("child_ended", Value::object({{"child", child.id}, {"outcome", outcome}, {"reason", reason}}));
  };
  const auto summary = child.session.empty() ? std::nullopt : SB_TRY(read_summary(step.transaction(), child.session));
  if (summary && summary->status == SessionStatus::kComplete) return ended("complete", "");
  if (summary && summary->status == SessionStatus::kStopped) return ended("stopped", summary->stopped_reason);
  if (!child.session.empty() && !summary) return ended("dead", "its session was deleted");
  const auto report = std::ranges::find_if(submission.artifacts, [&](const Value& artifact) {
    return artifact.string_at("kind") == kChildOutcome && artifact.string_at("child") == child.id;
  });
  if (report == submission.artifacts.end()) return {};
  const std::string reason = report->string_at("reason").value_or("");
  if (summary) SB_TRY(stopper_.stop(step.transaction(), child.session, "its parent reported: " + reason, "parent"));
  return ended(report->string_at("outcome") == "stopped" ? "stopped" : "dead", reason);
}

Result<SessionResponse> Joins::ask_about_quorum(const StepUpdate& step, const std::string& why) {
  const std::string id = SB_TRY(ask(inbox_, step.session, quorum_question(step.here(), why), true));
  SB_TRY(step.emit("quorum_missed", Value::object({{"decision", id},
                                                   {"missing", Value::array(ids_not_complete(step.node().children))},
                                                   {"reason", why}})));
  return responses_.awaiting(step.transaction(), step.here());
}

Result<SessionResponse> Joins::join(const StepUpdate& step, const Submission& submission) {
  const Node node = step.node();
  // As large as the context allows, so that the step can always end.
  const Value own = SB_TRY(merge_context(SB_TRY(step.context()), submission.context));
  const std::size_t taken = to_json(own).size() + kCapturedOverhead * (node.children.size() + 1);
  const Value captured = SB_TRY(captured_values(step, limits::kContextBytes - std::min(limits::kContextBytes, taken)));
  AdvanceResult moved;
  moved.context = SB_TRY(merge_context(SB_TRY(merge_context(own, captured)), submission.context));
  moved.move = next_position(step.program, node.position, node.jumps, moved.context, {}, false);
  moved.notes_to_agent = moved.move.warnings;
  const auto in_the_way = opening_blockers(step.program, step.summary(), moved);
  if (!in_the_way.empty()) return responses_.blocked(step.transaction(), step.here(), in_the_way, false);
  for (const Child& child : node.children) {
    if (child.outcome == "complete") continue;
    moved.notes_to_agent.push_back(child.outcome.empty()
                                       ? fmt::format("{} was not waited for: enough others had completed.", child.id)
                                       : how_it_ended(child) + ".");
    if (child.outcome.empty() && !child.session.empty()) {
      SB_TRY(stopper_.stop(step.transaction(), child.session, "enough others had completed", "parent"));
    }
  }
  if (submission.has_output()) SB_TRY(record_submission(step, submission));
  Value payload = Value::object({{"attempt", node.attempt}, {"captured", captured}});
  const auto missing = ids_not_complete(node.children);
  if (!missing.empty()) payload.set("missing", Value::array(missing));
  SB_TRY(step.emit("joined", std::move(payload)));
  return attempts_.advance(step, moved);
}

}  // namespace sb::engine

#include "engine/steps/response_writer.hpp"

#include <fmt/format.h>

#include <set>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/advance/questions.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/known_before.hpp"
#include "engine/transaction/session_events.hpp"
#include "inbox/question/answer_command.hpp"
#include "inbox/question/choice_text.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kListedGoalBytes = 1'000;  // the whole goal is in the child's own first step

Value decision_value(const inbox::DecisionState& state, bool may_relay) {
  Value options = Value::array();
  for (const inbox::Part& part : state.opened.question.parts) {
    for (const inbox::Choice& choice : part.options) {
      options.push_back(Value::object({{"id", choice.id}, {"label", choice.label}}));
    }
  }
  return Value::object({{"id", state.id},
                        {"text", state.opened.question.text},
                        {"options", std::move(options)},
                        {"url", Value()},
                        {"relay", may_relay}});
}

std::string_view why_of(const Waiting& waiting) {
  switch (waiting.what) {
    case Waiting::Kind::kGate:
      return "A person must accept what this step delivered.";
    case Waiting::Kind::kEvaluator:
      return "An evaluator judges what this step delivered.";
    case Waiting::Kind::kDecision:
      return "A person must decide.";
    case Waiting::Kind::kBreaker:
      return "This step was refused too often; a person must decide how to continue.";
    case Waiting::Kind::kQuorum:
      return "Too few of the parallel sessions succeeded; a person must decide how to continue.";
  }
  return "";
}

Value children_value(const std::vector<ChildView>& children) {
  Value listed = Value::array();
  for (const ChildView& child : children) {
    Value item = Value::object(
        {{"id", child.id}, {"workflowId", child.workflow_id}, {"goal", shortened(child.goal, kListedGoalBytes)}});
    if (!child.label.empty()) item.set("label", child.label);
    if (!child.tier.empty()) item.set("modelTier", child.tier);
    if (!child.token.empty()) item.set("continueToken", child.token);
    if (!child.decision.empty()) item.set("decision", child.decision);
    if (!child.outcome.empty()) item.set("outcome", child.outcome);
    listed.push_back(std::move(item));
  }
  return listed;
}

Result<Value> seen_context(store::Snapshot& snapshot, const SessionNode& at) {
  return context_at(at.program, at.node.position, SB_TRY(read_json_blob(snapshot, at.node.context)));
}

SessionResponse complete(const SessionNode& at, const std::vector<std::string>& notices, const std::string& results) {
  return {render_complete(at.summary.workflow_name, notices, results), Value::object({{"kind", "complete"},
                                                                                      {"sessionId", at.summary.id},
                                                                                      {"isComplete", true},
                                                                                      {"pending", Value()},
                                                                                      {"nextIntent", "complete"}})};
}

}  // namespace

struct ResponseWriter::Question {
  Value decision;
  std::string shown, command, unsigned_options;
  bool is_signed = false, has_no_operator = false;
  bool is_missing = false;  // in this inbox
};

Result<SessionResponse> ResponseWriter::open(store::Snapshot& snapshot, const SessionNode& at,
                                             Occasion occasion) const {
  const bool is_resumed = occasion.reason == RenderReason::kRehydrate;
  if (at.node.waiting && !is_resumed) return awaiting(snapshot, at);
  std::optional<Node> before = occasion.from != nullptr ? std::optional(*occasion.from) : std::nullopt;
  if (is_resumed && at.node.parent != 0) before = SB_TRY(read_node(snapshot, at.summary.id, at.node.parent));
  const std::vector<Node> joined = SB_TRY(joined_before(snapshot, at.summary.id, before));
  const std::string results = SB_TRY(results_before(snapshot, joined, surface_));
  if (at.node.kind == NodeKind::kEnd) return complete(at, occasion.notices, results);
  const Value context = SB_TRY(seen_context(snapshot, at));
  StepView view{.program = at.program, .node = at.node, .context = context, .render_reason = occasion.reason};
  view.goal = at.summary.goal;
  view.notices = std::move(occasion.notices);
  view.references = std::move(occasion.references);
  view.results = results;
  view.braces = at.braces();
  view.where = where_to_read(at.summary.id, surface_);
  if (is_resumed) {
    const auto shown = at.node.kind == NodeKind::kStep ? keys_shown_by(view) : std::set<std::string, std::less<>>();
    view.values = SB_TRY(values_before(snapshot, at, joined, shown, surface_));
    view.recall = SB_TRY(recall_before(snapshot, at));
  }
  if (before) {
    view.iterated = SB_TRY(iterations_before(snapshot, at, *before, occasion.outcome, is_resumed));
  }
  if (!at.node.waiting) return step(snapshot, at, view);
  // An agent that resumes here is shown the next step without this.
  SessionResponse waits = SB_TRY(awaiting(snapshot, at));
  waits.text = render_opening(view) + waits.text;
  return waits;
}

Result<SessionResponse> ResponseWriter::step(store::Snapshot& snapshot, const SessionNode& at,
                                             const StepView& view) const {
  SessionResponse response;
  response.line = line(at, view.context, "ok", at.node.attempt, "perform_pending_then_continue");
  if (at.node.kind != NodeKind::kChildren) {
    response.text = render_step(view);
    return response;
  }
  const std::vector<ChildView> started = SB_TRY(children(snapshot, at.node));
  response.line.set("children", children_value(started));
  const workflow::ParallelStep* parallel = at.step().parallel();
  if (view.render_reason == RenderReason::kRehydrate) {
    response.text = render_opening(view);
  } else {
    for (const std::string& notice : view.notices) response.text += notice + "\n\n";
  }
  response.text += view.results;
  response.text += view.iterated;
  response.text += render_children(view, started, parallel != nullptr ? parallel->quorum : 0, surface_);
  return response;
}

Result<SessionResponse> ResponseWriter::awaiting(store::Snapshot& snapshot, const SessionNode& at) const {
  SB_ASSERT(at.node.waiting);
  const Waiting& waiting = *at.node.waiting;
  const Question asked = SB_TRY(question(snapshot, waiting.decision));
  std::string why(why_of(waiting));
  // An imported session comes without its open questions.
  if (asked.is_missing) why += " Its question was not imported; continuing asks it again.";
  SessionResponse response;
  response.line =
      line(at, SB_TRY(seen_context(snapshot, at)), "awaiting_decision", at.node.attempt, "await_user_confirmation");
  response.line.set("decision", asked.decision);
  ChildView evaluator{.id = "gate"};
  if (!waiting.session.empty()) {
    const auto session = SB_TRY(read_summary(snapshot, waiting.session));
    const auto tip = session ? SB_TRY(read_node(snapshot, waiting.session, session->tip)) : std::nullopt;
    evaluator.workflow_id = session ? session->workflow_id : "";
    Value item = Value::object({{"id", evaluator.id}, {"workflowId", evaluator.workflow_id}});
    if (tip && tip->kind != NodeKind::kEnd) {
      evaluator.token = tokens_.mint(Purpose::kContinue, waiting.session, tip->number, tip->attempt);
      item.set("continueToken", evaluator.token);
    }
    response.line.set("children", Value(Value::Array{std::move(item)}));
  }
  response.text = render_awaiting({.why = why,
                                   .decision = asked.decision,
                                   .command = asked.command,
                                   .shown = asked.shown,
                                   .is_signed = asked.is_signed,
                                   .unsigned_options = asked.unsigned_options,
                                   .has_no_operator = asked.has_no_operator,
                                   .evaluator = evaluator.token.empty() ? nullptr : &evaluator});
  return response;
}

Result<ResponseWriter::Question> ResponseWriter::question(store::Snapshot& snapshot, const std::string& id) const {
  Question asked;
  if (id.empty()) return asked;
  const auto state = inbox_.peek_in(snapshot, id);
  asked.is_missing = !state && state.error().code == ErrorCode::kNotFound;
  if (asked.is_missing) return asked;
  if (!state) return std::unexpected(state.error());
  asked.decision = decision_value(*state, inbox_.may_relay(*state));
  asked.is_signed = state->opened.needs_signature;
  if (asked.is_signed) asked.unsigned_options = inbox::unsigned_options(state->opened);
  asked.has_no_operator = asked.is_signed && !state->opened.operators;
  const auto declared = declaration_of(state->opened);
  if (declared) asked.shown = inbox::choice_text(*declared);
  asked.command =
      declared ? inbox::answer_command(state->id, *declared) : fmt::format("signalbox inbox answer {}", state->id);
  return asked;
}

Result<SessionResponse> ResponseWriter::blocked(store::Snapshot& snapshot, const SessionNode& at,
                                                const std::vector<Blocker>& all, bool ends_attempt) const {
  const std::vector<Blocker> blockers = bounded(all);
  Value reported = Value::array();
  for (const Blocker& blocker : blockers) reported.push_back(to_value(blocker));
  SessionResponse response;
  response.text = render_blocked(at.program, at.node, blockers, ends_attempt);
  response.line = line(at, SB_TRY(seen_context(snapshot, at)), "blocked", at.node.attempt + (ends_attempt ? 1 : 0),
                       "perform_pending_then_continue");
  response.line.set("blockers", std::move(reported));
  response.line.set("retryable", true);
  response.line.set("retryContinueToken", response.line["continueToken"]);
  return response;
}

SessionResponse ResponseWriter::stopped(const Summary& summary) const {
  return {"A person stopped this session. There is nothing left to do.", Value::object({{"kind", "complete"},
                                                                                        {"sessionId", summary.id},
                                                                                        {"isComplete", false},
                                                                                        {"isStopped", true},
                                                                                        {"pending", Value()},
                                                                                        {"nextIntent", "complete"}})};
}

Result<std::vector<ChildView>> ResponseWriter::children(store::Snapshot& snapshot, const Node& node) const {
  std::vector<ChildView> views;
  for (const Child& child : node.children) {
    ChildView view{.id = child.id,
                   .workflow_id = child.workflow_id,
                   .goal = child.goal,
                   .outcome = child.outcome,
                   .reason = child.reason,
                   .label = child.label,
                   .tier = child.tier};
    if (!child.session.empty() && child.outcome.empty()) {
      const auto summary = SB_TRY(read_summary(snapshot, child.session));
      const auto tip = summary ? SB_TRY(read_node(snapshot, child.session, summary->tip)) : std::nullopt;
      if (tip && tip->kind != NodeKind::kEnd && summary->status != SessionStatus::kStopped) {
        view.token = tokens_.mint(Purpose::kContinue, child.session, tip->number, tip->attempt);
        if (tip->waiting) view.decision = tip->waiting->decision;
      } else {
        // Ended, but not joined yet.
        view.outcome = summary && summary->status == SessionStatus::kComplete ? "complete" : "stopped";
        if (summary) view.reason = summary->stopped_reason;
      }
    }
    views.push_back(std::move(view));
  }
  return views;
}

Value ResponseWriter::line(const SessionNode& at, const Value& context, std::string_view kind, int attempt,
                           std::string_view next_intent) const {
  const workflow::Step& step = at.step();
  const auto token = [&](Purpose purpose) { return tokens_.mint(purpose, at.summary.id, at.node.number, attempt); };
  return Value::object({{"kind", kind},
                        {"sessionId", at.summary.id},
                        {"continueToken", token(Purpose::kContinue)},
                        {"checkpointToken", token(Purpose::kCheckpoint)},
                        {"isComplete", false},
                        {"pending", Value::object({{"stepId", step.id},
                                                   {"title", workflow::fill_in_line(step.title, context, at.braces())},
                                                   {"requires", requirements(at.program, at.node.position, context)}})},
                        {"nextIntent", next_intent}});
}

}  // namespace sb::engine

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/session/parts.hpp"
#include "inbox/question/answer_command.hpp"
#include "inbox/question/choice_text.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

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

}  // namespace

std::string Sessions::Parts::mint(Purpose purpose, std::string_view session, NodeNo node, int attempt) const {
  return engine::mint({purpose, std::string(session), node, attempt}, keys.current());
}

Result<SessionResponse> Sessions::Parts::answer_for(store::Snapshot& snapshot, const Program& program,
                                                    const Summary& summary, const Node& node,
                                                    RenderReason render_reason, std::vector<std::string> notices,
                                                    const Value& references) {
  if (node.waiting && render_reason != RenderReason::kRehydrate) return awaiting(snapshot, program, summary, node);
  const auto view_of = [&](const Value& context) -> Result<StepView> {
    StepView view{.program = program, .node = node, .context = context, .render_reason = render_reason};
    view.goal = summary.goal;
    view.notices = std::move(notices);
    view.references = references;
    if (render_reason == RenderReason::kRehydrate)
      view.recall = SB_TRY(recall_from(snapshot, program, summary.id, node));
    return view;
  };
  if (node.waiting) {
    // An agent that resumes here is shown the next step without this.
    SessionResponse waits = SB_TRY(awaiting(snapshot, program, summary, node));
    const Value nothing = Value::object();
    waits.text = render_opening(SB_TRY(view_of(nothing))) + waits.text;
    return waits;
  }
  SessionResponse answer;
  answer.line = Value::object({{"kind", "ok"}, {"sessionId", summary.id}});
  if (node.kind == NodeKind::kEnd) {
    answer.text = render_complete(program, notices);
    answer.line.set("kind", "complete");
    answer.line.set("isComplete", true);
    answer.line.set("pending", Value());
    answer.line.set("nextIntent", "complete");
    return answer;
  }
  const workflow::Step& step = program.step(node.position.step);
  const Value context = context_at(program, node.position, SB_TRY(read_json_blob(snapshot, node.context)));
  answer.line.set("continueToken", mint(Purpose::kContinue, summary.id, node.number, node.attempt));
  answer.line.set("checkpointToken", mint(Purpose::kCheckpoint, summary.id, node.number, node.attempt));
  answer.line.set("isComplete", false);
  answer.line.set("pending", Value::object({{"stepId", step.id},
                                            {"title", workflow::fill_in_line(step.title, context)},
                                            {"requires", requirements(program, node.position, context)}}));
  answer.line.set("nextIntent", "perform_pending_then_continue");
  const StepView view = SB_TRY(view_of(context));
  if (node.kind != NodeKind::kChildren) {
    answer.text = render_step(view);
    return answer;
  }
  const std::vector<ChildView> children = SB_TRY(children_of(snapshot, node));
  Value listed = Value::array();
  for (const ChildView& child : children) {
    Value item = Value::object({{"id", child.id}, {"workflowId", child.workflow_id}, {"goal", child.goal}});
    if (!child.token.empty()) item.set("continueToken", child.token);
    if (!child.outcome.empty()) item.set("outcome", child.outcome);
    listed.push_back(std::move(item));
  }
  answer.line.set("children", std::move(listed));
  const int needed = step.parallel() != nullptr ? step.parallel()->quorum : 0;
  for (const std::string& notice : view.notices) answer.text += notice + "\n\n";
  answer.text += render_children(program, node, children, needed);
  return answer;
}

Result<SessionResponse> Sessions::Parts::awaiting(store::Snapshot& snapshot, const Program& program,
                                                  const Summary& summary, const Node& node) {
  SB_ASSERT(node.waiting);
  const Waiting& waiting = *node.waiting;
  const workflow::Step& step = program.step(node.position.step);
  const Value context = context_at(program, node.position, SB_TRY(read_json_blob(snapshot, node.context)));
  std::string why(why_of(waiting));
  Value decision;
  std::string shown, command;
  bool is_signed = false, has_no_operator = false;
  if (!waiting.decision.empty()) {
    auto state = inbox.peek_in(snapshot, waiting.decision);
    const bool is_gone = !state && state.error().code == ErrorCode::kNotFound;
    if (!state && !is_gone) return std::unexpected(std::move(state).error());
    if (is_gone) {
      // An imported session comes without its open questions.
      why += " Its question was not imported; continuing asks it again.";
    } else {
      decision = decision_value(*state, inbox.may_relay(*state));
      is_signed = state->opened.needs_signature;
      has_no_operator = is_signed && !state->opened.operators;
      const auto declared = declaration_of(state->opened);
      if (declared) shown = inbox::choice_text(*declared);
      command =
          declared ? inbox::answer_command(state->id, *declared) : fmt::format("signalbox inbox answer {}", state->id);
    }
  }
  SessionResponse answer;
  answer.line =
      Value::object({{"kind", "awaiting_decision"},
                     {"sessionId", summary.id},
                     {"continueToken", mint(Purpose::kContinue, summary.id, node.number, node.attempt)},
                     {"checkpointToken", mint(Purpose::kCheckpoint, summary.id, node.number, node.attempt)},
                     {"isComplete", false},
                     {"pending", Value::object({{"stepId", step.id},
                                                {"title", workflow::fill_in_line(step.title, context)},
                                                {"requires", requirements(program, node.position, context)}})},
                     {"nextIntent", "await_user_confirmation"},
                     {"decision", decision}});
  ChildView judge{.id = "gate"};
  if (!waiting.session.empty()) {
    const auto child = SB_TRY(read_summary(snapshot, waiting.session));
    const auto tip = child ? SB_TRY(read_node(snapshot, waiting.session, child->tip)) : std::nullopt;
    Value evaluator = Value::object({{"id", "gate"}, {"workflowId", child ? child->workflow_id : ""}});
    if (tip && tip->kind != NodeKind::kEnd) {
      judge.token = mint(Purpose::kContinue, waiting.session, tip->number, tip->attempt);
      evaluator.set("continueToken", judge.token);
    }
    judge.workflow_id = child ? child->workflow_id : "";
    answer.line.set("children", Value(Value::Array{std::move(evaluator)}));
  }
  answer.text = render_awaiting({.why = why,
                                 .decision = decision,
                                 .command = std::move(command),
                                 .shown = std::move(shown),
                                 .is_signed = is_signed,
                                 .has_no_operator = has_no_operator,
                                 .evaluator = judge.token.empty() ? nullptr : &judge});
  return answer;
}

Result<SessionResponse> Sessions::Parts::blocked(store::Snapshot& snapshot, const Program& program,
                                                 const Summary& summary, const Node& node,
                                                 const std::vector<Blocker>& all, int next_attempt, bool counts) {
  const std::vector<Blocker> blockers = bounded(all);
  const std::string token = mint(Purpose::kContinue, summary.id, node.number, next_attempt);
  const workflow::Step& step = program.step(node.position.step);
  const Value context = context_at(program, node.position, SB_TRY(read_json_blob(snapshot, node.context)));
  Value reported = Value::array();
  for (const Blocker& blocker : blockers) reported.push_back(to_value(blocker));
  SessionResponse answer;
  answer.text = render_blocked(program, node, blockers, counts);
  answer.line =
      Value::object({{"kind", "blocked"},
                     {"sessionId", summary.id},
                     {"continueToken", token},
                     {"checkpointToken", mint(Purpose::kCheckpoint, summary.id, node.number, next_attempt)},
                     {"isComplete", false},
                     {"pending", Value::object({{"stepId", step.id},
                                                {"title", workflow::fill_in_line(step.title, context)},
                                                {"requires", requirements(program, node.position, context)}})},
                     {"nextIntent", "perform_pending_then_continue"},
                     {"blockers", std::move(reported)},
                     {"retryable", true},
                     {"retryContinueToken", token}});
  return answer;
}

}  // namespace sb::engine

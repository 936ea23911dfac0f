#include "engine/steps/response_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/document/shown_values.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/advance/questions.hpp"
#include "engine/answer/earlier_iterations.hpp"
#include "engine/recall/recall.hpp"
#include "engine/state/rows.hpp"
#include "engine/steps/read_child_result.hpp"
#include "engine/transaction/session_events.hpp"
#include "inbox/question/answer_command.hpp"
#include "inbox/question/choice_text.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kListedGoalBytes = 1'000;  // the whole goal is in the child's own first step
constexpr int kJoinedNodes = 64;                 // of a loop whose only step starts sessions
constexpr std::size_t kIteratedSteps = 6;
constexpr std::size_t kShownTwiceBytes = 200;

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
    Value item = Value::object({{"id", child.id},
                                {"workflowId", child.workflow_id},
                                {"goal", shortened(child.goal, kListedGoalBytes)}});
    if (!child.label.empty()) item.set("label", child.label);
    if (!child.tier.empty()) item.set("modelTier", child.tier);
    if (!child.token.empty()) item.set("continueToken", child.token);
    if (!child.outcome.empty()) item.set("outcome", child.outcome);
    listed.push_back(std::move(item));
  }
  return listed;
}

Result<Value> seen_context(store::Snapshot& snapshot, const SessionNode& at) {
  return context_at(at.program, at.node.position, SB_TRY(read_json_blob(snapshot, at.node.context)));
}

// The newest notes on the way to this node.
Result<std::string> recall_before(store::Snapshot& snapshot, const SessionNode& at) {
  const std::string& session = at.summary.id;
  Node current = at.node;
  const auto before = [&](NodeNo number) -> Result<std::optional<RecalledStep>> {
    SB_ASSERT(number == current.number);
    if (current.parent == 0) return std::nullopt;
    auto parent = SB_TRY(read_node(snapshot, session, current.parent));
    const auto attempt = SB_TRY(read_attempt(snapshot, session, current.parent, current.parent_attempt));
    if (!parent || !attempt) {
      return fail(ErrorCode::kCorrupt, fmt::format("node {} of session {} is missing", current.parent, session));
    }
    RecalledStep past;
    past.node = parent->number;
    past.parent = parent->parent;
    past.step_id = parent->position.step;
    if (const StepNo step = at.program.find(past.step_id); step != kNoStep) {
      past.title = at.program.at(step).step->title;
    }
    past.notes = SB_TRY(read_notes(snapshot, session, attempt->output_seq));
    current = std::move(*parent);
    return past;
  };
  return recall(at.node.number, limits::kRecallBytes, before, at.node.depth);
}

// The nodes with child sessions that were joined since the last step of the session's own agent, the newest last.
Result<std::vector<Node>> joined_before(store::Snapshot& snapshot, const std::string& session,
                                        std::optional<Node> before) {
  std::vector<Node> joined;
  for (int steps = 0; before && before->kind != NodeKind::kStep && steps < kJoinedNodes; ++steps) {
    const NodeNo parent = before->parent;
    if (before->kind == NodeKind::kChildren) joined.push_back(std::move(*before));
    before = parent == 0 ? std::nullopt : SB_TRY(read_node(snapshot, session, parent));
  }
  std::ranges::reverse(joined);
  return joined;
}

Result<std::vector<ChildResult>> results_of(store::Snapshot& snapshot, const std::vector<Node>& joined) {
  std::vector<ChildResult> results;
  for (const Node& node : joined) {
    for (const Child& child : node.children) results.push_back(SB_TRY(read_child_result(snapshot, child)));
  }
  return results;
}

std::vector<std::string> keys_in(const Value& set) {
  std::vector<std::string> keys;
  if (!set.is_object()) return keys;
  for (const Value::Member& member : set.members()) keys.push_back(member.name);
  return keys;
}

// What a step at `node` delivered with its attempt.
Result<IteratedStep> iterated_step(store::Snapshot& snapshot, const SessionNode& at, const Node& node, int attempt,
                                   int iteration) {
  IteratedStep step{.iteration = iteration, .title = node.title, .step_id = node.position.step};
  const auto made = SB_TRY(read_attempt(snapshot, at.summary.id, node.number, attempt));
  if (!made) return step;
  AttemptOutput output = SB_TRY(read_output(snapshot, at.summary.id, made->output_seq));
  step.notes = std::move(output.notes);
  step.keys = keys_in(output.context_set);
  step.artifacts = std::move(output.artifacts);
  return step;
}

// The same for what is delivered in this transaction; nothing if it was delivered before and waited for its gate.
Result<std::optional<IteratedStep>> iterated_now(const AdvanceResult& outcome, const Node& node, int iteration) {
  const auto recorded = std::ranges::find(outcome.delivered, "output_recorded", &Event::type);
  if (recorded == outcome.delivered.end()) return std::nullopt;
  IteratedStep step{.iteration = iteration, .title = node.title, .step_id = node.position.step};
  step.notes = recorded->payload.string_at("notes").value_or("");
  step.keys = keys_in(recorded->payload["context_set"]);
  for (const SubmittedArtifact& artifact : outcome.submitted) {
    step.artifacts.push_back(SB_TRY(parse_stored(artifact.json)));
  }
  return step;
}

// For the first step of a later iteration. Reads a bounded number of steps, however long the loop is.
Result<std::string> iterated_before(store::Snapshot& snapshot, const SessionNode& at, const Node& from,
                                    const AdvanceResult* outcome) {
  const LoopFrame* frame = begun_iteration(at.program, from.position, at.node.position);
  if (frame == nullptr) return std::string();
  const auto depth = static_cast<std::size_t>(frame - at.node.position.loops.data());
  const auto iteration_in_loop = [&](const Node& node) -> std::optional<int> {
    const auto& loops = node.position.loops;
    const bool is_in_loop = loops.size() > depth && loops[depth].loop == frame->loop &&
                            std::equal(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(depth),
                                       at.node.position.loops.begin());
    return is_in_loop ? std::optional(loops[depth].iteration) : std::nullopt;
  };
  std::vector<IteratedStep> steps;
  int attempt = at.node.parent_attempt;
  std::optional<Node> node = from;
  while (node && steps.size() < kIteratedSteps) {
    const auto iteration = iteration_in_loop(*node);
    if (!iteration) break;
    const bool is_newest = node->number == from.number && outcome != nullptr;
    auto step = is_newest ? SB_TRY(iterated_now(*outcome, *node, *iteration)) : std::nullopt;
    if (!step && node->kind == NodeKind::kStep) {
      step = SB_TRY(iterated_step(snapshot, at, *node, attempt, *iteration));
    }
    if (step) steps.push_back(std::move(*step));
    attempt = node->parent_attempt;
    node = node->parent == 0 ? std::nullopt : SB_TRY(read_node(snapshot, at.summary.id, node->parent));
  }
  return earlier_iterations_text(steps, node && iteration_in_loop(*node), limits::kIterationsBytes);
}

// What its definition lets the agent see: a blind one only the named inputs.
bool may_see(const workflow::Definition& definition, const std::string& key) {
  const auto& isolation = definition.isolation;
  return !isolation || isolation->mode != "blind" || std::ranges::find(isolation->inputs, key) != isolation->inputs.end();
}

// Keys of the context that the text shows already, or that are not for this agent.
std::set<std::string, std::less<>> left_out_keys(const SessionNode& at, const Value& context,
                                                 const std::vector<Node>& joined) {
  std::set<std::string, std::less<>> keys;
  if (at.node.kind == NodeKind::kStep) {
    keys = keys_shown_by(at.step(), at.braces());
    // A short value is found more easily in one place with the others.
    std::erase_if(keys, [&](const std::string& key) { return to_json(context[key]).size() <= kShownTwiceBytes; });
  }
  if (context["goal"] == Value(at.summary.goal)) keys.insert("goal");
  for (const Node& node : joined) {
    const workflow::LoopStep* loop = at.program.step(node.position.step).loop();
    if (loop != nullptr) keys.insert(loop->loop.capture_as);
    for (const Child& child : node.children) keys.insert(child.capture_as);
  }
  for (const Value::Member& member : context.members()) {
    if (!may_see(at.program.definition(), member.name)) keys.insert(member.name);
  }
  return keys;
}

SessionResponse complete(const SessionNode& at, const std::vector<std::string>& notices, const std::string& results) {
  return {render_complete(at.program, notices, results), Value::object({{"kind", "complete"},
                                                               {"sessionId", at.summary.id},
                                                               {"isComplete", true},
                                                               {"pending", Value()},
                                                               {"nextIntent", "complete"}})};
}

}  // namespace

struct ResponseWriter::Question {
  Value decision;
  std::string shown, command;
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
  const std::string results = results_text(SB_TRY(results_of(snapshot, joined)), limits::kResultsBytes,
                                           where_to_read("SESSION", surface_));
  if (at.node.kind == NodeKind::kEnd) return complete(at, occasion.notices, results);
  const Value context = SB_TRY(seen_context(snapshot, at));
  StepView view{.program = at.program, .node = at.node, .context = context, .render_reason = occasion.reason};
  view.goal = at.summary.goal;
  view.notices = std::move(occasion.notices);
  view.references = std::move(occasion.references);
  view.results = results;
  view.braces = at.braces();
  if (is_resumed) {
    SB_TRY(add_known(snapshot, at, view, joined));
  } else if (before) {
    view.iterated = SB_TRY(iterated_before(snapshot, at, *before, occasion.outcome));
  }
  if (!at.node.waiting) return step(snapshot, at, view);
  // An agent that resumes here is shown the next step without this.
  SessionResponse waits = SB_TRY(awaiting(snapshot, at));
  waits.text = render_opening(view) + waits.text;
  return waits;
}

Status ResponseWriter::add_known(store::Snapshot& snapshot, const SessionNode& at, StepView& view,
                                 const std::vector<Node>& joined) const {
  const Value context = SB_TRY(read_json_blob(snapshot, at.node.context));
  view.values = shown_values(context, limits::kShownContextBytes, where_to_read(at.summary.id, surface_),
                             left_out_keys(at, context, joined));
  view.recall = SB_TRY(recall_before(snapshot, at));
  return {};
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
  response.text += render_children(at.program, at.node, started, parallel != nullptr ? parallel->quorum : 0,
                                   surface_);
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
    ChildView view{.id = child.id, .workflow_id = child.workflow_id, .goal = child.goal, .outcome = child.outcome,
                   .reason = child.reason, .label = child.label, .tier = child.tier};
    if (!child.session.empty() && child.outcome.empty()) {
      const auto summary = SB_TRY(read_summary(snapshot, child.session));
      const auto tip = summary ? SB_TRY(read_node(snapshot, child.session, summary->tip)) : std::nullopt;
      if (tip && tip->kind != NodeKind::kEnd && summary->status != SessionStatus::kStopped) {
        view.token = tokens_.mint(Purpose::kContinue, child.session, tip->number, tip->attempt);
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

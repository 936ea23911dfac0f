#include "engine/steps/step_opener.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "engine/answer/session_error.hpp"
#include "engine/state/child_rows.hpp"
#include "engine/steps/child_sessions.hpp"
#include "engine/steps/known_before.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

// What the child sessions of a later iteration find in their context.
constexpr std::string_view kEarlierIterations = "earlierIterations";

// The newest of each kind on a branch. An unsolicited artifact counts only if no requested one has its kind.
std::map<std::string, std::string> newest_artifacts(const Node& from, const AdvanceResult& outcome) {
  std::map<std::string, std::string> by_kind = from.artifacts;
  for (const SubmittedArtifact& artifact : outcome.submitted) by_kind.emplace(artifact.kind, artifact.hash);
  for (const auto& [kind, hash] : outcome.artifacts) by_kind[kind] = hash;
  return by_kind;
}

std::string missing_text(const std::vector<Blocker>& missing) {
  std::string text;
  for (const Blocker& blocker : missing) text += fmt::format("{}{}", text.empty() ? "" : "; ", blocker.message);
  return text;
}

// Unless the workflow uses the name itself, or there is no room.
void add_to_contexts(std::vector<Child>& children, std::string_view key, const std::string& text) {
  if (text.empty()) return;
  for (Child& child : children) {
    if (child.context.find(key) != nullptr) continue;
    const Value before = child.context;
    child.context.set(key, text);
    if (to_json(child.context).size() > limits::kContextBytes) child.context = before;
  }
}

}  // namespace

std::vector<Blocker> opening_blockers(const Program& program, const Summary& summary, const AdvanceResult& outcome) {
  const Position& to = outcome.move.to;
  std::vector<Blocker> found = outcome.move.missing;
  if (!found.empty() || kind_at(program, to) != NodeKind::kDecision) return found;
  Node node;
  node.number = summary.nodes + 1;
  node.position = to;
  const auto question = step_question({program, summary, node}, context_at(program, to, outcome.context), false);
  if (question) return found;
  const workflow::DecisionStep& step = *program.step(to.step).decision();
  for (const Error& fault : question.error()) {
    found.push_back({BlockerCode::kInvalidContext, step.options_from, fault.message, fault.remedy, {}});
  }
  return found;
}

Result<NodeNo> StepOpener::open_next(SessionUpdate& update, const Program& program, const Node& from,
                                     const AdvanceResult& outcome) {
  for (const Event& event : outcome.move.trace) {
    Value payload = event.payload;
    payload.set("node", update.next_node());
    SB_TRY(update.emit(event.type, std::move(payload)));
  }
  if (update.next_node() > limits::kSessionNodes) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kLimit, "this session has reached its limit of opened steps",
                  "Start a new one");
  }
  const Node node = SB_TRY(next_node(update, program, from, outcome));
  update.set_facts(node.number, SB_TRY(facts_of(update.transaction(), program, node, outcome.context)));
  Event opened = node_opened(node);
  SB_TRY(update.emit(std::move(opened.type), std::move(opened.payload)));
  const StepUpdate step{update, program, node.number};
  if (node.kind == NodeKind::kChildren) SB_TRY(start_children(step));
  if (node.kind == NodeKind::kEnd) SB_TRY(step.emit("session_completed", Value::object()));
  return node.number;
}

Result<Node> StepOpener::next_node(SessionUpdate& update, const Program& program, const Node& from,
                                   const AdvanceResult& outcome) {
  const Position& to = outcome.move.to;
  Node node;
  node.number = update.next_node();
  node.position = to;
  node.kind = kind_at(program, to);
  node.parent = from.number;
  node.parent_attempt = from.number == 0 ? 0 : from.attempt;
  node.depth = from.number == 0 ? 0 : from.depth + 1;
  node.jumps = outcome.move.jumps;
  node.artifacts = newest_artifacts(from, outcome);
  node.context = SB_TRY(put_json_blob(update.transaction(), outcome.context));
  const SessionNode at{program, update.summary(), node};
  const Value seen = context_at(program, to, outcome.context);
  if (node.kind != NodeKind::kEnd) node.title = workflow::fill_in_line(at.step().title, seen, at.braces());
  if (node.kind == NodeKind::kDecision) {
    const std::string id = SB_TRY(ask_step(inbox_, update, at, seen, commands_));
    node.waiting = Waiting{Waiting::Kind::kDecision, id, "", ""};
  }
  if (node.kind == NodeKind::kChildren) {
    node.children = SB_TRY(children_at(update.transaction(), at, seen));
    add_to_contexts(node.children, kEarlierIterations,
                    SB_TRY(iterations_for_children(update.transaction(), at, from, &outcome)));
  }
  if (node.children.size() > limits::kChildren) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kLimit,
                  fmt::format("step {} would start {} sessions; at most {} are allowed", to.step, node.children.size(),
                              limits::kChildren),
                  "Reduce the number of items");
  }
  return node;
}

// A child without a model tier of its own has that of its workflow.
Result<std::vector<Child>> StepOpener::children_at(store::Transaction& transaction, const SessionNode& at,
                                                   const Value& seen) {
  std::vector<Child> children = children_of_step(at, seen);
  for (Child& child : children) {
    if (!child.tier.empty() || child.hash.empty()) continue;
    const auto program = SB_TRY(programs_.get(transaction, child.hash));
    if (const auto tier = program->definition().model_tier) child.tier = workflow::to_string(*tier);
  }
  return children;
}

Status StepOpener::start_children(const StepUpdate& step) {
  const std::vector<Child> children = step.node().children;
  const auto is_running = [](const Child& child) { return !child.session.empty() && child.outcome.empty(); };
  auto running = std::ranges::count_if(children, is_running);
  const workflow::LoopStep* loop = step.definition().loop();
  const auto at_once = loop != nullptr ? loop->loop.parallel : static_cast<int>(limits::kChildren);
  for (const Child& child : children) {
    if (running >= at_once) break;
    if (!child.session.empty() || !child.outcome.empty()) continue;
    if (SB_TRY(start_child(step, child))) ++running;
  }
  return {};
}

// False if it cannot start and has been recorded as ended.
Result<bool> StepOpener::start_child(const StepUpdate& step, const Child& child) {
  const auto ended = [&](std::string_view outcome, std::string_view reason) -> Result<bool> {
    SB_TRY(step.emit("child_ended", Value::object({{"child", child.id}, {"outcome", outcome}, {"reason", reason}})));
    return false;
  };
  const Summary& own = step.summary();
  if (child.hash.empty()) return ended("unknown", fmt::format("no such workflow: {}", child.workflow_id));
  if (own.depth + 1 > limits::kChildDepth) {
    return ended("dead", fmt::format("sessions may be nested at most {} deep", limits::kChildDepth));
  }
  Value given = child.context;
  if (given.find("goal") == nullptr) given.set("goal", child.goal);
  if (const auto fits = check_context_size(given, "what it would be given"); !fits) {
    return ended("dead", fmt::format("{} cannot start: {}", child.workflow_id, fits.error().message));
  }
  NewSession new_session = NewSession::below(own, step.number, child.id);
  new_session.program = SB_TRY(programs_.get(step.transaction(), child.hash));
  new_session.goal = child.goal;
  new_session.context = std::move(given);
  new_session.braces = braces_below(own, child.workflow_id);
  new_session.repository = own.repository;
  new_session.git_branch = own.git_branch;
  new_session.git_head = own.git_head;
  if (is_loop_body(child.workflow_id)) {
    new_session.name =
        workflow::fill_in_line(new_session.program->definition().name, child.context, step.here().braces());
  }
  const auto created = create_session(step.transaction(), std::move(new_session));
  if (!created && created.error().rule != "PRECONDITION_FAILED") return std::unexpected(created.error());
  if (!created) return ended("dead", created.error().message);
  SB_TRY(step.emit("child_started", Value::object({{"child", child.id}, {"session", created->summary.id}})));
  return true;
}

Result<CreatedSession> StepOpener::create_session(store::Transaction& transaction, NewSession new_session) {
  if (new_session.id.empty()) new_session.id = make_id("s-", clock_.now_ms(), random_);
  Value initial = Value::object();
  if (new_session.context.is_object()) initial = new_session.context;
  if (initial.find("goal") == nullptr) initial.set("goal", new_session.goal);
  const Program& program = *new_session.program;
  AdvanceResult first;
  first.context = SB_TRY(merge_context(Value::object(), initial));
  first.move = next_position(program, {}, {}, first.context, {}, true);
  SessionUpdate update = SessionUpdate::fresh(transaction, new_session.id, clock_.now_ms());
  const std::string context = SB_TRY(put_json_blob(transaction, first.context));
  SB_TRY(update.emit("session_started", started_value(new_session, context, tokens_.keys().current())));
  if (const auto missing = opening_blockers(program, update.summary(), first); !missing.empty()) {
    return refuse("PRECONDITION_FAILED", ErrorCode::kInvalid,
                  fmt::format("{} cannot start: {}", program.definition().id, missing_text(missing)),
                  remedy_for(RemedyKind::kGiveContext, surface_));
  }
  const NodeNo opened = SB_TRY(open_next(update, program, Node{}, first));
  SB_TRY(writer_.finish(update));
  if (!new_session.parent_session.empty()) {
    SB_TRY(record_child(transaction, new_session.parent_session, new_session.id));
  }
  return CreatedSession{update.summary(), update.known(opened), first.move.warnings};
}

}  // namespace sb::engine

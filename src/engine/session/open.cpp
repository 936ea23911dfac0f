#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "engine/session/parts.hpp"
#include "engine/state/child_rows.hpp"
#include "engine/state/lineage_proof.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Delegation;

// The initial context of a child: the keys mapped to it, then the arguments, which take precedence.
Value child_context(const Delegation& delegation, const Value& context) {
  Value own = Value::object();
  for (const auto& [from, to] : delegation.context_mapping) {
    if (const Value* value = workflow::look_up(context, from)) own.set(to, *value);
  }
  for (const auto& [name, text] : delegation.args) own.set(name, workflow::fill_in(text, context));
  return own;
}

Child child_of(const Delegation& delegation, const Program& program, const workflow::Step& step, const Value& context,
               const Summary& summary) {
  Child child;
  child.id = delegation.id;
  child.workflow_id = delegation.workflow_id;
  const auto& calls = program.compiled().calls;
  if (const auto found = calls.find(delegation.workflow_id); found != calls.end()) child.hash = found->second;
  child.goal = delegation.goal.empty()
                   ? fmt::format("{}: {}", workflow::fill_in_line(step.title, context), summary.goal)
                   : workflow::fill_in(delegation.goal, context);
  child.capture_as = delegation.capture_as;
  child.context = child_context(delegation, context);
  return child;
}

std::vector<Child> loop_children(const Program& program, const workflow::Step& step, const Value& context,
                                 const Summary& summary) {
  const workflow::Loop& loop = step.loop()->loop;
  const auto& calls = program.compiled().calls;
  const auto body = calls.find(step.id + "#body");
  std::vector<Child> children;
  const Value* items = workflow::look_up(context, loop.items);
  const std::size_t all = items != nullptr && items->is_array() ? items->size() : 0;
  const std::size_t count = std::min(all, static_cast<std::size_t>(loop.max_iterations));
  for (std::size_t i = 0; i < count; ++i) {
    Child child;
    child.id = fmt::format("{}#{}", step.id, i + 1);
    child.workflow_id = step.id + "#body";
    if (body != calls.end()) child.hash = body->second;
    child.goal =
        fmt::format("{} ({} of {}): {}", workflow::fill_in_line(step.title, context), i + 1, count, summary.goal);
    child.context = context;
    child.context.set(loop.item_var, items->items()[i]);
    child.context.set(loop.index_var, i);
    child.context.set(loop.iteration_var, i + 1);
    children.push_back(std::move(child));
  }
  return children;
}

std::vector<Child> children_for(const Program& program, const Position& position, const Value& context,
                                const Summary& summary) {
  const workflow::Step& step = program.step(position.step);
  if (step.loop() != nullptr) return loop_children(program, step, context, summary);
  std::vector<Child> children;
  const auto add = [&](const Delegation& delegation) {
    if (delegation.run_condition && !workflow::holds(*delegation.run_condition, context)) return;
    children.push_back(child_of(delegation, program, step, context, summary));
  };
  if (const workflow::CallStep* call = step.call()) add(call->call);
  if (const workflow::ParallelStep* parallel = step.parallel()) {
    for (const Delegation& delegation : parallel->delegations) add(delegation);
  }
  return children;
}

Value origins_value(const std::vector<workflow::Origin>& origins) {
  Value all = Value::array();
  for (const workflow::Origin& origin : origins) {
    all.push_back(Value::object({{"kind", workflow::to_string(origin.kind)},
                                 {"folder", origin.folder},
                                 {"file", origin.file},
                                 {"digest", origin.digest}}));
  }
  return all;
}

Value started_value(const NewSession& new_session, const std::string& context, const TokenKey& key) {
  const workflow::Definition& definition = new_session.program->definition();
  Value value = Value::object({{"v", 1},
                               {"session", new_session.id},
                               {"workflow", definition.id},
                               {"name", definition.name},
                               {"hash", new_session.program->hash()},
                               {"origins", origins_value(new_session.origins)},
                               {"goal", new_session.goal},
                               {"context", context},
                               {"autonomous", new_session.is_autonomous},
                               {"workspace", new_session.workspace},
                               {"depth", new_session.depth}});
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) value.set(name, text);
  };
  add("repository", new_session.repository);
  add("git_branch", new_session.git_branch);
  add("git_head", new_session.git_head);
  if (!new_session.parent_session.empty()) {
    value.set("parent", Value::object({{"session", new_session.parent_session},
                                       {"node", new_session.parent_node},
                                       {"child", new_session.parent_child}}));
    value.set("lineage", sign_lineage({new_session.parent_session, new_session.id, new_session.depth}, key));
  }
  if (!new_session.references.is_null()) value.set("references", new_session.references);
  return value;
}

std::string missing_text(const std::vector<Blocker>& missing) {
  std::string text;
  for (const Blocker& blocker : missing) text += fmt::format("{}{}", text.empty() ? "" : "; ", blocker.message);
  return text;
}

}  // namespace

std::vector<Blocker> Sessions::Parts::opening_blockers(const Program& program, const Summary& summary,
                                                       const CursorMove& move, const Value& context) const {
  std::vector<Blocker> found = move.missing;
  if (!found.empty() || kind_at(program, move.to) != NodeKind::kDecision) return found;
  Node node;
  node.number = summary.nodes + 1;
  node.position = move.to;
  const auto question = step_question({program, summary, node}, context_at(program, move.to, context));
  if (question) return found;
  const workflow::DecisionStep& step = *program.step(move.to.step).decision();
  for (const Error& fault : question.error()) {
    found.push_back({BlockerCode::kInvalidContext, step.options_from, fault.message, fault.remedy, {}});
  }
  return found;
}

Result<NodeNo> Sessions::Parts::open_next(SessionUpdate& update, const Program& program, const Node& from,
                                          const CursorMove& move, const Value& context,
                                          const std::map<std::string, std::string>& artifacts) {
  for (const Event& event : move.trace) {
    Value payload = event.payload;
    payload.set("node", update.next_node());
    SB_TRY(update.emit(event.type, std::move(payload)));
  }
  const NodeNo number = update.next_node();
  if (number > limits::kSessionNodes) {
    return refuse(
        "PRECONDITION_FAILED",
        Error{ErrorCode::kLimit, "this session has reached its limit of opened steps", "Start a new one", {}, false});
  }
  Node node;
  node.number = number;
  node.position = move.to;
  node.kind = kind_at(program, move.to);
  node.parent = from.number;
  node.parent_attempt = from.number == 0 ? 0 : from.attempt;
  node.depth = from.number == 0 ? 0 : from.depth + 1;
  node.jumps = move.jumps;
  node.artifacts = artifacts;
  node.context = SB_TRY(put_json_blob(update.transaction(), context));
  const Value seen = context_at(program, move.to, context);
  if (node.kind != NodeKind::kEnd) {
    node.title = workflow::fill_in_line(program.step(move.to.step).title, seen);
  }
  if (node.kind == NodeKind::kDecision) {
    const std::string id = SB_TRY(ask(update, step_question({program, update.summary(), node}, seen)));
    node.waiting = Waiting{Waiting::Kind::kDecision, id, "", ""};
  }
  if (node.kind == NodeKind::kChildren) node.children = children_for(program, move.to, seen, update.summary());
  if (node.children.size() > limits::kChildren) {
    return refuse("PRECONDITION_FAILED", Error{ErrorCode::kLimit,
                                               fmt::format("step {} would start {} sessions; at most {} are allowed",
                                                           move.to.step, node.children.size(), limits::kChildren),
                                               "Reduce the number of items",
                                               {},
                                               false});
  }
  update.set_facts(number, SB_TRY(facts_of(update.transaction(), program, node, context)));
  Event opened = node_opened(node);
  SB_TRY(update.emit(std::move(opened.type), std::move(opened.payload)));
  if (node.kind == NodeKind::kChildren) SB_TRY(start_children(update, program, number));
  if (node.kind == NodeKind::kEnd) SB_TRY(update.emit("session_completed", Value::object({{"node", number}})));
  return number;
}

Status Sessions::Parts::start_children(SessionUpdate& update, const Program& program, NodeNo number) {
  const workflow::Step& step = program.step(update.known(number).position.step);
  const std::vector<Child> children = update.known(number).children;
  const auto is_running = [](const Child& child) { return !child.session.empty() && child.outcome.empty(); };
  auto running = std::ranges::count_if(children, is_running);
  const auto at_once = step.loop() != nullptr ? step.loop()->loop.parallel : static_cast<int>(limits::kChildren);
  const auto dead = [&](const Child& child, std::string_view outcome, std::string_view reason) {
    return update.emit(
        "child_ended",
        Value::object({{"node", number}, {"child", child.id}, {"outcome", outcome}, {"reason", reason}}));
  };
  for (const Child& child : children) {
    if (running >= at_once) break;
    if (!child.session.empty() || !child.outcome.empty()) continue;
    if (child.hash.empty()) {
      SB_TRY(dead(child, "unknown", fmt::format("no such workflow: {}", child.workflow_id)));
      continue;
    }
    const Summary& own = update.summary();
    if (own.depth + 1 > limits::kChildDepth) {
      SB_TRY(dead(child, "dead", fmt::format("sessions may be nested at most {} deep", limits::kChildDepth)));
      continue;
    }
    NewSession new_session;
    new_session.id = make_id("s-", clock.now_ms(), random);
    new_session.program = SB_TRY(this->program(update.transaction(), child.hash));
    new_session.goal = child.goal;
    new_session.context = child.context;
    new_session.workspace = own.workspace;
    new_session.repository = own.repository;
    new_session.git_branch = own.git_branch;
    new_session.git_head = own.git_head;
    new_session.is_autonomous = own.is_autonomous;
    new_session.parent_session = own.id;
    new_session.parent_child = child.id;
    new_session.parent_node = number;
    new_session.depth = own.depth + 1;
    const auto born = create_session(update.transaction(), new_session);
    if (!born && born.error().rule != "PRECONDITION_FAILED") return std::unexpected(born.error());
    if (!born) {
      SB_TRY(dead(child, "dead", born.error().message));
      continue;
    }
    SB_TRY(update.emit("child_started",
                       Value::object({{"node", number}, {"child", child.id}, {"session", new_session.id}})));
    ++running;
  }
  return {};
}

Result<CreatedSession> Sessions::Parts::create_session(store::Transaction& transaction, const NewSession& new_session) {
  Value initial = Value::object();
  if (new_session.context.is_object()) initial = new_session.context;
  if (initial.find("goal") == nullptr) initial.set("goal", new_session.goal);
  const Value context = SB_TRY(merge_context(Value::object(), initial));
  const Program& program = *new_session.program;
  const CursorMove move = next_position(program, {}, {}, context, {}, true);
  SessionUpdate update = SessionUpdate::fresh(transaction, new_session.id, clock.now_ms());
  SB_TRY(update.emit("session_started",
                     started_value(new_session, SB_TRY(put_json_blob(transaction, context)), keys.current())));
  if (const auto missing = opening_blockers(program, update.summary(), move, context); !missing.empty()) {
    return refuse("PRECONDITION_FAILED",
                  Error{ErrorCode::kInvalid,
                        fmt::format("{} cannot start: {}", program.definition().id, missing_text(missing)),
                        remedy(RemedyKind::kGiveContext),
                        {},
                        false});
  }
  const NodeNo first = SB_TRY(open_next(update, program, Node{}, move, context, {}));
  SB_TRY(finish(update));
  if (!new_session.parent_session.empty())
    SB_TRY(record_child(transaction, new_session.parent_session, new_session.id));
  return CreatedSession{update.summary(), update.known(first), move.warnings};
}

}  // namespace sb::engine

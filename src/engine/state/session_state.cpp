#include "engine/state/session_state.hpp"

#include <array>

#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"

namespace sb::engine {
namespace {

template <class E, std::size_t N>
using Table = std::array<std::pair<std::string_view, E>, N>;

constexpr Table<SessionStatus, 4> kStatuses{{{"open", SessionStatus::kOpen},
                                             {"waiting", SessionStatus::kWaiting},
                                             {"complete", SessionStatus::kComplete},
                                             {"stopped", SessionStatus::kStopped}}};
constexpr Table<NodeKind, 4> kNodeKinds{{{"step", NodeKind::kStep},
                                         {"decision", NodeKind::kDecision},
                                         {"children", NodeKind::kChildren},
                                         {"end", NodeKind::kEnd}}};
constexpr Table<Waiting::Kind, 5> kWaits{{{"gate", Waiting::Kind::kGate},
                                          {"evaluator", Waiting::Kind::kEvaluator},
                                          {"decision", Waiting::Kind::kDecision},
                                          {"breaker", Waiting::Kind::kBreaker},
                                          {"quorum", Waiting::Kind::kQuorum}}};
constexpr Table<Attempt::Ended, 3> kAttemptEndings{{{"blocked", Attempt::Ended::kBlocked},
                                                    {"advanced", Attempt::Ended::kAdvanced},
                                                    {"rejected", Attempt::Ended::kRejected}}};

template <class E, std::size_t N>
std::string_view name_of(const Table<E, N>& names, E wanted) {
  for (const auto& [name, meaning] : names) {
    if (meaning == wanted) return name;
  }
  return names.front().first;
}

template <class E, std::size_t N>
E read_choice(StoredReader& stored, std::string_view name, const Table<E, N>& names) {
  return stored.choice<E>(name, std::span<const std::pair<std::string_view, E>>(names));
}

void set_unless_empty(Value& value, std::string_view name, const std::string& text) {
  if (!text.empty()) value.set(name, text);
}

Value to_value(const Waiting& waiting) {
  Value value = Value::object({{"for", to_string(waiting.what)}});
  set_unless_empty(value, "decision", waiting.decision);
  set_unless_empty(value, "session", waiting.session);
  set_unless_empty(value, "reason", waiting.reason);
  return value;
}

Result<Waiting> waiting_from(const Value& value) {
  StoredReader stored(value, "what a session's node waits for");
  Waiting waiting;
  waiting.what = read_choice(stored, "for", kWaits);
  waiting.decision = stored.optional_string("decision");
  waiting.session = stored.optional_string("session");
  waiting.reason = stored.optional_string("reason");
  SB_TRY(stored.done(true));
  return waiting;
}

Status read_maps(StoredReader& stored, Node& node) {
  for (const auto& [step, count] : stored.object("jumps").members()) {
    if (!count.is_integer() || count.as_integer() < 1 || count.as_integer() > limits::kSessionNodes) {
      stored.refuse("jumps", "contains something that is not a count");
    } else {
      node.jumps.emplace(step, static_cast<int>(count.as_integer()));
    }
  }
  for (const auto& [kind, hash] : stored.object("artifacts").members()) {
    if (!hash.is_string()) {
      stored.refuse("artifacts", "contains something that is not a hash");
    } else {
      node.artifacts.emplace(kind, hash.as_string());
    }
  }
  return stored.done();
}

}  // namespace

std::string_view to_string(SessionStatus status) {
  return name_of(kStatuses, status);
}

std::string_view to_string(NodeKind kind) {
  return name_of(kNodeKinds, kind);
}

std::string_view to_string(Waiting::Kind what) {
  return name_of(kWaits, what);
}

std::string_view to_string(Attempt::Ended ended) {
  return name_of(kAttemptEndings, ended);
}

Value to_value(const std::vector<LoopFrame>& loops) {
  Value list = Value::array();
  for (const LoopFrame& frame : loops)
    list.push_back(Value::object({{"loop", frame.loop}, {"iteration", frame.iteration}}));
  return list;
}

Result<std::vector<LoopFrame>> loops_from(const Value& value) {
  if (!value.is_array()) return fail(ErrorCode::kCorrupt, "a session's place in its loops is not a list");
  std::vector<LoopFrame> loops;
  for (const Value& item : value.items()) {
    StoredReader stored(item, "a session's place in a loop");
    LoopFrame frame{stored.string("loop"), stored.small("iteration", 0)};
    SB_TRY(stored.done(true));
    loops.push_back(std::move(frame));
  }
  return loops;
}

Value to_value(const Child& child) {
  Value value = Value::object({{"id", child.id},
                               {"workflow", child.workflow_id},
                               {"hash", child.hash},
                               {"goal", child.goal},
                               {"capture_as", child.capture_as},
                               {"session", child.session}});
  if (!child.context.is_null()) value.set("context", child.context);
  set_unless_empty(value, "label", child.label);
  set_unless_empty(value, "tier", child.tier);
  set_unless_empty(value, "outcome", child.outcome);
  set_unless_empty(value, "reason", child.reason);
  return value;
}

Result<Child> child_from(const Value& value) {
  StoredReader stored(value, "a child of a session's node");
  Child child;
  child.id = stored.string("id");
  child.workflow_id = stored.string("workflow");
  child.hash = stored.string("hash");
  child.goal = stored.string("goal");
  child.capture_as = stored.string("capture_as");
  child.session = stored.string("session");
  if (stored.has("context")) child.context = stored.object("context");
  child.label = stored.optional_string("label");
  child.tier = stored.optional_string("tier");
  child.outcome = stored.optional_string("outcome");
  child.reason = stored.optional_string("reason");
  SB_TRY(stored.done(true));
  return child;
}

Value to_value(const Node& node) {
  Value jumps = Value::object(), artifacts = Value::object();
  for (const auto& [step, count] : node.jumps) jumps.set(step, count);
  for (const auto& [kind, hash] : node.artifacts) artifacts.set(kind, hash);
  Value value = Value::object({{"node", node.number},
                               {"parent", node.parent},
                               {"parent_attempt", node.parent_attempt},
                               {"kind", to_string(node.kind)},
                               {"step", node.position.step},
                               {"title", node.title},
                               {"loops", to_value(node.position.loops)},
                               {"context", node.context},
                               {"jumps", std::move(jumps)},
                               {"artifacts", std::move(artifacts)},
                               {"depth", node.depth},
                               {"attempt", node.attempt},
                               {"blocked_in_row", node.consecutive_blocks},
                               {"rejections", node.rejections},
                               {"breaker_lifted", node.breaker_lifted},
                               {"checkpoint", node.is_checkpoint}});
  if (node.waiting) value.set("waiting", to_value(*node.waiting));
  if (!node.children.empty()) {
    Value children = Value::array();
    for (const Child& child : node.children) children.push_back(to_value(child));
    value.set("children", std::move(children));
  }
  return value;
}

Result<Node> node_from(const Value& value) {
  StoredReader stored(value, "a session's node");
  Node node;
  node.number = stored.small("node", 1);
  node.parent = stored.small("parent", 0);
  node.parent_attempt = stored.small("parent_attempt", 0);
  node.kind = read_choice(stored, "kind", kNodeKinds);
  node.position.step = stored.string("step");
  node.title = stored.string("title");
  node.position.loops = SB_TRY(loops_from(stored.array("loops")));
  node.context = stored.hash("context");
  SB_TRY(read_maps(stored, node));
  node.depth = stored.small("depth", 0);
  node.attempt = stored.small("attempt", 1);
  node.consecutive_blocks = stored.small("blocked_in_row", 0);
  node.rejections = stored.small("rejections", 0);
  node.breaker_lifted = stored.boolean("breaker_lifted");
  node.is_checkpoint = stored.boolean("checkpoint");
  if (stored.has("waiting")) node.waiting = SB_TRY(waiting_from(stored.object("waiting")));
  if (stored.has("children")) {
    for (const Value& child : stored.array("children").items()) node.children.push_back(SB_TRY(child_from(child)));
  }
  SB_TRY(stored.done(true));
  return node;
}

Value to_value(const Attempt& attempt) {
  return Value::object({{"node", attempt.node},
                        {"attempt", attempt.number},
                        {"ended", to_string(attempt.ended)},
                        {"successor", attempt.successor},
                        {"output_seq", attempt.output_seq},
                        {"ended_seq", attempt.ended_seq}});
}

Result<Attempt> attempt_from(const Value& value) {
  StoredReader stored(value, "an attempt of a session");
  Attempt attempt;
  attempt.node = stored.small("node", 1);
  attempt.number = stored.small("attempt", 1);
  attempt.ended = read_choice(stored, "ended", kAttemptEndings);
  attempt.successor = stored.small("successor", 0);
  attempt.output_seq = stored.integer("output_seq", 0);
  attempt.ended_seq = stored.integer("ended_seq", 0);
  SB_TRY(stored.done(true));
  return attempt;
}

Value to_value(const Summary& summary) {
  Value value = Value::object({{"id", summary.id},
                               {"workflow", summary.workflow_id},
                               {"name", summary.workflow_name},
                               {"hash", summary.hash},
                               {"goal", summary.goal},
                               {"title", summary.title},
                               {"status", to_string(summary.status)},
                               {"stopped_reason", summary.stopped_reason},
                               {"autonomous", summary.is_autonomous},
                               {"depth", summary.depth},
                               {"tip", summary.tip},
                               {"nodes", summary.nodes},
                               {"step", summary.step_id},
                               {"step_title", summary.step_title},
                               {"recap", summary.recap},
                               {"workspace", summary.workspace},
                               {"repository", summary.repository},
                               {"git_branch", summary.git_branch},
                               {"git_head", summary.git_head},
                               {"parent_session", summary.parent_session},
                               {"parent_child", summary.parent_child},
                               {"parent_node", summary.parent_node},
                               {"started_at", summary.started_at},
                               {"updated_at", summary.updated_at},
                               {"events", summary.events}});
  // Absent where none applies, as in rows that earlier versions wrote.
  if (!summary.run.empty()) value.set("run", summary.run);
  if (summary.is_taken_over) value.set("taken_over", true);
  if (!summary.braces.empty()) value.set("braces", summary.braces);
  if (!summary.out_of_scope.empty()) value.set("out_of_scope", Value::array(summary.out_of_scope));
  return value;
}

Result<Summary> summary_from(const Value& value) {
  constexpr auto kEarliest = std::numeric_limits<std::int64_t>::min();
  StoredReader stored(value, "a session's summary");
  Summary summary;
  summary.id = stored.string("id");
  summary.workflow_id = stored.string("workflow");
  summary.workflow_name = stored.string("name");
  summary.hash = stored.string("hash");
  summary.goal = stored.string("goal");
  summary.title = stored.string("title");
  summary.status = read_choice(stored, "status", kStatuses);
  summary.stopped_reason = stored.string("stopped_reason");
  summary.is_autonomous = stored.boolean("autonomous");
  summary.depth = stored.small("depth", 0);
  summary.tip = stored.small("tip", 0);
  summary.nodes = stored.small("nodes", 0);
  summary.step_id = stored.string("step");
  summary.step_title = stored.string("step_title");
  summary.recap = stored.string("recap");
  summary.workspace = stored.string("workspace");
  summary.repository = stored.string("repository");
  summary.git_branch = stored.string("git_branch");
  summary.git_head = stored.string("git_head");
  summary.parent_session = stored.string("parent_session");
  summary.parent_child = stored.string("parent_child");
  summary.parent_node = stored.small("parent_node", 0);
  summary.started_at = stored.integer("started_at", kEarliest);
  summary.updated_at = stored.integer("updated_at", kEarliest);
  summary.events = stored.integer("events", 0);
  summary.run = stored.optional_string("run");
  summary.is_taken_over = stored.optional_boolean("taken_over");
  summary.braces = stored.optional_string("braces");
  if (stored.has("out_of_scope")) summary.out_of_scope = stored.strings("out_of_scope");
  SB_TRY(stored.done(true));
  return summary;
}

}  // namespace sb::engine

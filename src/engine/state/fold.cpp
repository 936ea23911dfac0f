#include "engine/state/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"

namespace sb::engine {
namespace {

constexpr std::array<std::pair<std::string_view, NodeKind>, 4> kKinds{{{"step", NodeKind::kStep},
                                                                       {"decision", NodeKind::kDecision},
                                                                       {"children", NodeKind::kChildren},
                                                                       {"end", NodeKind::kEnd}}};
constexpr std::array<std::pair<std::string_view, Attempt::Ended>, 3> kEndings{{{"advanced", Attempt::Ended::kAdvanced},
                                                                               {"rejected", Attempt::Ended::kRejected},
                                                                               {"blocked", Attempt::Ended::kBlocked}}};

// The part that depends on the event alone; the rest is checked against the state.
Result<Node> opened_from(StoredReader& payload) {
  Node node;
  node.number = payload.small("node", 1);
  node.parent = payload.small("parent", 0);
  node.parent_attempt = payload.small("attempt", 0);
  node.kind = payload.choice<NodeKind>("kind", kKinds);
  node.position.step = payload.string("step");
  node.title = payload.string("title");
  node.position.loops = SB_TRY(loops_from(payload.array("loops")));
  node.context = payload.hash("context");
  node.depth = payload.small("depth", 0);
  for (const auto& [step, count] : payload.object("jumps").members()) {
    if (!count.is_integer() || count.as_integer() < 1 || count.as_integer() > limits::kSessionNodes)
      payload.refuse("jumps", "contains something that is not a count");
    else
      node.jumps.emplace(step, static_cast<int>(count.as_integer()));
  }
  for (const auto& [kind, hash] : payload.object("artifacts").members()) {
    if (!hash.is_string())
      payload.refuse("artifacts", "contains something that is not a hash");
    else
      node.artifacts.emplace(kind, hash.as_string());
  }
  if (payload.has("children")) {
    for (const Value& child : payload.array("children").items()) node.children.push_back(SB_TRY(child_from(child)));
  }
  const std::string decision = payload.optional_string("decision");
  if (!decision.empty()) node.waiting = Waiting{Waiting::Kind::kDecision, decision, "", ""};
  SB_TRY(payload.done());
  return node;
}

}  // namespace

SessionFold::SessionFold(SessionState& state, const Event& event, std::int64_t seq, TimestampMs at)
    : state_(state),
      event_(event),
      payload_(event.payload, fmt::format("event {} ({}) of a session", seq, event.type)),
      seq_(seq),
      at_(at) {}

SessionFold::Handler SessionFold::handler_of(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, Handler>, 26> kHandlers{{
      {"session_started", &SessionFold::session_started},
      {"node_opened", &SessionFold::node_opened},
      {"step_skipped", &SessionFold::cursor_moved},
      {"loop_entered", &SessionFold::cursor_moved},
      {"loop_iterated", &SessionFold::cursor_moved},
      {"loop_left", &SessionFold::cursor_moved},
      {"jumped", &SessionFold::cursor_moved},
      {"output_recorded", &SessionFold::output_recorded},
      {"attempt_blocked", &SessionFold::attempt_blocked},
      {"attempt_ended", &SessionFold::attempt_ended},
      {"gate_opened", &SessionFold::gate_opened},
      {"gate_decided", &SessionFold::gate_decided},
      {"decision_taken", &SessionFold::decision_taken},
      {"breaker_tripped", &SessionFold::breaker_tripped},
      {"breaker_decided", &SessionFold::breaker_decided},
      {"quorum_missed", &SessionFold::quorum_missed},
      {"quorum_decided", &SessionFold::quorum_decided},
      {"child_started", &SessionFold::child_started},
      {"child_ended", &SessionFold::child_ended},
      {"joined", &SessionFold::joined},
      {"checkpointed", &SessionFold::checkpointed},
      {"rewound", &SessionFold::rewound},
      {"session_completed", &SessionFold::session_completed},
      {"session_stopped", &SessionFold::session_stopped},
      {"driven", &SessionFold::driven},
      {"taken_over", &SessionFold::taken_over},
  }};
  for (const auto& [name, handler] : kHandlers) {
    if (name == type) return handler;
  }
  return nullptr;
}

Status SessionFold::run() {
  const Handler handler = handler_of(event_.type);
  if (handler == nullptr) return unknown_event(session_stream(state_.summary.id), seq_, event_.type);
  if (seq_ != state_.summary.events + 1) return mismatch("is out of order");
  if ((seq_ == 1) != (event_.type == "session_started")) return mismatch("cannot be the first event");
  SB_TRY((this->*handler)());
  state_.summary.events = seq_;
  state_.summary.updated_at = at_;
  return {};
}

std::unexpected<Error> SessionFold::mismatch(std::string_view why) const {
  return fail(ErrorCode::kCorrupt, fmt::format("event {} ({}) of session {} {}", seq_, event_.type,
                                               state_.summary.id.empty() ? "?" : state_.summary.id, why));
}

Status SessionFold::session_started() {
  if (payload_.integer("v", 1) != 1) return newer_version("the session");
  Summary summary;
  summary.id = payload_.string("session");
  summary.workflow_id = payload_.string("workflow");
  summary.workflow_name = payload_.string("name");
  summary.hash = payload_.string("hash");
  summary.goal = payload_.string("goal");
  summary.title = title_from(summary.goal, Value());
  summary.is_autonomous = payload_.boolean("autonomous");
  summary.workspace = payload_.string("workspace");
  summary.depth = payload_.small("depth", 0);
  summary.repository = payload_.optional_string("repository");
  summary.git_branch = payload_.optional_string("git_branch");
  summary.git_head = payload_.optional_string("git_head");
  summary.run = payload_.optional_string("run");
  summary.braces = payload_.optional_string("braces");
  if (payload_.has("out_of_scope")) summary.out_of_scope = payload_.strings("out_of_scope");
  if (payload_.has("parent")) {
    StoredReader parent(payload_.object("parent"), "the parent of a session");
    summary.parent_session = parent.string("session");
    summary.parent_node = parent.small("node", 1);
    summary.parent_child = parent.string("child");
    SB_TRY(parent.done());
  }
  summary.started_at = at_;
  SB_TRY(payload_.done());
  state_.summary = std::move(summary);
  return {};
}

Status SessionFold::may_open(const Node& node) {
  if (state_.summary.status == SessionStatus::kStopped) return mismatch("opens a step of a stopped session");
  if (node.number != state_.summary.nodes + 1) return mismatch("opens a node out of order");
  if ((node.kind == NodeKind::kDecision) != node.waiting.has_value()) return mismatch("opens a decision without one");
  if (node.kind != NodeKind::kChildren && !node.children.empty()) return mismatch("opens a step with children");
  if ((node.kind == NodeKind::kEnd) != node.position.step.empty()) return mismatch("opens a node without a step");
  if ((node.parent == 0) != (node.number == 1) || (node.parent == 0) != (node.parent_attempt == 0))
    return mismatch("opens a node without a parent");
  if (node.parent == 0) return node.depth == 0 ? Status() : Status(mismatch("opens a node too deep"));
  const auto parent = state_.nodes.find(node.parent);
  if (parent == state_.nodes.end()) return mismatch("opens a node after one that does not exist");
  if (parent->second.attempt != node.parent_attempt) return mismatch("opens a node after an attempt that is not open");
  if (node.depth < parent->second.depth || node.depth > parent->second.depth + 1) return mismatch("has a wrong depth");
  const auto attempt = state_.attempts.find({node.parent, node.parent_attempt});
  if (attempt != state_.attempts.end() && attempt->second.successor != 0)
    return mismatch("gives an attempt a second successor");
  return {};
}

Status SessionFold::node_opened() {
  Node node = SB_TRY(opened_from(payload_));
  SB_TRY(may_open(node));
  if (node.parent != 0) {
    Attempt& attempt = state_.attempts[{node.parent, node.parent_attempt}];
    attempt.node = node.parent;
    attempt.number = node.parent_attempt;
    attempt.successor = node.number;
  }
  state_.summary.nodes = node.number;
  move_tip(node);
  state_.nodes.insert_or_assign(node.number, std::move(node));
  return {};
}

Status SessionFold::cursor_moved() {
  const int node = payload_.small("node", 1);
  SB_TRY(payload_.done());
  if (node != state_.summary.nodes + 1) return mismatch("names a node that is not the next to open");
  return {};
}

Status SessionFold::deliver(Attempt::Ended expected_end) {
  Node& node = *SB_TRY(open_node());
  const std::string notes = payload_.string("notes");
  payload_.array("artifacts");
  SB_TRY(payload_.done());
  if (state_.summary.status == SessionStatus::kStopped) return mismatch("delivers to a stopped session");
  const bool is_joining = node.kind == NodeKind::kChildren && expected_end == Attempt::Ended::kAdvanced;
  if (node.kind != NodeKind::kStep && !is_joining) return mismatch("delivers to a node that takes no delivery");
  if (node.waiting) return mismatch("delivers to a step that is waiting");
  if (state_.attempts.contains({node.number, node.attempt})) return mismatch("delivers an attempt twice");
  state_.attempts[{node.number, node.attempt}] = {.node = node.number,
                                                  .number = node.attempt,
                                                  .ended = expected_end,
                                                  .successor = 0,
                                                  .output_seq = seq_,
                                                  .ended_seq = 0};
  move_tip(node);
  return {};
}

Status SessionFold::output_recorded() {
  const Value& context_set = payload_.object("context_set");
  SB_TRY(deliver(Attempt::Ended::kAdvanced));
  Summary& summary = state_.summary;
  summary.recap = recap_with(payload_.string("notes"), summary.recap);
  if (summary.title.empty()) summary.title = title_from("", context_set);
  return {};
}

Status SessionFold::attempt_blocked() {
  payload_.array("blockers");
  return deliver(Attempt::Ended::kBlocked);
}

Status SessionFold::attempt_ended() {
  Node& node = *SB_TRY(open_node());
  const Attempt::Ended ended = payload_.choice<Attempt::Ended>("ended", kEndings);
  const NodeNo successor = payload_.has("successor") ? payload_.small("successor", 1) : 0;
  if (!payload_.has("answer")) payload_.refuse("answer", "is missing");
  SB_TRY(payload_.done());
  if (node.waiting) return mismatch("ends an attempt that is waiting");
  const auto found = state_.attempts.find({node.number, node.attempt});
  Attempt attempt{.node = node.number, .number = node.attempt};
  if (found != state_.attempts.end()) attempt = found->second;
  if (node.kind == NodeKind::kStep && attempt.output_seq == 0)
    return mismatch("ends an attempt that was not delivered");
  if ((attempt.ended == Attempt::Ended::kBlocked) != (ended == Attempt::Ended::kBlocked))
    return mismatch("ends an attempt differently from its delivery");
  if (attempt.successor != successor || (ended == Attempt::Ended::kAdvanced) != (successor != 0))
    return mismatch("names a successor that was not opened");

  attempt.ended = ended;
  attempt.ended_seq = seq_;
  state_.attempts[{node.number, node.attempt}] = attempt;
  ++node.attempt;
  node.consecutive_blocks = ended == Attempt::Ended::kBlocked ? node.consecutive_blocks + 1 : 0;
  if (ended == Attempt::Ended::kRejected) ++node.rejections;
  if (ended == Attempt::Ended::kAdvanced) {
    node.rejections = 0;
    node.breaker_lifted = false;
  }
  return {};
}

Result<Node*> SessionFold::node_named() {
  const int number = payload_.small("node", 1);
  SB_TRY(payload_.done());
  const auto found = state_.nodes.find(number);
  if (found == state_.nodes.end()) return mismatch("names a node that does not exist");
  return &found->second;
}

Result<Node*> SessionFold::open_node() {
  Node* node = SB_TRY(node_named());
  const int attempt = payload_.small("attempt", 1);
  SB_TRY(payload_.done());
  if (attempt != node->attempt) return mismatch("names an attempt that is not open");
  return node;
}

void SessionFold::move_tip(const Node& node) {
  state_.summary.tip = node.number;
  refresh(node);
}

void SessionFold::refresh(const Node& node) {
  Summary& summary = state_.summary;
  if (summary.tip != node.number) return;
  summary.step_id = node.position.step;
  summary.step_title = node.title;
  if (summary.status == SessionStatus::kStopped) return;
  if (node.kind == NodeKind::kEnd) {
    summary.status = SessionStatus::kComplete;
  } else {
    const bool waits = node.waiting.has_value() || node.kind == NodeKind::kChildren;
    summary.status = waits ? SessionStatus::kWaiting : SessionStatus::kOpen;
  }
}

}  // namespace sb::engine

// Events about what sessions wait for, and how sessions end.
#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/state/fold.hpp"

namespace sb::engine {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

}  // namespace

Result<Node*> SessionFold::waiting_node(Waiting::Kind what) {
  Node* node = SB_TRY(node_named());
  const std::string decision = payload_.string("decision");
  SB_TRY(payload_.done());
  if (!node->waiting || node->waiting->what != what || node->waiting->decision != decision)
    return mismatch("decides something that is not awaited");
  return node;
}

Status SessionFold::gate_opened() {
  Node& node = *SB_TRY(open_node());
  const std::string gate = payload_.string("gate");
  Waiting waiting;
  waiting.what = gate == "person"     ? Waiting::Kind::kGate
                 : gate == "decision" ? Waiting::Kind::kDecision
                                      : Waiting::Kind::kEvaluator;
  waiting.decision = payload_.optional_string("decision");
  waiting.session = payload_.optional_string("session");
  waiting.reason = payload_.optional_string("reason");
  if (!is_one_of(gate, {"person", "evaluator", "decision"})) payload_.refuse("gate", "has an unknown value");
  if (gate != "evaluator" && waiting.decision.empty()) payload_.refuse("decision", "is missing");
  SB_TRY(payload_.done());
  if (gate == "decision") {
    if (node.kind != NodeKind::kDecision) return mismatch("asks again without an earlier question");
    node.waiting = std::move(waiting);
    refresh(node);
    return {};
  }
  if (node.waiting) return mismatch("opens a gate at a step that is waiting");
  const auto attempt = state_.attempts.find({node.number, node.attempt});
  if (attempt == state_.attempts.end() || attempt->second.ended == Attempt::Ended::kBlocked)
    return mismatch("opens a gate before anything was delivered");
  node.waiting = std::move(waiting);
  refresh(node);
  return {};
}

Status SessionFold::gate_decided() {
  Node& node = *SB_TRY(open_node());
  const std::string verdict = payload_.string("verdict");
  payload_.string("reason");
  payload_.string("by");
  if (!is_one_of(verdict, {"approved", "rejected", "uncertain"})) payload_.refuse("verdict", "has an unknown value");
  SB_TRY(payload_.done());
  const bool is_gate = node.waiting && (node.waiting->what == Waiting::Kind::kGate ||  //
                                        node.waiting->what == Waiting::Kind::kEvaluator);
  if (!is_gate) return mismatch("decides a gate that is not open");
  node.waiting.reset();
  refresh(node);
  return {};
}

Status SessionFold::decision_taken() {
  payload_.array("options");
  payload_.any("values");
  Node& node = *SB_TRY(waiting_node(Waiting::Kind::kDecision));
  node.waiting.reset();
  refresh(node);
  return {};
}

Status SessionFold::trip(Waiting::Kind what) {
  Node& node = *SB_TRY(node_named());
  Waiting waiting{what, payload_.string("decision"), "", payload_.optional_string("reason")};
  SB_TRY(payload_.done());
  if (node.waiting) return mismatch("asks about a step that is already waiting");
  node.waiting = std::move(waiting);
  refresh(node);
  return {};
}

Status SessionFold::lift(Waiting::Kind what) {
  Node& node = *SB_TRY(waiting_node(what));
  const bool continues = payload_.string("choice") != "stop";
  SB_TRY(payload_.done());
  node.waiting.reset();
  if (continues && what == Waiting::Kind::kBreaker) {
    node.breaker_lifted = true;
    node.consecutive_blocks = 0;
    node.rejections = 0;
  }
  refresh(node);
  return {};
}

Status SessionFold::breaker_tripped() {
  payload_.small("attempts", 1);
  return trip(Waiting::Kind::kBreaker);
}

Status SessionFold::breaker_decided() {
  return lift(Waiting::Kind::kBreaker);
}

Status SessionFold::quorum_missed() {
  payload_.array("missing");
  const Node& node = *SB_TRY(node_named());
  if (node.kind != NodeKind::kChildren) return mismatch("misses children of a step that has none");
  return trip(Waiting::Kind::kQuorum);
}

Status SessionFold::quorum_decided() {
  return lift(Waiting::Kind::kQuorum);
}

Result<Child*> SessionFold::child_of(Node& node) {
  const std::string id = payload_.string("child");
  SB_TRY(payload_.done());
  const auto child = std::ranges::find(node.children, id, &Child::id);
  if (child == node.children.end()) return mismatch("names a child that does not exist");
  return &*child;
}

Status SessionFold::child_started() {
  Node& node = *SB_TRY(node_named());
  Child& child = *SB_TRY(child_of(node));
  std::string session = payload_.string("session");
  SB_TRY(payload_.done());
  if (!child.session.empty() || session.empty()) return mismatch("starts a child twice");
  child.session = std::move(session);
  child.context = Value();
  return {};
}

Status SessionFold::child_ended() {
  Node& node = *SB_TRY(node_named());
  Child& child = *SB_TRY(child_of(node));
  std::string outcome = payload_.string("outcome");
  std::string reason = payload_.optional_string("reason");
  if (!is_one_of(outcome, {"complete", "stopped", "dead", "unknown"}))
    payload_.refuse("outcome", "has an unknown value");
  SB_TRY(payload_.done());
  if (!child.outcome.empty()) return mismatch("ends a child twice");
  child.outcome = std::move(outcome);
  child.reason = std::move(reason);
  return {};
}

Status SessionFold::joined() {
  const Node& node = *SB_TRY(node_named());
  if (node.kind != NodeKind::kChildren) return mismatch("joins children of a step that has none");
  if (node.waiting) return mismatch("joins children while a person is asked");
  return {};
}

Status SessionFold::checkpointed() {
  Node& node = *SB_TRY(node_named());
  node.is_checkpoint = true;
  const bool is_known = std::ranges::find(state_.checkpoints, node.number) != state_.checkpoints.end();
  if (!is_known) state_.checkpoints.push_back(node.number);
  return {};
}

Status SessionFold::rewound() {
  const Node& node = *SB_TRY(open_node());
  payload_.string("reason");
  SB_TRY(payload_.done());
  state_.summary.status = SessionStatus::kOpen;
  state_.summary.stopped_reason.clear();
  move_tip(node);
  return {};
}

Status SessionFold::session_completed() {
  const Node& node = *SB_TRY(node_named());
  if (node.kind != NodeKind::kEnd || state_.summary.tip != node.number)
    return mismatch("completes a session before its end");
  return {};
}

Status SessionFold::session_stopped() {
  std::string reason = payload_.string("reason");
  payload_.string("by");
  SB_TRY(payload_.done());
  if (state_.summary.status == SessionStatus::kStopped) return mismatch("stops a session twice");
  state_.summary.status = SessionStatus::kStopped;
  state_.summary.stopped_reason = std::move(reason);
  return {};
}

Status SessionFold::driven() {
  std::string run = payload_.string("run");
  SB_TRY(payload_.done());
  if (run.empty()) return mismatch("names no run");
  state_.summary.run = std::move(run);
  state_.summary.is_taken_over = false;
  return {};
}

Status SessionFold::taken_over() {
  payload_.string("by");
  SB_TRY(payload_.done());
  if (state_.summary.run.empty()) return mismatch("takes over a session that no run drives");
  state_.summary.is_taken_over = true;
  return {};
}

namespace {

std::string first_line(std::string_view text) {
  std::string line;
  std::size_t at = 0, characters = 0;
  bool wants_blank = false;
  while (at < text.size() && characters < limits::kTitleChars) {
    const char32_t c = next_code_point(text, at);
    if (c == '\n' || c == '\r') {
      if (!line.empty()) break;
    } else if (is_space(c)) {
      wants_blank = !line.empty();
    } else {
      if (wants_blank) line += ' ', ++characters;
      wants_blank = false;
      append_code_point(line, c);
      ++characters;
    }
  }
  return line;
}

}  // namespace

std::string recap_with(std::string_view notes, std::string_view before) {
  std::string recap(utf8_prefix(notes, limits::kRecapBytes));
  if (!recap.empty() && !before.empty()) recap += "\n\n";
  recap += before;
  recap.resize(utf8_prefix(recap, limits::kRecapBytes).size());
  return recap;
}

std::string title_from(std::string_view goal, const Value& context) {
  if (std::string title = first_line(goal); !title.empty()) return title;
  for (const char* key : {"goal", "taskDescription", "mrTitle", "prTitle", "ticketTitle", "problem"}) {
    const auto text = context.string_at(key);
    if (!text) continue;
    if (std::string title = first_line(*text); !title.empty()) return title;
  }
  return {};
}

}  // namespace sb::engine

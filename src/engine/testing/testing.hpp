// Shared by the tests of the engine's pure core: programs from text, and a session without a store.
//
//   auto program = program_of("[{id: one, title: One, prompt: Do it.}]");
//   SessionSimulator journey(program);                      // started; at the first step
//   journey.deliver({.notes = "done"});            // at the tip
//   journey.opened();                              // "one", "loop@0/body", …, "" for the end
//
// A SessionSimulator makes the events of a session, and applies each of them the way the store's rows are changed: to a
// state that holds only the rows the event names, read back from their JSON.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "engine/advance/advance.hpp"
#include "workflow/testing.hpp"

namespace sb::engine {

inline Value json(std::string_view text) {
  auto value = parse_json(text);
  if (!value) ADD_FAILURE() << text << ": " << value.error().message;
  return value ? *value : Value();
}

// A workflow with these steps, given in YAML's flow style; `more` are further members, ending in a comma.
inline std::string workflow_text(const std::string& steps, const std::string& more = "") {
  return "{id: test-flow, name: Test, description: A test, version: 1.0.0, " + more + " steps: " + steps + "}";
}

inline std::shared_ptr<const Program> program_of(const std::string& steps, const std::string& more = "",
                                                 const workflow::ReferenceResolver& around = workflow::FakeResolver()) {
  return std::make_shared<Program>(workflow::compiled(workflow_text(steps, more), around).back());
}

// `loop@0/inner@2/step`; empty: the end.
inline std::string place_of(const Position& position) {
  std::string text;
  for (const LoopFrame& frame : position.loops) text += frame.loop + "@" + std::to_string(frame.iteration) + "/";
  return text + position.step;
}

class SessionSimulator {
 public:
  explicit SessionSimulator(std::shared_ptr<const Program> program, Value context = Value::object(),
                            std::string goal = "Try it")
      : program_(std::move(program)) {
    emit("session_started", Value::object({{"v", 1},
                                           {"session", "s-test"},
                                           {"workflow", program_->definition().id},
                                           {"name", program_->definition().name},
                                           {"hash", program_->hash()},
                                           {"goal", goal},
                                           {"context", hash_of(context)},
                                           {"autonomous", false},
                                           {"workspace", "/work"},
                                           {"depth", 0}}));
    CursorMove move = next_position(*program_, {}, {}, context, {}, true);
    start_ = move;
    if (move.missing.empty()) open({}, 0, move, context, {});
  }

  const Program& program() const { return *program_; }
  const CursorMove& start() const { return start_; }
  const Summary& summary() const { return state_.summary; }
  const SessionState& state() const { return state_; }
  const std::vector<store::Event>& events() const { return events_; }
  const Node& node(NodeNo number) const { return state_.nodes.at(number); }
  const Node& tip() const { return node(state_.summary.tip); }
  const Value& context(const Node& of) const { return contexts_.at(of.context); }
  bool is_over() const { return tip().kind == NodeKind::kEnd; }

  // The positions opened so far, in order.
  std::vector<std::string> opened() const {
    std::vector<std::string> places;
    for (const auto& [number, opened] : state_.nodes) places.push_back(place_of(opened.position));
    return places;
  }

  // The payloads of all events of this type.
  std::vector<Value> payloads(std::string_view type) const {
    std::vector<Value> found;
    for (const store::Event& event : events_) {
      if (event.type == type) found.push_back(json(event.payload));
    }
    return found;
  }

  // Delivers the open attempt of this node. A gate is approved immediately unless `approves` is false, which rejects.
  AdvanceResult deliver_at(NodeNo number, const Submission& submission, bool approves = true) {
    const Node before = node(number);
    Result<AdvanceResult> outcome = advance(*program_, before, context(before), submission);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().to_string();
      return {};
    }
    for (Event& event : outcome->delivered) {
      event.payload.set("node", number);
      emit(event.type, event.payload);
    }
    if (outcome->kind == AdvanceResult::Kind::kBlocked) {
      end(before, "blocked", 0);
    } else if (outcome->kind == AdvanceResult::Kind::kGate && !pass_gate(before, approves)) {
      end(before, "rejected", 0);
    } else {
      open_next_node(before, outcome->move, outcome->context, outcome->artifacts);
    }
    return *outcome;
  }
  AdvanceResult deliver(const Submission& submission) { return deliver_at(state_.summary.tip, submission); }

  // A decision answered or children joined, with what is captured.
  CursorMove settle(const Value& captured = Value()) {
    const Node before = tip();
    const Value after = merge_context(context(before), captured).value();
    CursorMove move = next_position(*program_, before.position, before.jumps, after, {}, false);
    if (!move.missing.empty()) return move;
    if (before.kind == NodeKind::kDecision) {
      emit("decision_taken", Value::object({{"node", before.number},
                                            {"decision", before.waiting->decision},
                                            {"options", Value::array()},
                                            {"values", Value::object()}}));
    } else {
      emit("joined", Value::object({{"node", before.number}}));
    }
    open_next_node(before, move, after, {});
    return move;
  }

  void emit(const std::string& type, Value payload) {
    const auto seq = static_cast<std::int64_t>(events_.size()) + 1;
    store::Event event;
    event.stream = session_stream("s-test");
    event.seq = seq;
    event.type = type;
    event.time_ms = 1'000 + seq;
    event.payload = to_canonical_json(payload);
    apply_to_rows({type, json(event.payload)}, seq, event.time_ms);
    events_.push_back(std::move(event));
  }

 private:
  std::string hash_of(const Value& value) {
    const std::string text = to_canonical_json(value);
    const std::string hash = sha256_hex(text);
    contexts_[hash] = value;
    return hash;
  }

  bool pass_gate(const Node& before, bool approves) {
    const Value at = Value::object({{"node", before.number}, {"attempt", before.attempt}});
    Value opened = at, decided = at;
    opened.set("gate", "person");
    opened.set("decision", "d-1");
    emit("gate_opened", opened);
    decided.set("verdict", approves ? "approved" : "rejected");
    decided.set("reason", "because");
    decided.set("by", "a person");
    emit("gate_decided", decided);
    return approves;
  }

  void open_next_node(const Node& before, const CursorMove& move, const Value& after,
                      const std::map<std::string, std::string>& artifacts) {
    const NodeNo successor = open(before, before.attempt, move, after, artifacts);
    end(before, "advanced", successor);
  }

  NodeNo open(const Node& parent, int attempt, const CursorMove& move, const Value& context,
              const std::map<std::string, std::string>& artifacts) {
    const NodeNo number = state_.summary.nodes + 1;
    for (Event event : move.trace) {
      event.payload.set("node", number);
      emit(event.type, event.payload);
    }
    Node node;
    node.number = number;
    node.parent = parent.number;
    node.parent_attempt = attempt;
    node.kind = kind_at(*program_, move.to);
    node.position = move.to;
    node.context = hash_of(context);
    node.jumps = move.jumps;
    node.artifacts = parent.artifacts;
    for (const auto& [kind, hash] : artifacts) node.artifacts[kind] = hash;
    node.depth = parent.number == 0 ? 0 : parent.depth + 1;
    if (node.kind == NodeKind::kDecision) node.waiting = Waiting{Waiting::Kind::kDecision, "d-1", "", ""};
    if (node.kind == NodeKind::kChildren) {
      node.children.resize(1);
      node.children[0].id = "child";
      node.children[0].session = "s-child";
    }
    const Event event = node_opened(node);
    emit(event.type, event.payload);
    return number;
  }

  void end(const Node& before, const char* how, NodeNo successor) {
    Value payload = Value::object(
        {{"node", before.number}, {"attempt", before.attempt}, {"ended", how}, {"answer", Value::object()}});
    if (successor != 0) payload.set("successor", successor);
    emit("attempt_ended", payload);
  }

  // Reads the rows the event may touch, applies it to only these, and writes them back.
  void apply_to_rows(const Event& event, std::int64_t seq, TimestampMs at) {
    SessionState rows;
    if (seq > 1) rows.summary = summary_from(json(to_json(to_value(state_.summary)))).value();
    rows.checkpoints = state_.checkpoints;
    for (const char* member : {"node", "parent", "successor"}) {
      const Value& number = event.payload[member];
      if (number.is_integer()) load(rows, static_cast<NodeNo>(number.as_integer()));
    }
    const Status fits = apply(rows, event, seq, at);
    ASSERT_TRUE(fits) << fits.error().message;
    state_.summary = rows.summary;
    state_.checkpoints = rows.checkpoints;
    for (auto& [number, row] : rows.nodes) state_.nodes[number] = row;
    for (auto& [key, row] : rows.attempts) state_.attempts[key] = row;
  }

  void load(SessionState& rows, NodeNo number) const {
    const auto found = state_.nodes.find(number);
    if (found == state_.nodes.end()) return;
    rows.nodes[number] = node_from(json(to_json(to_value(found->second)))).value();
    const auto attempt = state_.attempts.find({number, found->second.attempt});
    if (attempt == state_.attempts.end()) return;
    rows.attempts[attempt->first] = attempt_from(json(to_json(to_value(attempt->second)))).value();
  }

  std::shared_ptr<const Program> program_;
  SessionState state_;
  std::vector<store::Event> events_;
  std::map<std::string, Value> contexts_;
  CursorMove start_;
};

inline Value loop_control(std::string_view decision, std::string_view loop_id = "") {
  Value artifact = Value::object({{"kind", "wr.loop_control"}, {"decision", decision}});
  if (!loop_id.empty()) artifact.set("loopId", loop_id);
  return artifact;
}

}  // namespace sb::engine

#include "engine/state/events.hpp"

#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/state/fold.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHash(64, 'a');

// A session built event by event, each given as JSON.
class EventTest : public testing::Test {
 protected:
  Status apply_event(const std::string& type, const std::string& payload) {
    const std::int64_t seq = state_.summary.events + 1;
    return apply(state_, {type, json(payload)}, seq, 100 * seq);
  }
  void ok(const std::string& type, const std::string& payload) {
    const Status fits = apply_event(type, payload);
    ASSERT_TRUE(fits) << type << ": " << fits.error().message;
  }
  // Refused as corrupt, without any change.
  void bad(const std::string& type, const std::string& payload) {
    const std::string before = dump();
    const Status fits = apply_event(type, payload);
    ASSERT_FALSE(fits) << type << " " << payload;
    EXPECT_EQ(fits.error().code, ErrorCode::kCorrupt) << fits.error().message;
    EXPECT_EQ(dump(), before) << type << " " << payload;
  }
  std::string dump() const {
    std::string text = to_json(to_value(state_.summary));
    for (const auto& [number, node] : state_.nodes) text += to_json(to_value(node));
    for (const auto& [key, attempt] : state_.attempts) text += to_json(to_value(attempt));
    return text + std::to_string(state_.checkpoints.size());
  }
  void start() {
    ok("session_started",
       R"({"v": 1, "session": "s-1", "workflow": "wr.x", "name": "X", "hash": "sha256:0", "goal": "Fix it\nnow",
           "context": {}, "autonomous": true, "workspace": "/w", "depth": 1, "git_branch": "main",
           "parent": {"session": "s-0", "node": 4, "child": "c"}})");
  }
  static std::string opening(int node, int parent, int attempt, const std::string& kind = "step",
                             const std::string& more = "") {
    return R"({"node": )" + std::to_string(node) + R"(, "parent": )" + std::to_string(parent) + R"(, "attempt": )" +
           std::to_string(attempt) + R"(, "kind": ")" + kind + R"(", "step": ")" + (kind == "end" ? "" : "one") +
           R"(", "title": "One", "loops": [], "context": ")" + kHash + R"(", "jumps": {}, "artifacts": {}, "depth": )" +
           std::to_string(parent == 0 ? 0 : state_depth(parent) + 1) + more + "}";
  }
  static std::string with(const std::string& payload, const char* name, const char* value) {
    Value changed = json(payload);
    changed.set(name, json(value));
    return to_json(changed);
  }
  static int state_depth(int parent) { return parent - 1; }
  void deliver(int node, int attempt, const std::string& notes = "did it") {
    ok("output_recorded", delivery(node, attempt, notes));
  }
  static std::string delivery(int node, int attempt, const std::string& notes = "did it") {
    return R"({"node": )" + std::to_string(node) + R"(, "attempt": )" + std::to_string(attempt) + R"(, "notes": )" +
           quote_json(notes) + R"(, "artifacts": [], "context_set": {}})";
  }
  static std::string blocking(int node, int attempt) {
    return R"({"node": )" + std::to_string(node) + R"(, "attempt": )" + std::to_string(attempt) +
           R"(, "notes": "", "artifacts": [], "blockers": []})";
  }
  static std::string ending(int node, int attempt, const std::string& how, int successor = 0) {
    return R"({"node": )" + std::to_string(node) + R"(, "attempt": )" + std::to_string(attempt) + R"(, "ended": ")" +
           how + R"(", "answer": {})" + (successor ? R"(, "successor": )" + std::to_string(successor) : "") + "}";
  }

  SessionState state_;
};

TEST_F(EventTest, SessionStarted) {
  bad("node_opened", opening(1, 0, 0));
  start();
  const Summary& summary = state_.summary;
  EXPECT_EQ(summary.title, "Fix it");
  EXPECT_EQ(summary.goal, "Fix it\nnow");
  EXPECT_TRUE(summary.is_autonomous);
  EXPECT_EQ(summary.parent_session, "s-0");
  EXPECT_EQ(summary.parent_node, 4);
  EXPECT_EQ(summary.git_branch, "main");
  EXPECT_EQ(summary.repository, "");
  EXPECT_EQ(summary.depth, 1);
  EXPECT_EQ(summary.started_at, 100);
  EXPECT_EQ(summary.events, 1);
  bad("session_started", R"({"v": 1})");
}

TEST_F(EventTest, ANewerSessionIsNotReportedAsDamaged) {
  const Status fits = apply_event("session_started", R"({"v": 2})");
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::kUnsupported);
}

TEST_F(EventTest, NumbersAndTypesMustFit) {
  start();
  const std::string before = dump();
  EXPECT_FALSE(apply(state_, {"checkpointed", json(R"({"node": 1})")}, 3, 0)) << "a number skipped";
  EXPECT_FALSE(apply(state_, {"checkpointed", json(R"({"node": 1})")}, 1, 0)) << "a number used twice";
  const Status unknown = apply_event("no_such_event", "{}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(dump(), before);
  bad("node_opened", "[]");
  bad("node_opened", "{}");
}

TEST_F(EventTest, NodeOpened) {
  start();
  bad("node_opened", opening(2, 0, 0));
  bad("node_opened", opening(1, 1, 1));
  bad("node_opened", opening(1, 0, 1));
  bad("node_opened", opening(1, 0, 0, "decision"));
  bad("node_opened", opening(1, 0, 0, "step", R"(, "decision": "d-1")"));
  bad("node_opened", opening(1, 0, 0, "nothing"));
  bad("node_opened", with(opening(1, 0, 0), "jumps", R"({"x": 0})"));
  bad("node_opened", with(opening(1, 0, 0), "artifacts", R"({"x": 0})"));
  bad("node_opened", with(opening(1, 0, 0), "context", R"("short")"));
  bad("node_opened", with(opening(1, 0, 0), "loops", R"([{"loop": "x"}])"));
  bad("node_opened", with(opening(1, 0, 0), "depth", "1"));
  ok("node_opened", opening(1, 0, 0));
  EXPECT_EQ(state_.summary.tip, 1);
  EXPECT_EQ(state_.summary.step_title, "One");
  EXPECT_EQ(state_.summary.status, SessionStatus::kOpen);
  bad("node_opened", opening(1, 0, 0));
  bad("node_opened", opening(2, 0, 0));
  bad("node_opened", opening(2, 7, 1));
  bad("node_opened", opening(2, 1, 2));
}

TEST_F(EventTest, AnAttemptHasOneSuccessor) {
  start();
  ok("node_opened", opening(1, 0, 0));
  deliver(1, 1);
  ok("node_opened", opening(2, 1, 1));
  bad("node_opened", opening(3, 1, 1));
  bad("attempt_ended", ending(1, 1, "advanced", 3));
  bad("attempt_ended", ending(1, 1, "advanced"));
  bad("attempt_ended", ending(1, 1, "rejected"));
  bad("attempt_ended", ending(1, 2, "advanced", 2));
  ok("attempt_ended", ending(1, 1, "advanced", 2));
  bad("attempt_ended", ending(1, 1, "advanced", 2));
  bad("node_opened", opening(3, 1, 1));
  EXPECT_EQ(state_.nodes[1].attempt, 2);
  EXPECT_EQ((state_.attempts[{1, 1}]), (Attempt{1, 1, Attempt::Ended::kAdvanced, 2, 3, 5}));
  // Returning to a step makes a second branch with the next attempt.
  deliver(1, 2);
  EXPECT_EQ(state_.summary.tip, 1);
  ok("node_opened", opening(3, 1, 2));
  ok("attempt_ended", ending(1, 2, "advanced", 3));
  EXPECT_EQ(state_.summary.tip, 3);
}

TEST_F(EventTest, AttemptBlocked) {
  start();
  ok("node_opened", opening(1, 0, 0));
  bad("attempt_blocked", blocking(1, 2));
  bad("attempt_ended", ending(1, 1, "blocked"));
  ok("attempt_blocked", blocking(1, 1));
  bad("attempt_blocked", blocking(1, 1));
  bad("output_recorded", delivery(1, 1));
  bad("attempt_ended", ending(1, 1, "advanced"));
  bad("attempt_ended", ending(1, 1, "rejected"));
  ok("attempt_ended", ending(1, 1, "blocked"));
  EXPECT_EQ(state_.nodes[1].attempt, 2);
  EXPECT_EQ(state_.nodes[1].consecutive_blocks, 1);
  EXPECT_EQ((state_.attempts[{1, 1}]), (Attempt{1, 1, Attempt::Ended::kBlocked, 0, 3, 4}));
  deliver(1, 2);
  ok("node_opened", opening(2, 1, 2));
  ok("attempt_ended", ending(1, 2, "advanced", 2));
  EXPECT_EQ(state_.nodes[1].consecutive_blocks, 0);
}

TEST_F(EventTest, TraceEventsLeadToTheNextNode) {
  start();
  for (const char* type : {"step_skipped", "loop_entered", "loop_iterated", "loop_left", "jumped"}) {
    bad(type, R"({"node": 2})");
    bad(type, R"({})");
    ok(type, R"({"node": 1})");
  }
}

TEST_F(EventTest, Gates) {
  start();
  ok("node_opened", opening(1, 0, 0));
  const std::string person = R"({"node": 1, "attempt": 1, "gate": "person", "decision": "d-1"})";
  const std::string evaluator = R"({"node": 1, "attempt": 1, "gate": "evaluator", "session": "s-9"})";
  const auto decided = [](const char* verdict) {
    return std::string(R"({"node": 1, "attempt": 1, "verdict": ")") + verdict + R"(", "reason": "r", "by": "b"})";
  };
  bad("gate_opened", person);
  deliver(1, 1);
  bad("gate_opened", R"({"node": 1, "attempt": 1, "gate": "person"})");
  bad("gate_opened", R"({"node": 1, "attempt": 1, "gate": "door"})");
  bad("gate_decided", decided("approved"));
  ok("gate_opened", evaluator);
  EXPECT_EQ(state_.nodes[1].waiting->what, Waiting::Kind::kEvaluator);
  EXPECT_EQ(state_.summary.status, SessionStatus::kWaiting);
  bad("gate_opened", person);
  bad("attempt_ended", ending(1, 1, "rejected"));
  bad("gate_decided", decided("maybe"));
  ok("gate_decided", decided("uncertain"));
  ok("gate_opened", person);
  EXPECT_EQ(state_.nodes[1].waiting->decision, "d-1");
  ok("gate_decided", decided("rejected"));
  EXPECT_EQ(state_.summary.status, SessionStatus::kOpen);
  ok("attempt_ended", ending(1, 1, "rejected"));
  EXPECT_EQ(state_.nodes[1].rejections, 1);
  EXPECT_EQ(state_.nodes[1].attempt, 2);
}

TEST_F(EventTest, Decisions) {
  start();
  ok("node_opened", opening(1, 0, 0, "decision", R"(, "decision": "d-1")"));
  EXPECT_EQ(state_.summary.status, SessionStatus::kWaiting);
  bad("output_recorded", delivery(1, 1));
  bad("decision_taken", R"({"node": 1, "decision": "d-2", "options": [], "values": {}})");
  ok("decision_taken", R"({"node": 1, "decision": "d-1", "options": ["a"], "values": {}})");
  bad("decision_taken", R"({"node": 1, "decision": "d-1", "options": ["a"], "values": {}})");
  ok("node_opened", opening(2, 1, 1));
  ok("attempt_ended", ending(1, 1, "advanced", 2));
  EXPECT_EQ((state_.attempts[{1, 1}].output_seq), 0);
}

TEST_F(EventTest, Breakers) {
  start();
  ok("node_opened", opening(1, 0, 0));
  ok("attempt_blocked", blocking(1, 1));
  ok("attempt_ended", ending(1, 1, "blocked"));
  bad("breaker_decided", R"({"node": 1, "decision": "d-1", "choice": "retry"})");
  ok("breaker_tripped", R"({"node": 1, "attempts": 1, "decision": "d-1"})");
  bad("breaker_tripped", R"({"node": 1, "attempts": 1, "decision": "d-2"})");
  bad("output_recorded", delivery(1, 2));
  EXPECT_EQ(state_.summary.status, SessionStatus::kWaiting);
  ok("breaker_decided", R"({"node": 1, "decision": "d-1", "choice": "retry"})");
  EXPECT_TRUE(state_.nodes[1].breaker_lifted);
  EXPECT_EQ(state_.nodes[1].consecutive_blocks, 0);
  ok("breaker_tripped", R"({"node": 1, "attempts": 1, "decision": "d-2"})");
  state_.nodes[1].breaker_lifted = false;
  ok("breaker_decided", R"({"node": 1, "decision": "d-2", "choice": "stop"})");
  EXPECT_FALSE(state_.nodes[1].breaker_lifted);
}

TEST_F(EventTest, Children) {
  start();
  ok("node_opened",
     opening(1, 0, 0, "children",
             R"(, "children": [{"id": "a", "workflow": "w", "hash": "h", "goal": "g", "capture_as": "", "session": ""},
                {"id": "b", "workflow": "w", "hash": "h", "goal": "g", "capture_as": "", "session": "s-3"}])"));
  EXPECT_EQ(state_.summary.status, SessionStatus::kWaiting);
  bad("child_started", R"({"node": 1, "child": "b", "session": "s-4"})");
  bad("child_started", R"({"node": 1, "child": "z", "session": "s-4"})");
  ok("child_started", R"({"node": 1, "child": "a", "session": "s-4"})");
  bad("child_ended", R"({"node": 1, "child": "a", "outcome": "asleep"})");
  ok("child_ended", R"({"node": 1, "child": "a", "outcome": "complete"})");
  bad("child_ended", R"({"node": 1, "child": "a", "outcome": "complete"})");
  ok("child_ended", R"({"node": 1, "child": "b", "outcome": "dead", "reason": "killed"})");
  EXPECT_EQ(state_.nodes[1].children[1].reason, "killed");
  ok("quorum_missed", R"({"node": 1, "decision": "d-1", "missing": ["b"]})");
  bad("joined", R"({"node": 1})");
  bad("quorum_decided", R"({"node": 1, "decision": "d-2", "choice": "go"})");
  ok("quorum_decided", R"({"node": 1, "decision": "d-1", "choice": "go"})");
  ok("joined", R"({"node": 1, "captured": {}, "missing": ["b"]})");
  ok("node_opened", opening(2, 1, 1));
  ok("attempt_ended", ending(1, 1, "advanced", 2));
  bad("joined", R"({"node": 2})");
  bad("quorum_missed", R"({"node": 2, "decision": "d-1", "missing": ["b"]})");
}

TEST_F(EventTest, CheckpointedAndRewound) {
  start();
  ok("node_opened", opening(1, 0, 0));
  deliver(1, 1);
  ok("node_opened", opening(2, 1, 1, "end"));
  ok("attempt_ended", ending(1, 1, "advanced", 2));
  ok("session_completed", R"({"node": 2})");
  EXPECT_EQ(state_.summary.status, SessionStatus::kComplete);
  bad("session_completed", R"({"node": 1})");
  bad("checkpointed", R"({"node": 9})");
  ok("checkpointed", R"({"node": 1})");
  ok("checkpointed", R"({"node": 1})");
  EXPECT_THAT(state_.checkpoints, ElementsAre(1));
  bad("rewound", R"({"node": 1, "attempt": 1, "reason": "r"})");
  ok("rewound", R"({"node": 1, "attempt": 2, "reason": "r"})");
  EXPECT_EQ(state_.summary.tip, 1);
  EXPECT_EQ(state_.summary.step_id, "one");
  EXPECT_EQ(state_.summary.status, SessionStatus::kOpen);
}

TEST_F(EventTest, Stopped) {
  start();
  ok("node_opened", opening(1, 0, 0));
  bad("taken_over", R"({"by": "me"})");
  bad("driven", R"({"run": ""})");
  ok("driven", R"({"run": "r-1"})");
  EXPECT_TRUE(state_.summary.is_driven());
  ok("taken_over", R"({"by": "me"})");
  EXPECT_FALSE(state_.summary.is_driven());
  ok("driven", R"({"run": "r-1"})");
  ok("session_stopped", R"({"reason": "enough", "by": "me"})");
  EXPECT_EQ(state_.summary.status, SessionStatus::kStopped);
  EXPECT_EQ(state_.summary.stopped_reason, "enough");
  bad("session_stopped", R"({"reason": "enough", "by": "me"})");
  bad("output_recorded", delivery(1, 1));
  bad("node_opened", opening(2, 1, 1));
  ok("rewound", R"({"node": 1, "attempt": 1, "reason": "after all"})");
  EXPECT_EQ(state_.summary.status, SessionStatus::kOpen);
  EXPECT_EQ(state_.summary.stopped_reason, "");
}

TEST_F(EventTest, TheRecapHasTheNewestNotesFirst) {
  start();
  ok("node_opened", opening(1, 0, 0));
  deliver(1, 1, "older");
  ok("node_opened", opening(2, 1, 1));
  ok("attempt_ended", ending(1, 1, "advanced", 2));
  deliver(2, 1, "newer");
  EXPECT_EQ(state_.summary.recap, "newer\n\nolder");
}

TEST(Recap, IsCutAtACharacterBoundary) {
  std::string notes = "a";
  while (notes.size() < 2 * limits::kRecapBytes) notes += "ü";
  const std::string recap = recap_with(notes, "before");
  EXPECT_LE(recap.size(), limits::kRecapBytes);
  EXPECT_GE(recap.size(), limits::kRecapBytes - 1);
  EXPECT_TRUE(is_utf8(recap));
  EXPECT_EQ(recap_with("", "before"), "before");
  EXPECT_EQ(recap_with("now", ""), "now");
  EXPECT_LE(recap_with("now", notes).size(), limits::kRecapBytes);
}

TEST(Title, IsTheFirstLineOfTheGoalElseFromTheContext) {
  EXPECT_EQ(title_from("  Fix\tthe   bug \n more", Value()), "Fix the bug");
  EXPECT_EQ(title_from("\n\n second", Value()), "second");
  EXPECT_EQ(title_from(" ", json(R"({"problem": "P", "mrTitle": "M"})")), "M");
  EXPECT_EQ(title_from("", json(R"({"goal": "", "problem": "P"})")), "P");
  EXPECT_EQ(title_from("", json(R"({"goal": 3})")), "");
  const std::string longer(500, 'x');
  EXPECT_EQ(count_code_points(title_from(longer, Value())), limits::kTitleChars);
}

TEST(Replay, RefusesWhatIsNotASession) {
  EXPECT_FALSE(replay({}));
  SessionSimulator journey(program_of("[{id: one, title: T, prompt: P}]"));
  auto events = journey.events();
  ASSERT_TRUE(replay(events));
  events[1].payload = "{";
  const auto broken = replay(events);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(broken.error().message, HasSubstr("event 2"));
}

TEST(NodeOpened, RecreatesTheNode) {
  Node node;
  node.number = 1;
  node.kind = NodeKind::kStep;
  node.position = {"one", {{"loop", 3}}};
  node.title = "One";
  node.context = kHash;
  node.jumps = {{"x", 1}};
  node.artifacts = {{"k", kHash}};
  SessionState state;
  state.summary.events = 1;
  ASSERT_TRUE(apply(state, node_opened(node), 2, 0));
  EXPECT_EQ(to_value(state.nodes.at(1)), to_value(node));
}

}  // namespace
}  // namespace sb::engine

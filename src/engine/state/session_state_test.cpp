#include "engine/state/session_state.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "engine/testing/testing.hpp"

namespace sb::engine {
namespace {

Node full_node() {
  Node node;
  node.number = 7;
  node.parent = 3;
  node.parent_attempt = 2;
  node.kind = NodeKind::kChildren;
  node.position = {"step", {{"outer", 4}, {"inner", 0}}};
  node.title = "Do “it”";
  node.context = std::string(64, 'a');
  node.jumps = {{"rework", 2}};
  node.artifacts = {{"wr.loop_control", std::string(64, 'b')}};
  node.depth = 5;
  node.attempt = 4;
  node.consecutive_blocks = 2;
  node.rejections = 1;
  node.breaker_lifted = true;
  node.is_checkpoint = true;
  node.waiting = Waiting{Waiting::Kind::kQuorum, "d-1", "s-1", "why"};
  node.children.push_back({.id = "a#1",
                           .session = "s-2",
                           .workflow_id = "wr.x",
                           .hash = "sha256:ab",
                           .goal = "g",
                           .capture_as = "got",
                           .context = json(R"({"k": [1]})"),
                           .label = "the first",
                           .tier = "strong",
                           .outcome = "dead",
                           .reason = "gone"});
  return node;
}

Summary full_summary() {
  Summary summary;
  summary.id = "s-1";
  summary.workflow_id = "wr.x";
  summary.workflow_name = "X";
  summary.hash = "sha256:ab";
  summary.goal = "Fix\nit";
  summary.title = "Fix";
  summary.status = SessionStatus::kStopped;
  summary.stopped_reason = "enough";
  summary.is_autonomous = true;
  summary.tip = 3;
  summary.nodes = 9;
  summary.step_id = "one";
  summary.step_title = "One";
  summary.recap = "ü";
  summary.workspace = "/w";
  summary.repository = "r";
  summary.git_branch = "b";
  summary.git_head = "h";
  summary.parent_session = "s-0";
  summary.parent_child = "c";
  summary.parent_node = 2;
  summary.depth = 1;
  summary.started_at = -5;
  summary.updated_at = 10;
  summary.events = 40;
  return summary;
}

// Through text, as rows are stored, and back to the same text.
template <class T, class Read>
void expect_round_trip(const T& thing, Read read) {
  const std::string text = to_json(to_value(thing));
  const auto back = read(json(text));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(to_value(*back)), text);
}

TEST(State, RoundTrips) {
  expect_round_trip(full_node(), node_from);
  Node plain;
  plain.number = 1;
  plain.context = std::string(64, '0');
  expect_round_trip(plain, node_from);
  expect_round_trip(full_node().children[0], child_from);
  expect_round_trip(Attempt{3, 2, Attempt::Ended::kRejected, 0, 17, 18}, attempt_from);
  expect_round_trip(full_summary(), summary_from);
  expect_round_trip(Summary(), summary_from);
}

TEST(State, KeepsEveryMember) {
  const Node node = node_from(to_value(full_node())).value();
  EXPECT_EQ(node.position, full_node().position);
  EXPECT_EQ(node.jumps, full_node().jumps);
  EXPECT_EQ(node.artifacts, full_node().artifacts);
  EXPECT_EQ(node.waiting->what, Waiting::Kind::kQuorum);
  EXPECT_EQ(node.waiting->session, "s-1");
  EXPECT_EQ(node.children[0].context, json(R"({"k": [1]})"));
  EXPECT_TRUE(node.is_checkpoint && node.breaker_lifted);
  EXPECT_EQ(attempt_from(to_value(Attempt{3, 2, Attempt::Ended::kRejected, 0, 17, 18})).value(),
            (Attempt{3, 2, Attempt::Ended::kRejected, 0, 17, 18}));
  EXPECT_EQ(summary_from(to_value(full_summary())).value().status, SessionStatus::kStopped);
}

// Each member removed, each given another type, and one extra.
template <class Read>
void expect_strict(const Value& value, Read read, std::initializer_list<std::string_view> optional = {}) {
  for (const auto& member : value.members()) {
    Value without = value;
    without.erase(member.name);
    const bool may_go = std::find(optional.begin(), optional.end(), member.name) != optional.end();
    EXPECT_EQ(read(without).has_value(), may_go) << member.name;
    for (const Value& wrong : {Value(), Value(1.5), Value(Value::Array{Value::Array{}}), Value("no such"), Value(-7)}) {
      if (wrong.kind() == member.value.kind() && member.name != "kind" && member.name != "status" &&
          member.name != "ended" && member.name != "context") {
        continue;
      }
      Value changed = value;
      changed.set(member.name, wrong);
      const auto result = read(changed);
      ASSERT_FALSE(result) << member.name << " " << to_json(wrong);
      EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    }
  }
  Value more = value;
  more.set("surplus", 1);
  EXPECT_FALSE(read(more));
  EXPECT_FALSE(read(Value(3)));
  EXPECT_FALSE(read(Value()));
}

TEST(State, IsReadStrictly) {
  expect_strict(to_value(full_node()), node_from, {"waiting", "children"});
  expect_strict(to_value(Attempt{3, 2, Attempt::Ended::kRejected, 0, 17, 18}), attempt_from);
  expect_strict(to_value(full_summary()), summary_from);
  expect_strict(to_value(full_node().position.loops).items()[0],
                [](const Value& frame) { return loops_from(Value(Value::Array{frame})); });
}

TEST(State, NamesItsEnums) {
  EXPECT_EQ(to_string(SessionStatus::kOpen), "open");
  EXPECT_EQ(to_string(SessionStatus::kWaiting), "waiting");
  EXPECT_EQ(to_string(SessionStatus::kComplete), "complete");
  EXPECT_EQ(to_string(SessionStatus::kStopped), "stopped");
  EXPECT_EQ(to_string(NodeKind::kStep), "step");
  EXPECT_EQ(to_string(NodeKind::kDecision), "decision");
  EXPECT_EQ(to_string(NodeKind::kChildren), "children");
  EXPECT_EQ(to_string(NodeKind::kEnd), "end");
}

TEST(Program, LaysStepsOutInOrder) {
  const auto program = program_of(
      "[{id: one, title: T, prompt: P}, {id: each, type: loop, title: L, loop: {type: for, count: 2, maxIterations: "
      "3}, "
      "body: [{id: two, title: T, prompt: P}, {id: three, title: T, prompt: P}]}, {id: four, title: T, prompt: P}]");
  ASSERT_EQ(program->size(), 5);
  EXPECT_EQ(program->first(), 0);
  EXPECT_EQ(program->at(0).next, 1);
  EXPECT_EQ(program->at(1).body, 2);
  EXPECT_EQ(program->at(1).next, 4);
  EXPECT_EQ(program->at(2).next, 3);
  EXPECT_EQ(program->at(3).next, kNoStep);
  EXPECT_EQ(program->at(3).loop, 1);
  EXPECT_EQ(program->at(4).loop, kNoStep);
  EXPECT_TRUE(program->at(4).is_last);
  EXPECT_FALSE(program->at(3).is_last);
  EXPECT_EQ(program->find("three"), 3);
  EXPECT_EQ(program->find("five"), kNoStep);
}

TEST(Program, MarksTheLastStepInsideALastLoop) {
  const auto program = program_of(
      "[{id: each, type: loop, title: L, loop: {type: for, count: 2, maxIterations: 3}, body: [{id: two, title: T, "
      "prompt: P}, {id: three, title: T, prompt: P}]}]");
  EXPECT_TRUE(program->at(program->find("three")).is_last);
  EXPECT_FALSE(program->at(program->find("each")).is_last);
}

TEST(Program, KnowsWhichLoopAStepEnds) {
  const std::string control = "outputContract: {contractRef: wr.contracts.loop_control}";
  const auto program = program_of(
      "[{id: outer, type: loop, title: L, loop: {type: while, condition: {var: go}, maxIterations: 3}, body: [{id: "
      "each, type: loop, title: "
      "L, "
      "loop: {type: for, count: 2, maxIterations: 3}, body: [{id: deep, title: T, prompt: P, " +
      control + "}]}, {id: flat, title: T, prompt: P, " + control + "}, {id: plain, title: T, prompt: P}]}]");
  const StepNo outer = program->find("outer");
  EXPECT_EQ(program->at(program->find("deep")).exits, outer);
  EXPECT_EQ(program->at(program->find("flat")).exits, outer);
  EXPECT_TRUE(program->at(program->find("flat")).is_exit);
  EXPECT_FALSE(program->at(program->find("plain")).is_exit);
}

}  // namespace
}  // namespace sb::engine

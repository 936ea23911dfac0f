// Random workflows with random submissions: what must hold for every session, whatever is sent.
#include <gmock/gmock.h>

#include <set>

#include "base/limits.hpp"
#include "engine/testing/random_workflows.hpp"

namespace sb::engine {
namespace {

std::string dump(const SessionState& state) {
  std::string text = to_json(to_value(state.summary));
  for (const auto& [number, node] : state.nodes) text += "\n" + to_json(to_value(node));
  for (const auto& [key, attempt] : state.attempts) text += "\n" + to_json(to_value(attempt));
  return text;
}

class RandomSession {
 public:
  explicit RandomSession(std::uint64_t seed)
      : dice_(seed),
        text_(RandomWorkflow(dice_, 3 + dice_.below(12)).text()),
        journey_(std::make_shared<Program>(workflow::compiled(text_).back()),
                 json(R"({"xs": [1, 2], "ys": [], "n": 2, "size": 3})")) {
    keep();
  }

  // Deliveries at the tip, and sometimes at an earlier node.
  void run(int deliveries) {
    for (int i = 0; i < deliveries; ++i) {
      const std::size_t events = journey_.events().size();
      const bool goes_back = journey_.is_over() || dice_.one_in(6);
      const NodeNo at = goes_back ? 1 + dice_.below(journey_.summary().nodes) : journey_.summary().tip;
      if (!act(at)) continue;
      if (testing::Test::HasFailure()) return;
      check_move(events);
      keep();
    }
  }

  const SessionSimulator& journey() const { return journey_; }
  const std::string& text() const { return text_; }
  // The state as stored in rows, by the number of its last event.
  const std::map<std::int64_t, std::string>& snapshots() const { return snapshots_; }

  // The marks a node must see: those of the deliveries that lead to it.
  std::set<std::string> marks_above(const Node& node) const {
    std::set<std::string> marks;
    for (const Node* here = &node; here->parent != 0; here = &journey_.node(here->parent)) {
      const auto mark = marks_.find({here->parent, here->parent_attempt});
      if (mark != marks_.end()) marks.insert(mark->second);
    }
    return marks;
  }

 private:
  void keep() { snapshots_[journey_.summary().events] = dump(journey_.state()); }

  bool act(NodeNo number) {
    const Node node = journey_.node(number);
    if (node.kind == NodeKind::kStep) {
      const std::string mark = "mark_" + std::to_string(journey_.events().size());
      marks_[{number, node.attempt}] = mark;
      journey_.deliver_at(number, random_submission(dice_, mark), !dice_.one_in(3));
      return true;
    }
    if (number != journey_.summary().tip || node.kind == NodeKind::kEnd) return false;
    return journey_.settle(json(R"({"color": "red"})")).missing.empty();
  }

  // The opened step comes after the previous one, unless a loop started an iteration or a jump was taken.
  void check_move(std::size_t from) {
    bool may_go_back = false;
    for (std::size_t i = from; i < journey_.events().size(); ++i) {
      const store::Event& event = journey_.events()[i];
      may_go_back = may_go_back || event.type == "loop_iterated" || event.type == "jumped";
      if (event.type != "node_opened") continue;
      const Node& opened = journey_.node(static_cast<NodeNo>(json(event.payload)["node"].as_integer()));
      for (const LoopFrame& frame : opened.position.loops) {
        const auto& step = *journey_.program().at(journey_.program().find(frame.loop)).step;
        EXPECT_LT(frame.iteration, step.loop()->loop.max_iterations);
      }
      if (opened.kind == NodeKind::kEnd || opened.parent == 0 || may_go_back) continue;
      const Node& parent = journey_.node(opened.parent);
      EXPECT_GT(journey_.program().find(opened.position.step), journey_.program().find(parent.position.step));
    }
  }

  Dice dice_;
  std::string text_;
  SessionSimulator journey_;
  std::map<std::int64_t, std::string> snapshots_;
  std::map<std::pair<NodeNo, int>, std::string> marks_;
};

class SessionProperties : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    seed_ = static_cast<std::uint64_t>(GetParam()) * 1'000;
    if (const char* chosen = std::getenv("SIGNALBOX_SEED")) seed_ = std::strtoull(chosen, nullptr, 10);
    RecordProperty("seed", std::to_string(seed_));
  }
  // Each with its own seed, printed on failure.
  template <class Check>
  void for_each(int sessions, const Check& check) {
    for (int i = 0; i < sessions; ++i) {
      const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(i);
      SCOPED_TRACE("SIGNALBOX_SEED=" + std::to_string(seed));
      RandomSession session(seed);
      session.run(40);
      check(session);
      if (HasFailure()) {
        ADD_FAILURE() << session.text();
        return;
      }
    }
  }
  std::uint64_t seed_ = 0;
};

void expect_replay(const RandomSession& session) {
  const auto& events = session.journey().events();
  SessionState state;
  for (const store::Event& event : events) {
    ASSERT_TRUE(apply(state, {event.type, json(event.payload)}, event.seq, event.time_ms));
    const auto kept = session.snapshots().find(event.seq);
    if (kept == session.snapshots().end()) continue;
    EXPECT_EQ(dump(state), kept->second) << "after event " << event.seq;
  }
  const auto replayed = replay(events);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(dump(*replayed), dump(session.journey().state()));
}

void expect_one_successor(const RandomSession& session) {
  std::set<std::pair<NodeNo, int>> seen;
  for (const auto& [number, node] : session.journey().state().nodes)
    EXPECT_TRUE(seen.emplace(node.parent, node.parent_attempt).second);
  for (const auto& [key, attempt] : session.journey().state().attempts) {
    if (attempt.successor == 0) continue;
    EXPECT_EQ(session.journey().node(attempt.successor).parent, key.first);
  }
}

void expect_own_branch(const RandomSession& session) {
  for (const auto& [number, node] : session.journey().state().nodes) {
    std::set<std::string> seen;
    for (const auto& member : session.journey().context(node).members()) {
      if (member.name.starts_with("mark_")) seen.insert(member.name);
    }
    EXPECT_EQ(seen, session.marks_above(node)) << "node " << number;
  }
}

// Every prefix replays to the stored state; no attempt has two successors; a branch sees exactly what its ancestors
// set; the cursor goes back only by loops and jumps (checked at each move).
TEST_P(SessionProperties, Hold) {
  for_each(6, [](const RandomSession& session) {
    expect_replay(session);
    expect_one_successor(session);
    expect_own_branch(session);
  });
}

TEST_P(SessionProperties, APermutedLogIsRefusedOrStillASession) {
  for_each(1, [](const RandomSession& session) {
    const auto& events = session.journey().events();
    for (std::size_t i = 0; i + 1 < events.size(); i += 7) {
      auto swapped = events;
      std::swap(swapped[i], swapped[i + 1]);
      EXPECT_FALSE(replay(swapped)) << "events carry their numbers";
      std::swap(swapped[i].seq, swapped[i + 1].seq);
      const auto state = replay(swapped);
      if (state) continue;
      EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Random, SessionProperties, testing::Range(1, 4));

}  // namespace
}  // namespace sb::engine

// People's requests to sessions that agents work on: steer, pause, kill, retry, take over. And recovery from a crash.
#include <atomic>
#include <thread>

#include "agent/loop/testing.hpp"

namespace sb::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Value by(const std::string& who) {
  return Value::object({{"by", who}});
}

TEST(People, ASteeringTextIsSentOnceWithTheNextTurn) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.", R"("expect": {"lacks": ["Use the other one."]})") +
               complete_line("The second thing is done.", R"("expect": {"contains": ["Use the other one."]})"));
  const std::string session = place.start("two-steps");
  bool has_steered = false;
  place.on_progress = [&](const Progress& progress) {
    if (has_steered || progress.kind != Progress::Kind::kTurn) return;
    has_steered = true;
    place.append(session, "steered", Value::object({{"text", "Use the other one."}, {"by", "ann"}}));
  };
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
  EXPECT_EQ(place.events_of(session, "steer_seen").size(), 1u);
}

TEST(People, ASteeringTextForAnIdleSessionIsSentWhenItResumes) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(call_line("Bash", R"({"command": "sleep 100"})") +
               complete_line("The first thing is done.",
                             R"("expect": {"contains": ["Use the other one.", "A person allowed you to continue."]})") +
               complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind != Progress::Kind::kTool) return;
    place.append(session, "steered", Value::object({{"text", "Use the other one."}, {"by", "ann"}}));
    place.append(session, "kill_asked", by("ann"));
  };
  EXPECT_EQ(place.work(session).state, EndState::kKilled);
  place.on_progress = {};
  place.append(session, "retried", by("ann"));
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(place.events_of(session, "steer_seen").size(), 1u);
}

TEST(People, D22_AKilledSessionEndsImmediatelyEvenWhileItsModelIsSilent) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("Never.", R"("delay_ms": 120000)"));
  const std::string session = place.start("two-steps");
  std::jthread person([&] {
    place.clock.sleep_ms(300);
    place.append(session, "kill_asked", Value::object({{"by", "ann"}, {"reason", "wrong ticket"}}));
  });
  const std::int64_t from = place.clock.now_ms();
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kKilled);
  EXPECT_THAT(ended.reason, HasSubstr("wrong ticket"));
  EXPECT_LT(place.clock.now_ms() - from, 60'000);
  EXPECT_EQ(place.work(session).state, EndState::kKilled);
}

TEST(People, AKilledSessionEndsInTheMiddleOfACommand) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  for (const char* command : {"sleep 100", "touch a.txt; sleep 100"}) {
    place.script(call_line("Bash", to_json(Value::object({{"command", command}}))));
    const std::string session = place.start("two-steps");
    place.on_progress = [&](const Progress& progress) {
      if (progress.kind == Progress::Kind::kTool) place.append(session, "kill_asked", by("ann"));
    };
    const std::int64_t from = place.clock.now_ms();
    Assignment assignment = place.assignment(session);
    assignment.run = session;
    EXPECT_EQ(place.work(assignment).state, EndState::kKilled) << command;
    EXPECT_LT(place.clock.now_ms() - from, 60'000);
    EXPECT_THAT(place.types(session), Contains("tool_ended"));
  }
}

TEST(People, KillingAParentEndsItsChildren) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  const auto script = [&](const std::string& delay) {
    place.script(call_line("spawn_agent", R"({"workflowId": "two-steps", "goal": "Deeper"})") +
                 complete_line("One.", R"("delay_ms": )" + delay) + complete_line("Two.") +
                 complete_line("The first thing is done.") + complete_line("The second thing is done."));
  };
  script("120000");
  const std::string session = place.start("two-steps");
  std::jthread person([&] {
    for (int i = 0; i < 500; ++i) {
      place.clock.sleep_ms(20);
      const auto types = place.types(session);
      if (std::ranges::find(types, "child_began") != types.end()) break;
    }
    place.append(session, "kill_asked", by("ann"));
  });
  EXPECT_EQ(place.work(session).state, EndState::kKilled);
  // Resumed, it continues the same child.
  place.append(session, "retried", by("ann"));
  script("0");
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(People, APausedSessionWaitsUntilItIsUnpaused) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  place.append(session, "pause_asked", by("ann"));
  std::atomic<bool> is_let_on = false;
  std::jthread person([&] {
    place.clock.sleep_ms(500);
    is_let_on = true;
    place.append(session, "go_on_asked", by("ann"));
  });
  place.on_progress = [&](const Progress&) { EXPECT_TRUE(is_let_on); };
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
}

TEST(People, D22_ARetriedSessionContinuesWhereItEnded) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(
      complete_line("The first thing is done.") + R"({"content": "Enough."})" + "\n" +
      R"({"content": "Enough, I say."})" + "\n" + R"({"content": "No."})" + "\n" +
      complete_line("The second thing is done.",
                    R"("expect": {"contains": ["A person allowed you to continue.", "Do the second thing."]})"));
  const std::string session = place.start("two-steps");
  EXPECT_EQ(place.work(session).state, EndState::kStoppedEarly);
  place.append(session, "retried", by("ann"));
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(ended.turns, 5);
}

TEST(People, ATakeoverStopsTheAgentWhichLaterSeesWhatThePersonDid) {
  LoopFixture place;
  place.add_workflow("three-steps", R"(
id: three-steps
name: Three
description: Three steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "Do the first thing."}
  - {id: two, title: Two, prompt: "Do the second thing."}
  - {id: three, title: Three, prompt: "Do the third thing."}
)");
  place.script(complete_line("The first thing is done.") +
               complete_line("The third thing is done.",
                             R"("expect": {"contains": ["has advanced in the meantime", "Do the third thing."]})"));
  const std::string session = place.start("three-steps");
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::kTurn) place.append(session, "taken_over", by("ann"));
  };
  EXPECT_EQ(place.work(session).state, EndState::kTakenOver);
  place.on_progress = {};
  EXPECT_EQ(place.work(session).state, EndState::kTakenOver);
  engine::Sessions& sessions = place.home->sessions();
  const auto token = sessions.token_for(*sessions.summary(session));
  ASSERT_TRUE(sessions.continue_session({.token = *token, .submission = {.notes = "Done by hand."}}));
  place.append(session, "retried", by("ann"));
  const WorkResult ended = place.work(session);
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
}

TEST(People, AnInterruptionIsNotAnEnd) {
  LoopFixture place;
  place.add_workflow("two-steps", kTwoSteps);
  place.script(complete_line("The first thing is done.") + complete_line("The second thing is done."));
  const std::string session = place.start("two-steps");
  Assignment assignment = place.assignment(session);
  std::atomic<bool> continues = true;
  assignment.should_continue = [&] { return continues.load(); };
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::kTurn) {
      continues = false;
      place.clock.sleep_ms(400);
    }
  };
  EXPECT_EQ(place.work(assignment).state, EndState::kKilled);
  EXPECT_THAT(place.types(session), Not(Contains("ended")));
  place.on_progress = {};
  EXPECT_EQ(place.work(session).state, EndState::kComplete);
}

}  // namespace
}  // namespace sb::agent

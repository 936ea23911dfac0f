// Sessions started under an id of the caller's choosing, and below one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>

#include "base/document/document.hpp"
#include "engine/state/lineage_proof.hpp"
#include "engine/testing/sessions_place.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;

constexpr const char* kFlow = R"(
id: two-steps
name: Two
description: Two steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: "First, with {{scope}}."}
  - {id: two, title: Two, prompt: Second.}
)";

Starting starting_in(SessionPlace& place) {
  Starting starting;
  starting.bundle = workflow::compiled(kFlow, place.around);
  starting.goal = "Make it faster";
  starting.workspace = "/srv";
  starting.is_autonomous = true;
  return starting;
}

TEST(ChosenId, StartingAgainGivesThePresentAnswerAndNoSecondSession) {
  SessionPlace place;
  Starting starting = starting_in(place);
  starting.id = session_id_of("0123456789abcdef");
  const Answer first = SessionPlace::expect(place.sessions->start(starting));
  EXPECT_EQ(SessionPlace::session(first), starting.id);
  const auto events = place.event_types(first).size();
  EXPECT_EQ(SessionPlace::step(SessionPlace::expect(place.sessions->start(starting))), "one");
  place.go_on(first);
  place.next_sessions();
  const Answer again = SessionPlace::expect(place.sessions->start(starting));
  EXPECT_EQ(SessionPlace::step(again), "two");
  EXPECT_EQ(SessionPlace::kind(place.go_on(again)), "complete");
  EXPECT_EQ(SessionPlace::kind(SessionPlace::expect(place.sessions->start(starting))), "complete");
  EXPECT_EQ(place.sessions->list(10)->size(), 1u);
  EXPECT_GT(place.event_types(first).size(), events);
}

TEST(ChosenId, AnotherGoalOrWorkflowOrParentIsRefused) {
  SessionPlace place;
  Starting starting = starting_in(place);
  starting.id = session_id_of("0123456789abcdef");
  SessionPlace::expect(place.sessions->start(starting));
  Starting other = starting;
  other.goal = "Make it slower";
  auto refused = place.sessions->start(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().error.message, HasSubstr("another goal"));
  other = starting;
  std::string renamed = kFlow;
  renamed.replace(renamed.find("two-steps"), 9, "too-steps");
  other.bundle = workflow::compiled(renamed, place.around);
  refused = place.sessions->start(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().error.message, HasSubstr("another workflow: two-steps"));
  other = starting;
  other.parent = SessionPlace::session(place.start(kFlow));
  EXPECT_FALSE(place.sessions->start(other));
}

TEST(ChosenId, OnlyAnIdOfTheRightFormIsTaken) {
  SessionPlace place;
  const std::string good = session_id_of("0123456789abcdef");
  for (const std::string& bad : {std::string("s-1"), good + "0", "d" + good.substr(1), std::string("s-\0", 3) + good,
                                 "../" + good, std::string(28, 'S')}) {
    Starting starting = starting_in(place);
    starting.id = bad;
    const auto refused = place.sessions->start(starting);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, "VALIDATION_ERROR");
  }
  EXPECT_EQ(place.sessions->list(10)->size(), 0u);
}

TEST(Lineage, ThreeBelowTheFirstAndNoFurther) {
  SessionPlace place;
  Answer above = place.start(kFlow);
  for (int depth = 1; depth <= 3; ++depth) {
    Starting starting = starting_in(place);
    starting.parent = SessionPlace::session(above);
    starting.context = Value::object({{"scope", "the core"}});
    above = SessionPlace::expect(place.sessions->start(starting));
    EXPECT_THAT(above.text, HasSubstr("First, with the core."));
    EXPECT_EQ(place.sessions->summary(SessionPlace::session(above))->depth, depth);
    EXPECT_TRUE(place.sessions->check_lineage(SessionPlace::session(above)));
  }
  Starting starting = starting_in(place);
  starting.parent = SessionPlace::session(above);
  const auto refused = place.sessions->start(starting);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, ErrorCode::kForbidden);
  starting.parent = "s-nobody";
  EXPECT_EQ(place.sessions->start(starting).error().code, "NOT_FOUND");
  EXPECT_TRUE(place.sessions->check_lineage(SessionPlace::session(above)));
}

// Puts another first event in the place of a session's own, as somebody with the store's file could.
void rewrite_start(SessionPlace& place, const std::string& session, const std::function<void(Value&)>& change) {
  const auto done = place.inbox.store->write([&](store::Transaction& transaction) -> Status {
    auto events = SB_TRY(transaction.events(session_stream(session), 1, 1'000));
    SB_TRY(transaction.remove_stream(session_stream(session)));
    std::vector<store::NewEvent> anew;
    for (const auto& event : events) anew.push_back({event.type, event.time_ms, event.payload});
    Value first = *parse_json(anew.front().payload);
    change(first);
    anew.front().payload = to_canonical_json(first);
    SB_TRY(transaction.append(session_stream(session), {}, anew));
    return {};
  });
  ASSERT_TRUE(done) << done.error().to_string();
}

TEST(Lineage, AForgedOrMissingOneIsRefused) {
  SessionPlace place;
  const std::string parent = SessionPlace::session(place.start(kFlow));
  const std::string stranger = SessionPlace::session(place.start(kFlow));
  Starting starting = starting_in(place);
  starting.parent = parent;
  const std::string child = SessionPlace::session(SessionPlace::expect(place.sessions->start(starting)));
  ASSERT_TRUE(place.sessions->check_lineage(child));
  std::string good;
  const auto refused = [&](std::string_view why) {
    const Status status = place.sessions->check_lineage(child);
    ASSERT_FALSE(status) << why;
    EXPECT_EQ(status.error().code, ErrorCode::kForbidden);
    EXPECT_THAT(status.error().message, HasSubstr(std::string(why)));
  };
  rewrite_start(place, child, [&](Value& started) {
    good = started.string_at("lineage").value_or("");
    started.erase("lineage");
  });
  refused("not signed");
  rewrite_start(place, child, [&](Value& started) { started.set("lineage", good.substr(0, 30)); });
  refused("forged");
  rewrite_start(place, child, [&](Value& started) { started.set("lineage", "zz"); });
  refused("mangled");
  rewrite_start(place, child, [&](Value& started) {
    started.set("lineage", good);
    started.set("parent", Value::object({{"session", stranger}, {"node", 1}, {"child", "spawned"}}));
  });
  refused("forged");
  rewrite_start(place, child, [&](Value& started) {
    started.set("parent", Value::object({{"session", parent}, {"node", 1}, {"child", "spawned"}}));
    started.set("depth", 2);
  });
  refused("forged");
  rewrite_start(place, child, [&](Value& started) { started.erase("parent"); });
  refused("has a depth but no parent");
}

TEST(Lineage, OutlivesTheRetirementOfItsKey) {
  SessionPlace place;
  Starting starting = starting_in(place);
  starting.parent = SessionPlace::session(place.start(kFlow));
  const std::string child = SessionPlace::session(SessionPlace::expect(place.sessions->start(starting)));
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  place.next_sessions();
  EXPECT_TRUE(place.sessions->check_lineage(child));
}

SessionStatus status_of(SessionPlace& place, const Answer& answer) {
  return place.sessions->summary(SessionPlace::session(answer))->status;
}

TEST(Descent, StoppingASessionStopsAllThatWasStartedBelowIt) {
  SessionPlace place;
  const auto below = [&](const Answer& parent) {
    Starting starting = starting_in(place);
    starting.parent = SessionPlace::session(parent);
    return SessionPlace::expect(place.sessions->start(starting));
  };
  const Answer parent = place.start(kFlow, {}, true);
  const Answer child = below(parent), sibling = below(parent), grandchild = below(child);
  const Answer stranger = place.start(kFlow, {}, true);
  place.go_on(place.go_on(sibling));
  ASSERT_TRUE(place.sessions->stop(SessionPlace::session(parent), "enough", "ann"));
  for (const Answer& each : {parent, child, grandchild}) EXPECT_EQ(status_of(place, each), SessionStatus::kStopped);
  EXPECT_EQ(status_of(place, sibling), SessionStatus::kComplete);
  EXPECT_EQ(status_of(place, stranger), SessionStatus::kOpen);
}

TEST(Descent, WhatStaysOpenBelowACompleteSessionIsStoppedWithIt) {
  SessionPlace place;
  const Answer parent = place.start(kFlow, {}, true);
  Starting starting = starting_in(place);
  starting.parent = SessionPlace::session(parent);
  const Answer child = SessionPlace::expect(place.sessions->start(starting));
  place.go_on(place.go_on(parent));
  ASSERT_TRUE(place.sessions->stop(SessionPlace::session(parent), "its run is over", "run"));
  EXPECT_EQ(status_of(place, parent), SessionStatus::kComplete);
  EXPECT_EQ(status_of(place, child), SessionStatus::kStopped);
  ASSERT_TRUE(remove_session(*place.inbox.store, SessionPlace::session(child)));
  ASSERT_TRUE(place.sessions->stop(SessionPlace::session(parent), "again", "run"));
}

// A command during which something else is done.
class SlowCommand final : public CommandRunner {
 public:
  CommandRun run(const std::string& command, const std::string&, std::span<const workflow::Origin>) override {
    meanwhile();
    return {.command = command, .exit = 0, .sandbox = "none"};
  }
  std::function<void()> meanwhile;
};

TEST(SlowCommands, HoldUpNoOtherSession) {
  SessionPlace place;
  SlowCommand command;
  Sessions sessions(*place.inbox.store, place.inbox.inbox, place.inbox.clock, place.inbox.random, command);
  Starting starting = starting_in(place);
  const Answer other = SessionPlace::expect(sessions.start(starting));
  starting.bundle = workflow::compiled(R"(
id: checked
name: Checked
description: A step with a command.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
)",
                                       place.around);
  const Answer checked = SessionPlace::expect(sessions.start(starting));
  std::future<Answered<Answer>> moved;
  bool is_held_up = true;
  command.meanwhile = [&] {
    moved = std::async(std::launch::async, [&] {
      return sessions.go_on({.token = SessionPlace::token_of(other), .submission = {.notes = "Done."}});
    });
    is_held_up = moved.wait_for(std::chrono::seconds(20)) != std::future_status::ready;
  };
  const Answer built = SessionPlace::expect(
      sessions.go_on({.token = SessionPlace::token_of(checked), .submission = {.notes = "Built."}}));
  const Answer done = SessionPlace::expect(
      sessions.go_on({.token = SessionPlace::token_of(built), .submission = {.notes = "Checked."}}));
  EXPECT_EQ(SessionPlace::kind(done), "complete");
  EXPECT_FALSE(is_held_up);
  EXPECT_EQ(SessionPlace::step(SessionPlace::expect(moved.get())), "two");
}

}  // namespace
}  // namespace sb::engine

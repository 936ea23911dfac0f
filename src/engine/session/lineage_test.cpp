// Sessions started with an id of the caller's choice, and as children of other sessions.
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

StartRequest starting_in(SessionTestHome& place) {
  StartRequest start_request;
  start_request.bundle = workflow::compiled(kFlow, place.around);
  start_request.goal = "Make it faster";
  start_request.workspace = "/srv";
  start_request.is_autonomous = true;
  return start_request;
}

TEST(ChosenId, StartingAgainReturnsTheCurrentAnswerAndNoSecondSession) {
  SessionTestHome place;
  StartRequest start_request = starting_in(place);
  start_request.id = session_id_from_bytes("0123456789abcdef");
  const SessionResponse first = SessionTestHome::expect(place.sessions->start(start_request));
  EXPECT_EQ(SessionTestHome::session(first), start_request.id);
  const auto events = place.event_types(first).size();
  EXPECT_EQ(SessionTestHome::step(SessionTestHome::expect(place.sessions->start(start_request))), "one");
  place.continue_session(first);
  place.next_sessions();
  const SessionResponse again = SessionTestHome::expect(place.sessions->start(start_request));
  EXPECT_EQ(SessionTestHome::step(again), "two");
  EXPECT_EQ(SessionTestHome::kind(place.continue_session(again)), "complete");
  EXPECT_EQ(SessionTestHome::kind(SessionTestHome::expect(place.sessions->start(start_request))), "complete");
  EXPECT_EQ(place.sessions->list(10)->size(), 1u);
  EXPECT_GT(place.event_types(first).size(), events);
}

TEST(ChosenId, AnotherGoalOrWorkflowOrParentIsRefused) {
  SessionTestHome place;
  StartRequest start_request = starting_in(place);
  start_request.id = session_id_from_bytes("0123456789abcdef");
  SessionTestHome::expect(place.sessions->start(start_request));
  StartRequest other = start_request;
  other.goal = "Make it slower";
  auto refused = place.sessions->start(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().error.message, HasSubstr("another goal"));
  other = start_request;
  std::string renamed = kFlow;
  renamed.replace(renamed.find("two-steps"), 9, "too-steps");
  other.bundle = workflow::compiled(renamed, place.around);
  refused = place.sessions->start(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().error.message, HasSubstr("another workflow: two-steps"));
  other = start_request;
  other.parent = SessionTestHome::session(place.start(kFlow));
  EXPECT_FALSE(place.sessions->start(other));
}

TEST(ChosenId, OnlyAnIdOfTheRightFormatIsAccepted) {
  SessionTestHome place;
  const std::string good = session_id_from_bytes("0123456789abcdef");
  for (const std::string& bad : {std::string("s-1"), good + "0", "d" + good.substr(1), std::string("s-\0", 3) + good,
                                 "../" + good, std::string(28, 'S')}) {
    StartRequest start_request = starting_in(place);
    start_request.id = bad;
    const auto refused = place.sessions->start(start_request);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, "VALIDATION_ERROR");
  }
  EXPECT_EQ(place.sessions->list(10)->size(), 0u);
}

TEST(Lineage, ThreeLevelsBelowTheRootAndNoFurther) {
  SessionTestHome place;
  SessionResponse above = place.start(kFlow);
  for (int depth = 1; depth <= 3; ++depth) {
    StartRequest start_request = starting_in(place);
    start_request.parent = SessionTestHome::session(above);
    start_request.context = Value::object({{"scope", "the core"}});
    above = SessionTestHome::expect(place.sessions->start(start_request));
    EXPECT_THAT(above.text, HasSubstr("First, with the core."));
    EXPECT_EQ(place.sessions->summary(SessionTestHome::session(above))->depth, depth);
    EXPECT_TRUE(place.sessions->check_lineage(SessionTestHome::session(above)));
  }
  StartRequest start_request = starting_in(place);
  start_request.parent = SessionTestHome::session(above);
  const auto refused = place.sessions->start(start_request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, ErrorCode::kForbidden);
  start_request.parent = "s-nobody";
  EXPECT_EQ(place.sessions->start(start_request).error().code, "NOT_FOUND");
  EXPECT_TRUE(place.sessions->check_lineage(SessionTestHome::session(above)));
}

// Replaces the first event of a session, as an attacker with access to the store's file could.
void rewrite_start(SessionTestHome& place, const std::string& session, const std::function<void(Value&)>& change) {
  const auto done = place.inbox.store->write([&](store::Transaction& transaction) -> Status {
    auto events = SB_TRY(transaction.events(session_stream(session), 1, 1'000));
    SB_TRY(transaction.remove_stream(session_stream(session)));
    std::vector<store::NewEvent> changed;
    for (const auto& event : events) changed.push_back({event.type, event.time_ms, event.payload});
    Value first = *parse_json(changed.front().payload);
    change(first);
    changed.front().payload = to_canonical_json(first);
    SB_TRY(transaction.append(session_stream(session), {}, changed));
    return {};
  });
  ASSERT_TRUE(done) << done.error().to_string();
}

TEST(Lineage, AForgedOrMissingOneIsRefused) {
  SessionTestHome place;
  const std::string parent = SessionTestHome::session(place.start(kFlow));
  const std::string stranger = SessionTestHome::session(place.start(kFlow));
  StartRequest start_request = starting_in(place);
  start_request.parent = parent;
  const std::string child = SessionTestHome::session(SessionTestHome::expect(place.sessions->start(start_request)));
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
  refused("malformed");
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
  SessionTestHome place;
  StartRequest start_request = starting_in(place);
  start_request.parent = SessionTestHome::session(place.start(kFlow));
  const std::string child = SessionTestHome::session(SessionTestHome::expect(place.sessions->start(start_request)));
  ASSERT_TRUE(place.sessions->rotate_keys(true));
  place.next_sessions();
  EXPECT_TRUE(place.sessions->check_lineage(child));
}

SessionStatus status_of(SessionTestHome& place, const SessionResponse& answer) {
  return place.sessions->summary(SessionTestHome::session(answer))->status;
}

TEST(Descent, StoppingASessionStopsAllItsDescendants) {
  SessionTestHome place;
  const auto below = [&](const SessionResponse& parent) {
    StartRequest start_request = starting_in(place);
    start_request.parent = SessionTestHome::session(parent);
    return SessionTestHome::expect(place.sessions->start(start_request));
  };
  const SessionResponse parent = place.start(kFlow, {}, true);
  const SessionResponse child = below(parent), sibling = below(parent), grandchild = below(child);
  const SessionResponse stranger = place.start(kFlow, {}, true);
  place.continue_session(place.continue_session(sibling));
  ASSERT_TRUE(place.sessions->stop(SessionTestHome::session(parent), "enough", "ann"));
  for (const SessionResponse& each : {parent, child, grandchild})
    EXPECT_EQ(status_of(place, each), SessionStatus::kStopped);
  EXPECT_EQ(status_of(place, sibling), SessionStatus::kComplete);
  EXPECT_EQ(status_of(place, stranger), SessionStatus::kOpen);
}

TEST(Descent, OpenDescendantsOfACompleteSessionAreStoppedWithIt) {
  SessionTestHome place;
  const SessionResponse parent = place.start(kFlow, {}, true);
  StartRequest start_request = starting_in(place);
  start_request.parent = SessionTestHome::session(parent);
  const SessionResponse child = SessionTestHome::expect(place.sessions->start(start_request));
  place.continue_session(place.continue_session(parent));
  ASSERT_TRUE(place.sessions->stop(SessionTestHome::session(parent), "its run is over", "run"));
  EXPECT_EQ(status_of(place, parent), SessionStatus::kComplete);
  EXPECT_EQ(status_of(place, child), SessionStatus::kStopped);
  ASSERT_TRUE(remove_session(*place.inbox.store, SessionTestHome::session(child)));
  ASSERT_TRUE(place.sessions->stop(SessionTestHome::session(parent), "again", "run"));
}

// A command that does something else while it runs.
class SlowCommand final : public CommandRunner {
 public:
  CommandRun run(const std::string& command, const std::string&, std::span<const workflow::Origin>,
                 const std::function<bool()>& should_continue) override {
    if (meanwhile) meanwhile();
    if (should_continue && !should_continue()) return {.command = command, .was_cancelled = true};
    return {.command = command, .exit = 0, .sandbox = "none"};
  }
  bool may_claim_safety(std::span<const workflow::Origin>) const override { return false; }
  std::optional<std::vector<std::string>> changed_files(const std::string&, const std::string&, TimestampMs) override {
    return std::nullopt;
  }
  std::function<void()> meanwhile;
};

constexpr const char* kChecked = R"(
id: checked
name: Checked
description: A step with a command.
version: 1.0.0
steps:
  - {id: build, title: Build, prompt: Build it., verification: {command: ./check}}
)";

TEST(SlowCommands, EndWhenTheCallIsCancelledAndDeliverNothing) {
  SessionTestHome place;
  SlowCommand command;
  Sessions sessions(*place.inbox.store, place.inbox.inbox, place.inbox.clock, place.inbox.random, command);
  StartRequest start_request = starting_in(place);
  start_request.bundle = workflow::compiled(kChecked, place.around);
  const SessionResponse started = SessionTestHome::expect(sessions.start(start_request));
  const SessionResponse checked = SessionTestHome::expect(
      sessions.continue_session({.token = SessionTestHome::token_of(started), .submission = {.notes = "Built."}}));
  const auto types = place.event_types(checked);
  ContinueRequest request{.token = SessionTestHome::token_of(checked), .submission = {.notes = "Checked."}};
  request.should_continue = [] { return false; };
  const auto cancelled = sessions.continue_session(request);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(place.event_types(checked), types);
  request.should_continue = {};
  EXPECT_TRUE(sessions.continue_session(request));
}

TEST(SlowCommands, DoNotDelayOtherSessions) {
  SessionTestHome place;
  SlowCommand command;
  Sessions sessions(*place.inbox.store, place.inbox.inbox, place.inbox.clock, place.inbox.random, command);
  StartRequest start_request = starting_in(place);
  const SessionResponse other = SessionTestHome::expect(sessions.start(start_request));
  start_request.bundle = workflow::compiled(kChecked, place.around);
  const SessionResponse checked = SessionTestHome::expect(sessions.start(start_request));
  std::future<SessionResult<SessionResponse>> moved;
  bool is_held_up = true;
  command.meanwhile = [&] {
    moved = std::async(std::launch::async, [&] {
      return sessions.continue_session({.token = SessionTestHome::token_of(other), .submission = {.notes = "Done."}});
    });
    is_held_up = moved.wait_for(std::chrono::seconds(20)) != std::future_status::ready;
  };
  const SessionResponse built = SessionTestHome::expect(
      sessions.continue_session({.token = SessionTestHome::token_of(checked), .submission = {.notes = "Built."}}));
  const SessionResponse done = SessionTestHome::expect(
      sessions.continue_session({.token = SessionTestHome::token_of(built), .submission = {.notes = "Checked."}}));
  EXPECT_EQ(SessionTestHome::kind(done), "complete");
  EXPECT_FALSE(is_held_up);
  EXPECT_EQ(SessionTestHome::step(SessionTestHome::expect(moved.get())), "two");
}

}  // namespace
}  // namespace sb::engine

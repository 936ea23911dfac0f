// Sessions that a run drives: who may continue them, and what a person who takes one over gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "engine/recall/find_session.hpp"
#include "engine/testing/sessions_place.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using P = SessionTestHome;

constexpr const char* kFlow = R"(
id: two-steps
name: Two
description: Two steps.
version: 1.0.0
steps:
  - {id: one, title: One, prompt: First.}
  - {id: two, title: Two, prompt: Second.}
)";
constexpr const char* kRun = "r-1";

class Driver : public testing::Test {
 protected:
  Driver() : worker(with(Surface::kWorkers)), tools(with(Surface::kTools)) {}

  std::unique_ptr<Sessions> with(Surface surface) {
    return std::make_unique<Sessions>(*place.inbox.store, place.inbox.inbox, place.inbox.clock, place.inbox.random,
                                      place.commands, surface);
  }
  // Started by a run, or by a session of one.
  SessionResponse start(const std::string& parent = {}) {
    StartRequest starting;
    starting.bundle = workflow::compiled(kFlow, place.around);
    starting.goal = "Make it faster";
    starting.workspace = "/srv";
    starting.is_autonomous = true;
    starting.parent = parent;
    if (parent.empty()) starting.run = kRun;
    return P::expect(worker->start(starting));
  }
  void take_over(const std::string& session) {
    EXPECT_TRUE(place.inbox.store->write([&](store::Transaction& transaction) {
      return place.sessions->take_over_in(transaction, session, kRun, "ann");
    }));
  }
  void give_back(const std::string& session) {
    EXPECT_TRUE(place.inbox.store->write(
        [&](store::Transaction& transaction) { return place.sessions->return_to_run_in(transaction, session); }));
  }
  template <class T>
  static void expect_refused(const SessionResult<T>& result, std::string_view way_out) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().error.code, ErrorCode::kForbidden);
    EXPECT_EQ(result.error().code, "PRECONDITION_FAILED");
    EXPECT_THAT(result.error().error.message, HasSubstr("belongs to run r-1"));
    EXPECT_THAT(result.error().error.remedy, HasSubstr(way_out));
  }
  void expect_refused_everything(const SessionResponse& answer) {
    const std::string id = P::session(answer), token = P::token_of(answer);
    for (Sessions* sessions : {place.sessions.get(), tools.get()}) {
      const std::string_view way_out = "signalbox session take-over";
      expect_refused(sessions->continue_session({.token = token, .submission = {.notes = "Mine."}}), way_out);
      expect_refused(sessions->continue_session({.token = token}), way_out);
      expect_refused(sessions->rehydrate(token), way_out);
      expect_refused(sessions->checkpoint(token), way_out);
      expect_refused(sessions->rewind(id, 1, ""), way_out);
      const auto summary = sessions->summary(id);
      ASSERT_TRUE(summary);
      EXPECT_EQ(sessions->token_for(*summary).error().code, ErrorCode::kForbidden);
      EXPECT_EQ(sessions->check_driver(*summary).error().code, ErrorCode::kForbidden);
    }
  }

  SessionTestHome place;
  std::unique_ptr<Sessions> worker, tools;
};

TEST_F(Driver, OnlyItsWorkerContinuesASession) {
  const SessionResponse first = start();
  const auto events = place.event_types(first).size();
  expect_refused_everything(first);
  EXPECT_EQ(place.event_types(first).size(), events) << "nothing was stored";
  const SessionResponse second =
      P::expect(worker->continue_session({.token = P::token_of(first), .submission = {.notes = "Done."}}));
  EXPECT_EQ(P::step(second), "two");
  expect_refused(tools->continue_session({.token = P::token_of(first)}), "take-over");  // a used token, too
}

TEST_F(Driver, SessionsBelowItAreItsToo) {
  const SessionResponse child = start(P::session(start()));
  expect_refused_everything(child);
  expect_refused_everything(start(P::session(child)));
}

TEST_F(Driver, ASessionThatNoRunDrivesIsForEveryone) {
  const SessionResponse mine = place.start(kFlow, {}, true);
  EXPECT_TRUE(tools->continue_session({.token = P::token_of(mine), .submission = {.notes = "Done."}}));
}

TEST_F(Driver, APersonTakesItOverAndGivesItBack) {
  const SessionResponse first = start(), child = start(P::session(first));
  take_over(P::session(first));
  EXPECT_TRUE(place.sessions->rehydrate(P::token_of(child))) << "what is below it is theirs, too";
  EXPECT_EQ(P::step(place.continue_session(first)), "two");
  give_back(P::session(first));
  expect_refused_everything(first);
  expect_refused_everything(child);
  EXPECT_TRUE(worker->rehydrate(P::token_of(first)));
}

TEST_F(Driver, ARunRecordsItselfOnceInSessionsOfEarlierVersions) {
  const SessionResponse old = place.start(kFlow, {}, true);
  ASSERT_TRUE(worker->drive(P::session(old), kRun));
  const auto events = place.event_types(old).size();
  ASSERT_TRUE(worker->drive(P::session(old), kRun));
  EXPECT_EQ(place.event_types(old).size(), events);
  expect_refused_everything(old);
  take_over(P::session(old));
  ASSERT_TRUE(worker->drive(P::session(old), kRun)) << "a resumed run";
  EXPECT_EQ(P::step(place.continue_session(old)), "two") << "it stays the person's";
}

TEST_F(Driver, OneOfAnEarlierVersionCanBeTakenOverBeforeItsRunContinues) {
  const SessionResponse old = place.start(kFlow, {}, true);
  take_over(P::session(old));
  ASSERT_TRUE(worker->drive(P::session(old), kRun));
  EXPECT_TRUE(place.sessions->rehydrate(P::token_of(old)));
}

TEST_F(Driver, RecallDoesNotOfferIt) {
  const SessionResponse driven = start();
  const std::string id = P::session(driven);
  EXPECT_TRUE(find_resumable(*place.inbox.store, {.text = "faster", .workspace = "/srv"})->candidates.empty());
  const auto by_id = find_resumable(*place.inbox.store, {.session_id = id}).value();
  EXPECT_TRUE(by_id.candidates.empty());
  ASSERT_TRUE(by_id.driven);
  EXPECT_EQ(by_id.driven->id, id);
  take_over(id);
  EXPECT_EQ(find_resumable(*place.inbox.store, {.session_id = id})->candidates.size(), 1u);
}

TEST_F(Driver, VerifyAndExportKnowIt) {
  const SessionResponse first = start();
  take_over(P::session(first));
  EXPECT_TRUE(verify_session(*place.inbox.store, P::session(first))->empty());
}

}  // namespace
}  // namespace sb::engine

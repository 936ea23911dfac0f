// What a session's hand-off declares as changed, compared with what did change.
#include <gmock/gmock.h>

#include "engine/testing/sessions_place.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHandOff = R"(
id: hand
name: Hand over
description: One step.
version: 1.0.0
steps:
  - {id: hand-off, title: Hand off, prompt: Hand over., outputContract: {contractRef: wr.contracts.coding_handoff}}
  - {id: rest, title: Rest, prompt: Rest.}
)";

Submission handing_over(const std::vector<std::string>& files) {
  return {.notes = "Done.",
          .artifacts = {Value::object({{"kind", "wr.coding_handoff"},
                                       {"version", 1},
                                       {"keyDecisions", Value::array()},
                                       {"knownLimitations", Value::array()},
                                       {"testsAdded", Value::array()},
                                       {"filesChanged", Value::array(files)}})}};
}

SessionResponse begin(SessionTestHome& place, const std::string& run = {}) {
  StartRequest start_request;
  start_request.bundle = workflow::compiled(kHandOff, place.around);
  start_request.goal = "Make it faster";
  start_request.workspace = "/srv";
  start_request.git_head = std::string(40, 'a');
  start_request.run = run;
  return SessionTestHome::expect(place.sessions->start(start_request));
}

TEST(DeclaredFiles, ADifferenceIsRefusedOnceAndThenNoted) {
  SessionTestHome place;
  place.commands.changed = {"src/a.c", "src/b.c"};
  const SessionResponse first = begin(place);
  const SessionResponse refused = place.continue_session(first, handing_over({"src/a.c", "gone.c"}));
  EXPECT_THAT(SessionTestHome::blockers(refused), ElementsAre("DECLARED_FILES_DIFFER"));
  EXPECT_THAT(refused.text, HasSubstr("Changed but not declared: src/b.c. Declared but not changed: gone.c."));
  // Something else is wrong in between: that does not start it over.
  const SessionResponse again = place.continue_session(refused, {.notes = "No artifact."});
  EXPECT_THAT(SessionTestHome::blockers(again), ElementsAre("MISSING_REQUIRED_OUTPUT"));
  const SessionResponse passed = place.continue_session(again, handing_over({"src/a.c", "gone.c"}));
  EXPECT_EQ(SessionTestHome::step(passed), "rest");
  EXPECT_THAT(passed.text, HasSubstr("Accepted although `filesChanged` differs from what changed. Changed but not "
                                     "declared: src/b.c."));
}

TEST(DeclaredFiles, WhatAgreesOrCannotBeKnownPasses) {
  SessionTestHome place;
  place.commands.changed = {"src/a.c", "src/b.c"};
  const SessionResponse agreed = place.continue_session(begin(place), handing_over({"src/**"}));
  EXPECT_EQ(SessionTestHome::step(agreed), "rest");
  EXPECT_THAT(agreed.text, Not(HasSubstr("filesChanged")));
  place.commands.changed = std::nullopt;  // git is not there
  EXPECT_EQ(SessionTestHome::step(place.continue_session(begin(place), handing_over({"x"}))), "rest");
  place.commands.changed = std::vector<std::string>{};
  EXPECT_THAT(SessionTestHome::blockers(place.continue_session(begin(place), handing_over({"x"}))),
              ElementsAre("DECLARED_FILES_DIFFER"));
}

TEST(DeclaredFiles, ARunComparesThemAtItsDelivery) {
  SessionTestHome place;
  place.commands.changed = {"src/a.c"};
  const SessionResponse first = begin(place, "r-1");
  Sessions workers(*place.inbox.store, place.inbox.inbox, place.inbox.clock, place.inbox.random, place.commands,
                   Surface::kWorkers);
  const auto passed =
      workers.continue_session({.token = SessionTestHome::token_of(first), .submission = handing_over({})});
  ASSERT_TRUE(passed);
  EXPECT_EQ(SessionTestHome::step(*passed), "rest");
}

}  // namespace
}  // namespace sb::engine

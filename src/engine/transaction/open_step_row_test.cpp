// What hooks see of a session: current after every commit, and gone when the session is.
#include "engine/transaction/open_step_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/sessions_place.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {
namespace {

using guard::OpenStep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeld = R"(
id: held
name: Held
description: Steps that hold the agent.
version: 1.0.0
steps:
  - {id: plan, title: "Plan {{goal}}", prompt: Plan., writes: none, commands: read-only, captures: {slices: {type: array}}}
  - {id: build, title: Build, prompt: Build., writes: ["src/**"], requireConfirmation: true}
  - {id: pick, type: decision, title: Pick, decision: {instruction: "Which?", options: [a, b]}, captureAs: picked}
  - {id: rest, title: Rest, prompt: Rest.}
)";

class OpenSteps : public testing::Test {
 protected:
  std::vector<OpenStep> all() {
    auto found =
        place_.inbox.store->read([](store::Snapshot& snapshot) { return guard::open_steps_in(snapshot, "/srv", 100); });
    EXPECT_TRUE(found);
    return found.value_or(std::vector<OpenStep>{});
  }
  OpenStep only() {
    const auto found = all();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? OpenStep() : found.front();
  }
  std::vector<std::string> damages(const SessionResponse& answer) {
    std::vector<std::string> lines;
    const auto found = verify_session(*place_.inbox.store, SessionTestHome::session(answer));
    EXPECT_TRUE(found);
    for (const Damage& damage : *found) lines.push_back(damage.where + ": " + damage.message);
    return lines;
  }
  SessionResponse deliver(const SessionResponse& answer) {
    return place_.continue_session(answer, {.notes = "Done.", .context = Value::object({{"slices", Value::array()}})});
  }

  SessionTestHome place_;
};

TEST_F(OpenSteps, FollowTheSessionFromStartToEnd) {
  const SessionResponse plan = place_.start(kHeld);
  OpenStep open = only();
  EXPECT_EQ(open.session, SessionTestHome::session(plan));
  EXPECT_EQ(open.workflow, "held");
  EXPECT_EQ(open.title, "Plan Make it faster");
  EXPECT_EQ(open.number, 1);
  EXPECT_EQ(open.of, 4);
  EXPECT_EQ(open.writes, std::vector<std::string>{});
  EXPECT_TRUE(open.commands_read_only);
  EXPECT_EQ(open.required_output, "notes; context keys slices");
  EXPECT_EQ(open.token, SessionTestHome::token_of(plan));
  EXPECT_THAT(damages(plan), IsEmpty());

  const SessionResponse blocked = place_.continue_session(plan, {.notes = "Done."});
  EXPECT_EQ(SessionTestHome::kind(blocked), "blocked");
  EXPECT_EQ(only().token, SessionTestHome::token_of(blocked));

  const SessionResponse build = deliver(blocked);
  open = only();
  EXPECT_EQ(open.step, "build");
  EXPECT_THAT(*open.writes, ElementsAre("src/**"));
  EXPECT_FALSE(open.commands_read_only);

  const SessionResponse gate = deliver(build);
  open = only();
  EXPECT_EQ(open.waiting, "gate");
  EXPECT_EQ(open.decision, gate.line["decision"].string_at("id"));
  EXPECT_THAT(*open.writes, ElementsAre("src/**"));  // until it is accepted it may need a fix
  EXPECT_THAT(damages(gate), IsEmpty());

  place_.decide(gate, "approve");
  const SessionResponse pick = place_.poll(gate);
  EXPECT_EQ(only().waiting, "decision");
  EXPECT_FALSE(only().writes);
  place_.decide(pick, "a");
  const SessionResponse rest = place_.poll(pick);
  EXPECT_EQ(only().waiting, "");
  const SessionResponse end = place_.continue_session(rest);
  EXPECT_EQ(SessionTestHome::kind(end), "complete");
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_THAT(damages(plan), IsEmpty());
}

TEST_F(OpenSteps, DisappearWithAStoppedOrDeletedSessionAndReturnWithARewoundOne) {
  const SessionResponse first = place_.start(kHeld);
  const std::string id = SessionTestHome::session(first);
  ASSERT_TRUE(place_.sessions->stop(id, "enough", "me"));
  EXPECT_THAT(all(), IsEmpty());
  ASSERT_TRUE(place_.sessions->rewind(id, 1, "again"));
  EXPECT_EQ(only().step, "plan");
  EXPECT_THAT(damages(first), IsEmpty());
  const auto checkpoint = place_.sessions->checkpoint(only().token);
  ASSERT_TRUE(checkpoint);
  EXPECT_THAT(damages(first), IsEmpty());
  ASSERT_TRUE(remove_session(*place_.inbox.store, id));
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(OpenSteps, HaveTokensOfTheNewKeyWhenOldOnesAreRetired) {
  const SessionResponse first = place_.start(kHeld);
  ASSERT_TRUE(place_.sessions->rotate_keys(true));
  EXPECT_NE(only().token, SessionTestHome::token_of(first));
  EXPECT_EQ(SessionTestHome::kind(place_.continue_session(only().token, {.notes = "Done."})), "blocked");
}

TEST_F(OpenSteps, KnowWhatShapingPutOutOfScope) {
  const Value handoff = Value::object(
      {{"kind", "wr.shaping_handoff"},
       {"outOfScope", Value::array({"Keep `src/legacy/**` as it is.", "Export to spreadsheets.", "docs/api.md"})}});
  place_.start(kHeld, Value::object({{"shaped", handoff}}));
  EXPECT_THAT(only().out_of_scope,
              ElementsAre("Keep `src/legacy/**` as it is.", "Export to spreadsheets.", "docs/api.md"));
  EXPECT_EQ(SessionTestHome::kind(deliver(
                place_.rehydrate(place_.start(kHeld, Value::object({{"outOfScope", Value::array({"vendor/"})}}))))),
            "ok");
  EXPECT_THAT(all().front().out_of_scope, ElementsAre("vendor/"));
}

TEST_F(OpenSteps, KnowAHandOffDeliveredEarlier) {
  const SessionResponse plan = place_.start(kHeld);
  const Value handoff =
      Value::object({{"kind", "wr.shaping_handoff"}, {"outOfScope", Value::array({"src/legacy/**"})}});
  const SessionResponse build = place_.continue_session(
      plan, {.notes = "Done.", .artifacts = {handoff}, .context = Value::object({{"slices", Value::array()}})});
  EXPECT_THAT(only().out_of_scope, ElementsAre("src/legacy/**"));
  EXPECT_THAT(damages(build), IsEmpty());
}

TEST_F(OpenSteps, AreCheckedAgainstTheEvents) {
  const SessionResponse first = place_.start(kHeld);
  OpenStep open = only();
  EXPECT_EQ(open.goal, "Make it faster");
  const auto put = [&](const std::string& value) {
    ASSERT_TRUE(place_.inbox.store->write([&](store::Transaction& transaction) {
      return transaction.put(guard::kOpenSteps, guard::open_step_key("/srv", open.session), value);
    }));
  };
  open.goal.clear();  // as an older version wrote it
  put(guard::to_row(open));
  EXPECT_THAT(damages(first), IsEmpty());
  open.writes.reset();
  put(guard::to_row(open));
  EXPECT_THAT(damages(first), ElementsAre(HasSubstr("open step: its record does not match the events")));
  put("{");
  EXPECT_THAT(damages(first), ElementsAre(HasSubstr("open step: its record is damaged")));
  // A store of an older version has none.
  ASSERT_TRUE(place_.inbox.store->write([&](store::Transaction& transaction) {
    return transaction.remove(guard::kOpenSteps, guard::open_step_key("/srv", open.session));
  }));
  EXPECT_THAT(damages(first), IsEmpty());
  EXPECT_EQ(SessionTestHome::kind(deliver(first)), "ok");
  EXPECT_EQ(only().step, "build");
}

}  // namespace
}  // namespace sb::engine

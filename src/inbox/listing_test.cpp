// Pages of the inbox: most urgent first, with true counts, complete while others ask.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

#include "inbox/decision_events.hpp"
#include "inbox/open_decisions.hpp"
#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::string question(const std::string& name, const std::string& more = "") {
  return fmt::format("decision: {}\ninstruction: \"Which one should it be?\"\noptions: [yes, no]\n{}", name, more);
}

class InboxPages : public testing::Test {
 protected:
  std::string ask(const std::string& name, const std::string& more = "", const std::string& session = "") {
    place_.clock.sleep_ms(1'000);
    return place_.open(question(name, more), {.workspace = "/srv", .session = session}).id;
  }
  std::vector<std::string> names(const DecisionPage& page) {
    std::vector<std::string> all;
    for (const DecisionState& state : page.decisions) all.push_back(state.opened.question.id);
    return all;
  }
  DecisionPage page(bool all, int limit, const std::string& after = "") {
    auto read = place_.inbox.page(all, {.limit = limit, .after = after});
    EXPECT_TRUE(read) << read.error().to_string();
    return read ? std::move(*read) : DecisionPage{};
  }

  InboxTestBed place_;
};

TEST_F(InboxPages, TheMostUrgentComesFirst) {
  ask("old");
  ask("awaited", "", "s-1");
  ask("next-week", "deadline: 7d\non_timeout: park\n");
  ask("soon", "deadline: 1h\non_timeout: deny\n");
  ask("new");
  EXPECT_THAT(names(page(false, 10)), ElementsAre("soon", "next-week", "awaited", "old", "new"));
}

TEST_F(InboxPages, AParkedDecisionIsNoLongerUrgent) {
  const std::string parked = ask("parked", "deadline: 1h\non_timeout: park\n");
  ask("awaited", "", "s-1");
  EXPECT_THAT(names(page(false, 10)), ElementsAre("parked", "awaited"));
  place_.clock.sleep_ms(2 * 3'600'000);
  EXPECT_THAT(names(page(false, 10)), ElementsAre("awaited", "parked"));
}

TEST_F(InboxPages, AnUrgentQuestionAmongThousandsIsOnTheFirstPage) {
  for (int i = 0; i < 1'200; ++i) ask(fmt::format("q-{}", i));
  ask("urgent", "deadline: 1h\non_timeout: deny\n");
  const DecisionPage first = page(false, 20);
  EXPECT_EQ(names(first).front(), "urgent");
  EXPECT_EQ(first.facts.total, 1'201);
  EXPECT_EQ(first.facts.more, 1'181);
  EXPECT_THAT(*place_.inbox.list(false), SizeIs(1'201)) << "nothing is cut";
}

TEST_F(InboxPages, EveryDecisionIsOnOnePageWhileOthersAreAskedAndAnswered) {
  std::vector<std::string> asked;
  for (int i = 0; i < 50; ++i) asked.push_back(ask(fmt::format("q-{}", i)));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(place_.inbox.answer(asked[40 + i], place_.submission({"yes"})));
  std::set<std::string> seen;
  std::string after;
  for (int pages = 0; pages < 20; ++pages) {
    const DecisionPage one = page(true, 7, after);
    for (const DecisionState& state : one.decisions) EXPECT_TRUE(seen.insert(state.id).second);
    after = one.facts.next;
    if (after.empty()) break;
    if (pages == 0) {
      EXPECT_EQ(one.facts.total, 50);
      ask("urgent", "deadline: 1h\non_timeout: deny\n");                        // on the page that was shown
      ASSERT_TRUE(place_.inbox.answer(asked[20], place_.submission({"yes"})));  // moves to a later page
    }
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(seen.contains(asked[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(place_.inbox.page(true, {.limit = 5, .after = "nonsense"}).error().code, ErrorCode::kInvalid);
}

TEST_F(InboxPages, PassedDeadlinesAreNotCounted) {
  for (int i = 0; i < 250; ++i) ask(fmt::format("q-{}", i), "deadline: 1h\non_timeout: deny\n");
  ask("stays");
  place_.clock.sleep_ms(2 * 3'600'000);
  const DecisionPage left = page(false, 20);
  EXPECT_THAT(names(left), ElementsAre("stays"));
  EXPECT_EQ(left.facts.total, 1);
}

TEST_F(InboxPages, AHomeWithoutTheIndexGetsItOnce) {
  const std::string first = ask("first");
  ask("second", "deadline: 1h\non_timeout: park\n");
  ASSERT_TRUE(place_.store->write([](store::Transaction& transaction) -> Status {
    for (const store::Row& row : SB_TRY(transaction.list(kOpenDecisions, {}))) {
      SB_TRY(transaction.remove(kOpenDecisions, row.key));
    }
    return transaction.remove(kCounters, kOpenDecisions);
  }));
  const std::vector<std::string> folder{"/srv"};
  EXPECT_EQ(place_.inbox.count_open_in(folder), 2) << "also before it is made";
  EXPECT_THAT(names(page(false, 10)), ElementsAre("second", "first"));
  EXPECT_EQ(place_.inbox.count_open_in(folder), 2);
  ASSERT_TRUE(place_.inbox.answer(first, place_.submission({"yes"})));
  EXPECT_THAT(names(page(false, 10)), ElementsAre("second"));
}

TEST_F(InboxPages, CountsEveryQuestionOfAFolder) {
  for (int i = 0; i < 150; ++i) ask(fmt::format("q-{}", i));
  place_.open(question("elsewhere"), {.workspace = "/other", .session = ""});
  EXPECT_EQ(place_.inbox.count_open_in(std::vector<std::string>{"/srv/sub", "/srv", "/"}), 150);
}

TEST_F(InboxPages, FindsAChainOnHoldAmongMany) {
  const std::vector<std::string> folder{"/srv"};
  const std::string held = ask("held");
  for (int i = 0; i < 150; ++i) ask(fmt::format("q-{}", i));
  EXPECT_THAT(*place_.inbox.held_in(folder), SizeIs(0));
  const Value on_hold = Value::object({{"held", true}});
  ASSERT_TRUE(place_.inbox.store_position(held, Value(), on_hold, {Channel::kTerminal, "ann"}, "E1=hold"));
  const auto found = place_.inbox.held_in(folder);
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_EQ(found->front().id, held);
  EXPECT_THAT(*place_.inbox.held_in(std::vector<std::string>{"/other"}), SizeIs(0));
  ASSERT_TRUE(place_.inbox.store_position(held, on_hold, Value::object({}), {Channel::kTerminal, "ann"}, "continue"));
  EXPECT_THAT(*place_.inbox.held_in(folder), SizeIs(0));
}

TEST_F(InboxPages, FindsOneByNameAmongMany) {
  const std::string id = ask("wanted");
  for (int i = 0; i < 100; ++i) ask(fmt::format("q-{}", i));
  EXPECT_EQ(place_.inbox.resolve("wanted"), id);
  EXPECT_EQ(place_.inbox.resolve(id.substr(0, 12)), id);
  ASSERT_TRUE(place_.inbox.answer(id, place_.submission({"yes"})));
  EXPECT_EQ(place_.inbox.resolve(id.substr(0, 12)), id) << "closed, so that answering it says so";
}

// Damage to rows, and to the events they were made from.
class InboxDamage : public InboxPages {
 protected:
  std::vector<std::string> damages() {
    std::vector<std::string> found;
    EXPECT_TRUE(place_.inbox.verify([&](const DecisionDamage& damage) {
      found.push_back(damage.message);
      if (damage.is_fixable) fixable_.push_back(damage.id);
    }));
    return found;
  }
  void repair() {
    ASSERT_TRUE(place_.inbox.rebuild(std::exchange(fixable_, {})));
    EXPECT_THAT(damages(), testing::IsEmpty());
  }
  store::Row open_row(const std::string& id) {
    const auto rows = place_.store->read([](store::Snapshot& snapshot) { return open_decision_rows(snapshot); });
    const auto found = rows->find(id);
    EXPECT_NE(found, rows->end());
    return found == rows->end() ? store::Row() : found->second;
  }
  void change(const std::function<Status(store::Transaction&)>& edit) { ASSERT_TRUE(place_.store->write(edit)); }

  std::vector<std::string> fixable_;
};

TEST_F(InboxDamage, AnOpenDecisionThatIsInNoListIsFoundAndListedAgain) {
  const std::string id = ask("first");
  ask("second");
  ASSERT_THAT(names(page(false, 10)), SizeIs(2));
  EXPECT_THAT(damages(), testing::IsEmpty());
  const store::Row row = open_row(id);
  change([&](store::Transaction& transaction) { return transaction.remove(kOpenDecisions, row.key); });
  EXPECT_THAT(names(page(false, 10)), ElementsAre("second"));
  EXPECT_THAT(damages(), ElementsAre("it is open, but in no list of open decisions"));
  repair();
  EXPECT_THAT(names(page(false, 10)), ElementsAre("first", "second"));
}

TEST_F(InboxDamage, ARowThatWasMovedOrLeftBehindIsFoundAndRemoved) {
  const std::string id = ask("first");
  ASSERT_THAT(names(page(false, 10)), SizeIs(1));
  store::Row row = open_row(id);
  change([&](store::Transaction& transaction) {
    return transaction.put(kOpenDecisions, "0000000000000000/" + id, row.value, row.sort);
  });
  EXPECT_THAT(damages(), ElementsAre("its entry in the list of open decisions is wrong"));
  repair();
  change([&](store::Transaction& transaction) {
    return transaction.put(kOpenDecisions, "0000000000000000/d-gone", row.value, row.sort);
  });
  EXPECT_THAT(damages(), ElementsAre("its events are missing"));
  repair();
  EXPECT_THAT(names(page(false, 10)), ElementsAre("first"));
}

}  // namespace
}  // namespace sb::inbox

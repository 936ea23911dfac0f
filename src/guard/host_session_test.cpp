#include "guard/host_session.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_place.hpp"

namespace sb::guard {
namespace {

TEST(HostSession, AnEndedConversationReleasesTheSessionsOfAllItsSubagents) {
  store::TempSqliteStore place;
  const auto store = std::move(*place.open());
  constexpr int kSubagents = 250;
  const auto session = [](int i) { return fmt::format("s-{}", i); };
  ASSERT_TRUE(store->write([&](store::Transaction& transaction) -> Status {
    for (int i = 0; i < kSubagents; ++i) {
      SB_TRY(record_use(transaction, "talk", fmt::format("helper-{}", i), "", {session(i), "/srv"}, 1'000));
    }
    return record_ended(transaction, "talk");
  }));
  ASSERT_TRUE(store->read([&](store::Snapshot& snapshot) -> Status {
    for (int i = 0; i < kSubagents; ++i) EXPECT_EQ(SB_TRY(last_user_of(snapshot, session(i))), "") << i;
    return {};
  }));
}

}  // namespace
}  // namespace sb::guard

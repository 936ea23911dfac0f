// What is needed among many rows: counts, pages, the tag index, and unused space that goes back to the disk.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>

#include "store/paging.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SqliteCrowd : public testing::Test {
 protected:
  SqliteCrowd() : store_(std::move(*place_.open())) {}

  void put_rows(int from, int to, std::string_view prefix = "a/") {
    const Status put = store_->write([&](Transaction& transaction) -> Status {
      for (int i = from; i < to; ++i) {
        SB_TRY(transaction.put("c", fmt::format("k-{}", i), "v", fmt::format("{}{:06}", prefix, i)));
      }
      return {};
    });
    ASSERT_TRUE(put) << put.error().to_string();
  }
  std::int64_t count(const Listing& listing) {
    return *store_->read([&](Snapshot& snapshot) { return snapshot.count("c", listing); });
  }
  RowPage page(const Listing& listing, const PageRequest& request) {
    return *store_->read([&](Snapshot& snapshot) { return read_page(snapshot, "c", listing, request); });
  }
  std::vector<std::string> tagged(const TagQuery& query, int limit = 10) {
    const auto keys = store_->read([&](Snapshot& snapshot) { return snapshot.tagged(query, limit); });
    EXPECT_TRUE(keys) << keys.error().to_string();
    return keys ? *keys : std::vector<std::string>();
  }
  std::int64_t count_tagged(const TagQuery& query) {
    return *store_->read([&](Snapshot& snapshot) { return snapshot.count_tagged(query); });
  }
  void tag(const std::string& key, const std::vector<std::string>& tags) {
    const Status put = store_->write([&](Transaction& transaction) { return transaction.put_tags(key, tags); });
    ASSERT_TRUE(put) << put.error().to_string();
  }
  SpaceReport release() {
    return *store_->write([](Transaction& transaction) { return transaction.release_space(); });
  }
  void fill_and_empty(int blobs) {
    ASSERT_TRUE(store_->write([&](Transaction& transaction) -> Status {
      for (int i = 0; i < blobs; ++i) SB_TRY(transaction.put_blob(fmt::format("{:05}", i) + std::string(50'000, 'x')));
      return {};
    }));
    ASSERT_TRUE(store_->write([&](Transaction& transaction) -> Status {
      for (const Digest& hash : SB_TRY(transaction.blobs({}, 10'000))) SB_TRY(transaction.remove_blob(hash));
      return {};
    }));
  }

  TempSqliteStore place_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteCrowd, CountsWhatFollowsTheCursor) {
  put_rows(0, 100);
  put_rows(100, 130, "b/");
  EXPECT_EQ(count({.by = Order::kSort, .prefix = "a/"}), 100);
  EXPECT_EQ(count({.by = Order::kSort}), 130);
  EXPECT_EQ(count({.by = Order::kSort, .prefix = "a/", .descending = true, .limit = 5}), 100) << "whatever the limit";
  EXPECT_EQ(count({.by = Order::kSort, .prefix = "a/", .after = Row{"k-9", "a/000009", ""}}), 90);
  EXPECT_EQ(count({.by = Order::kSort, .prefix = "a/", .descending = true, .after = Row{"k-9", "a/000009", ""}}), 9);
  EXPECT_EQ(count({.prefix = "k-1"}), 1 + 10 + 30);
  EXPECT_EQ(count({.prefix = "k-1", .after = Row{"k-1", std::nullopt, ""}}), 40);
  EXPECT_EQ(count({.prefix = "none"}), 0);
}

TEST_F(SqliteCrowd, PagesNeitherRepeatNorMissRows) {
  put_rows(0, 50);
  std::set<std::string> seen;
  const Listing listing{.by = Order::kSort, .prefix = "a/"};
  PageRequest request{.limit = 7, .after = ""};
  for (int pages = 0; pages < 20; ++pages) {
    const RowPage one = page(listing, request);
    for (const Row& row : one.rows) EXPECT_TRUE(seen.insert(row.key).second) << row.key;
    EXPECT_EQ(one.facts.total, 50 + pages) << "the true count, now";
    if (one.facts.next.empty()) break;
    EXPECT_GT(one.facts.more, 0);
    put_rows(1'000 + pages, 1'001 + pages, "a/0");  // before the cursor, where an offset would repeat a row
    request.after = one.facts.next;
  }
  EXPECT_GE(seen.size(), 50u);
  const auto foreign = store_->read([&](Snapshot& snapshot) {
    return read_page(snapshot, "c", listing, {.limit = 7, .after = cursor_after("other", {"k", "a/1", ""})});
  });
  EXPECT_EQ(foreign.error().code, ErrorCode::kInvalid);
}

TEST_F(SqliteCrowd, EachRowIsVisitedOnceUntilTheVisitorHasEnough) {
  put_rows(0, 2 * kRowsAtOnce + 5, "a/");
  const Listing newest_first{.by = Order::kSort, .prefix = "a/", .descending = true, .limit = 3};
  const auto visited = [&](int most) {
    std::vector<std::string> keys;
    const Status done = store_->read([&](Snapshot& snapshot) {
      return each_row(snapshot, "c", newest_first, [&](const Row& row) {
        keys.push_back(row.key);
        return static_cast<int>(keys.size()) < most;
      });
    });
    EXPECT_TRUE(done);
    return keys;
  };
  const std::vector<std::string> all = visited(1'000'000);
  ASSERT_EQ(all.size(), 2u * kRowsAtOnce + 5);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], fmt::format("k-{}", all.size() - 1 - i));
  EXPECT_EQ(visited(kRowsAtOnce + 1).size(), static_cast<std::size_t>(kRowsAtOnce + 1));
  const Status stopped = store_->read([&](Snapshot& snapshot) {
    return each_row(snapshot, "c", newest_first, [](const Row&) -> Status { return fail(ErrorCode::kCorrupt, "x"); });
  });
  EXPECT_EQ(stopped.error().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteCrowd, DocumentsAreFoundByTagsNewestFirst) {
  const auto has = [](std::string name) { return TagQuery::has(std::move(name)); };
  tag("one", {"x", "red", "größe"});
  tag("two", {"x", "blue"});
  tag("three", {"x", "red", "blue", "a_b"});
  EXPECT_THAT(tagged(has("x")), ElementsAre("three", "two", "one"));
  EXPECT_THAT(tagged(has("x"), 2), ElementsAre("three", "two"));
  EXPECT_THAT(tagged(TagQuery::all({has("red"), has("blue")})), ElementsAre("three"));
  EXPECT_THAT(tagged(TagQuery::any({has("größe"), has("a_b")})), ElementsAre("three", "one"));
  EXPECT_THAT(tagged(has("x").without(has("red"))), ElementsAre("two"));
  EXPECT_THAT(tagged(has("x").without(TagQuery::any({}))), ElementsAre("three", "two", "one"));
  EXPECT_THAT(tagged(TagQuery::all({has("x"), TagQuery::any({})})), IsEmpty()) << "nothing is nothing";
  EXPECT_THAT(tagged(has("re")), IsEmpty()) << "whole tags";
  EXPECT_EQ(count_tagged(has("red")), 2);
  tag("one", {"x", "blue"});
  EXPECT_THAT(tagged(has("x")), ElementsAre("one", "three", "two")) << "put again, it is the newest";
  EXPECT_THAT(tagged(has("red")), ElementsAre("three"));
  ASSERT_TRUE(store_->write([](Transaction& transaction) { return transaction.remove_tags("three"); }));
  ASSERT_TRUE(store_->write([](Transaction& transaction) { return transaction.remove_tags("none"); }));
  EXPECT_THAT(tagged(has("red")), IsEmpty());
  EXPECT_EQ(count_tagged(has("x")), 2);
}

TEST_F(SqliteCrowd, ATagIsNotAQuery) {
  for (const char* bad : {"", "a b", "Red", "a\"", "a*", "NEAR(", "-a"}) {
    const std::vector<std::string> tags{bad};
    EXPECT_FALSE(store_->write([&](Transaction& transaction) { return transaction.put_tags("k", tags); })) << bad;
    EXPECT_FALSE(store_->read([&](Snapshot& snapshot) { return snapshot.tagged(TagQuery::has(bad), 1); })) << bad;
  }
}

TEST_F(SqliteCrowd, UnusedSpaceIsReturnedInSmallSteps) {
  fill_and_empty(200);  // 10 MB
  SpaceReport all = release();
  EXPECT_GT(all.released, 0);
  EXPECT_LE(all.released, 3 << 20) << "in one step";
  int steps = 1;
  for (; all.unused > 0 && steps < 100; ++steps) all = release();
  EXPECT_GT(steps, 3);
  EXPECT_EQ(all.unused, 0);
  store_.reset();
  EXPECT_LT(std::filesystem::file_size(place_.path()), 1u << 20);
}

TEST_F(SqliteCrowd, AnOlderStoreIsRewrittenOnceIfItIsSmall) {
  store_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(place_.path().c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA auto_vacuum=NONE; VACUUM", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  store_ = std::move(*place_.open());
  fill_and_empty(40);
  put_rows(0, 10);
  EXPECT_EQ(release().released, 0) << "as it is, it cannot";
  const auto too_large = store_->make_space_releasable(1'000);
  ASSERT_TRUE(too_large) << too_large.error().to_string();
  EXPECT_EQ(too_large->released, 0);
  EXPECT_GT(too_large->unused, 1 << 20);
  const auto rewritten = store_->make_space_releasable(1 << 20);
  ASSERT_TRUE(rewritten) << rewritten.error().to_string();
  EXPECT_GT(rewritten->released, 1 << 20);
  EXPECT_EQ(rewritten->unused, 0);
  EXPECT_EQ(count({}), 10);
  fill_and_empty(40);
  EXPECT_GT(release().released, 0) << "from now on";
}

}  // namespace
}  // namespace sb::store

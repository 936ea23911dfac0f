// For tests: what every implementation of Store must pass. The test file of an implementation includes this and
// contains
//
//   INSTANTIATE_TYPED_TEST_SUITE_P(MyStore, StoreConformance, MyPlace);
//
// where MyPlace is an empty location for a store, removed by its destructor, with `Result<std::unique_ptr<Store>>
// open()`, which may be called several times and from several threads for the same store.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "base/limits.hpp"
#include "store/chain.hpp"
#include "store/store.hpp"
#include "store/verify.hpp"

namespace sb::store {

template <class Place>
class StoreConformance : public testing::Test {
 protected:
  StoreConformance() : store_(open()) {}

  std::unique_ptr<Store> open() {
    auto opened = place_.open();
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return std::move(*opened);
  }

  // Appends one event at the end, whatever the head is.
  static Result<Head> append(Store& store, std::string_view stream, std::string payload) {
    return store.write([&](Transaction& transaction) -> Result<Head> {
      const Head head = SB_TRY(transaction.head(stream));
      const NewEvent event{"test", 1'700'000'000'000, std::move(payload)};
      return transaction.append(stream, head, {&event, 1});
    });
  }

  static Result<std::vector<Event>> events(Store& store, std::string_view stream, std::int64_t from = 1,
                                           int limit = 1'000) {
    return store.read([&](Snapshot& snapshot) { return snapshot.events(stream, from, limit); });
  }

  static std::vector<std::string> payloads(Store& store, std::string_view stream, std::int64_t from = 1,
                                           int limit = 1'000) {
    const auto found = events(store, stream, from, limit);
    EXPECT_TRUE(found) << found.error().to_string();
    std::vector<std::string> result;
    if (found) {
      for (const Event& event : *found) result.push_back(event.payload);
    }
    return result;
  }

  static Status put(Store& store, std::string_view collection, std::string_view key, std::string_view value,
                    std::optional<std::string_view> sort = std::nullopt) {
    return store.write([&](Transaction& transaction) { return transaction.put(collection, key, value, sort); });
  }

  static std::vector<std::string> keys(Store& store, std::string_view collection, const Listing& listing) {
    const auto rows = store.read([&](Snapshot& snapshot) { return snapshot.list(collection, listing); });
    EXPECT_TRUE(rows) << rows.error().to_string();
    std::vector<std::string> result;
    if (rows) {
      for (const Row& row : *rows) result.push_back(row.key);
    }
    return result;
  }

  Place place_;
  std::unique_ptr<Store> store_;
};

template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result) << "succeeded";
  return result ? ErrorCode::kInternal : result.error().code;
}

inline std::vector<std::string> bad_names() {
  return {"",
          std::string("a\0b", 3),
          "\xff",
          "\xc3",
          "\xed\xa0\x80",
          "x\xF4\x8F\xBF\xBF",
          std::string(limits::kStoreNameBytes + 1, 'x')};
}

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, EmptyStreamHasTheZeroHead) {
  const auto head = this->store_->read([](Snapshot& snapshot) { return snapshot.head("nothing"); });
  EXPECT_EQ(*head, Head{});
  EXPECT_TRUE(this->payloads(*this->store_, "nothing").empty());
}

TYPED_TEST_P(StoreConformance, EventsAreReadAsAppendedAndChained) {
  const std::vector<NewEvent> appended = {{"opened", 5, R"({"a":1})"}, {"closed", -6, std::string("\0\xff", 2)}};
  const auto head = this->store_->write(
      [&](Transaction& transaction) { return transaction.append("s/1", Head{}, std::span(appended)); });
  ASSERT_TRUE(head) << head.error().to_string();
  const auto found = this->events(*this->open(), "s/1");
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ(found->size(), 2u);
  Digest previous{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Event& event = (*found)[i];
    EXPECT_EQ(event.stream, "s/1");
    EXPECT_EQ(event.seq, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(event.type, appended[i].type);
    EXPECT_EQ(event.time_ms, appended[i].time_ms);
    EXPECT_EQ(event.payload, appended[i].payload);
    EXPECT_EQ(event.previous, previous);
    EXPECT_EQ(event.hash, event_hash(previous, "s/1", event.seq, event.type, event.time_ms, event.payload));
    previous = event.hash;
  }
  EXPECT_EQ(*head, (Head{2, previous}));
}

TYPED_TEST_P(StoreConformance, StaleHeadIsAConflictAndChangesNothing) {
  const auto first = this->append(*this->store_, "s", "1");
  ASSERT_TRUE(this->append(*this->store_, "s", "2"));
  Head wrong_hash = *first;
  wrong_hash.seq = 2;
  for (const Head& stale : {Head{}, *first, wrong_hash}) {
    const auto result = this->store_->write([&](Transaction& transaction) -> Result<Head> {
      SB_TRY(transaction.put("c", "k", "v"));
      const NewEvent event{"t", 1, "late"};
      return transaction.append("s", stale, {&event, 1});
    });
    EXPECT_EQ(code_of(result), ErrorCode::kConflict);
    EXPECT_THAT(result.error().message, testing::HasSubstr("\"s\""));
  }
  EXPECT_EQ(this->payloads(*this->store_, "s"), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(this->keys(*this->store_, "c", {}).empty());
}

TYPED_TEST_P(StoreConformance, ErrorRollsEverythingBack) {
  const Digest blob = sha256("blob");
  const Status failed = this->store_->write([&](Transaction& transaction) -> Status {
    const NewEvent event{"t", 1, "{}"};
    SB_TRY(transaction.append("s", Head{}, {&event, 1}));
    SB_TRY(transaction.put("c", "k", "v", "1"));
    SB_TRY(transaction.put_blob("blob"));
    SB_TRY(transaction.add_work("q", "w", 0));
    return fail(ErrorCode::kForbidden, "no");
  });
  EXPECT_EQ(code_of(failed), ErrorCode::kForbidden);
  const Status nothing = this->store_->read([&](Snapshot& snapshot) -> Status {
    EXPECT_EQ(SB_TRY(snapshot.head("s")), Head{});
    EXPECT_EQ(SB_TRY(snapshot.last_position()), 0);
    EXPECT_FALSE(SB_TRY(snapshot.get("c", "k")));
    EXPECT_FALSE(SB_TRY(snapshot.blob(blob)));
    EXPECT_FALSE(SB_TRY(snapshot.work("q", "w")));
    return {};
  });
  EXPECT_TRUE(nothing);
}

TYPED_TEST_P(StoreConformance, TransactionSeesItsOwnWrites) {
  const Status status = this->store_->write([&](Transaction& transaction) -> Status {
    SB_TRY(transaction.put("c", "k", "new", "s"));
    EXPECT_EQ(SB_TRY(transaction.get("c", "k")), (Row{"k", "s", "new"}));
    const NewEvent event{"t", 1, "{}"};
    const Head head = SB_TRY(transaction.append("s", Head{}, {&event, 1}));
    EXPECT_EQ(SB_TRY(transaction.head("s")), head);
    EXPECT_EQ(SB_TRY(transaction.append("s", head, {})), head);
    return {};
  });
  EXPECT_TRUE(status);
}

TYPED_TEST_P(StoreConformance, ReadsARangeOfAStream) {
  for (const char* payload : {"1", "2", "3", "4", "5"}) ASSERT_TRUE(this->append(*this->store_, "s", payload));
  using Payloads = std::vector<std::string>;
  EXPECT_EQ(this->payloads(*this->store_, "s", 1, 2), (Payloads{"1", "2"}));
  EXPECT_EQ(this->payloads(*this->store_, "s", 3, 2), (Payloads{"3", "4"}));
  EXPECT_EQ(this->payloads(*this->store_, "s", 5, 2), (Payloads{"5"}));
  EXPECT_EQ(this->payloads(*this->store_, "s", 6, 2), Payloads{});
  EXPECT_EQ(this->payloads(*this->store_, "s", 1'000, 2), Payloads{});
  EXPECT_EQ(this->payloads(*this->store_, "s", -3, 1), (Payloads{"1"}));
  EXPECT_EQ(this->payloads(*this->store_, "s", 1, 0), Payloads{});
  EXPECT_EQ(code_of(this->events(*this->store_, "s", 1, limits::kStorePageRows + 1)), ErrorCode::kLimit);
  EXPECT_EQ(code_of(this->events(*this->store_, "s", 1, -1)), ErrorCode::kLimit);
}

TYPED_TEST_P(StoreConformance, FollowsTheLogOverAllStreams) {
  ASSERT_TRUE(this->append(*this->store_, "a", "1"));
  ASSERT_TRUE(this->append(*this->store_, "b", "2"));
  ASSERT_TRUE(this->append(*this->store_, "a", "3"));
  const auto after = [&](std::int64_t position, int limit) {
    return *this->store_->read([&](Snapshot& snapshot) { return snapshot.events_after(position, limit); });
  };
  const auto all = after(0, 10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].payload + all[1].payload + all[2].payload, "123");
  EXPECT_LT(all[0].position, all[1].position);
  EXPECT_EQ(after(0, 1).size(), 1u);
  EXPECT_EQ(after(all[1].position, 10), (std::vector<Event>{all[2]}));
  EXPECT_EQ(this->store_->read([](Snapshot& snapshot) { return snapshot.last_position(); }), all[2].position);

  // A position is never reused, or a reader that stopped there would miss the event.
  ASSERT_TRUE(this->store_->write([](Transaction& transaction) { return transaction.remove_stream("a"); }));
  ASSERT_TRUE(this->append(*this->store_, "a", "4"));
  const auto fresh = after(all[2].position, 10);
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_EQ(fresh[0].payload, "4");
  EXPECT_EQ(fresh[0].seq, 1);
}

TYPED_TEST_P(StoreConformance, ListsAndRemovesStreams) {
  for (const char* name : {"s/2", "s/1", "t", "s", "r"}) ASSERT_TRUE(this->append(*this->store_, name, "{}"));
  const auto names = [&](std::string_view prefix, std::string_view after, int limit) {
    return *this->store_->read([&](Snapshot& snapshot) { return snapshot.streams(prefix, after, limit); });
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("", "", 10), (Names{"r", "s", "s/1", "s/2", "t"}));
  EXPECT_EQ(names("s/", "", 10), (Names{"s/1", "s/2"}));
  EXPECT_EQ(names("s", "s", 1), (Names{"s/1"}));
  ASSERT_TRUE(this->store_->write([](Transaction& transaction) { return transaction.remove_stream("s/1"); }));
  ASSERT_TRUE(this->store_->write([](Transaction& transaction) { return transaction.remove_stream("none"); }));
  EXPECT_EQ(names("", "", 10), (Names{"r", "s", "s/2", "t"}));
  EXPECT_TRUE(this->payloads(*this->store_, "s/1").empty());
}

TYPED_TEST_P(StoreConformance, SnapshotIsOneMoment) {
  ASSERT_TRUE(this->append(*this->store_, "s", "1"));
  const auto other = this->open();
  const Status status = this->store_->read([&](Snapshot& snapshot) -> Status {
    const Head before = SB_TRY(snapshot.head("s"));
    EXPECT_TRUE(this->append(*other, "s", "2"));
    EXPECT_TRUE(this->put(*other, "c", "k", "v"));
    EXPECT_EQ(SB_TRY(snapshot.head("s")), before);
    EXPECT_EQ(SB_TRY(snapshot.events("s", 1, 10)).size(), 1u);
    EXPECT_FALSE(SB_TRY(snapshot.get("c", "k")));
    return {};
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(this->payloads(*this->store_, "s").size(), 2u);
}

TYPED_TEST_P(StoreConformance, RowsAreWrittenReadAndRemoved) {
  const auto get = [&](std::string_view collection, std::string_view key) {
    return *this->store_->read([&](Snapshot& snapshot) { return snapshot.get(collection, key); });
  };
  const std::string bytes("\0\xff'; DROP TABLE events; --", 27);
  ASSERT_TRUE(this->put(*this->store_, "c", "k", bytes));
  ASSERT_TRUE(this->put(*this->store_, "d", "k", "", "s"));
  EXPECT_EQ(get("c", "k"), (Row{"k", std::nullopt, bytes}));
  EXPECT_EQ(get("d", "k"), (Row{"k", "s", ""}));
  EXPECT_EQ(get("c", "K"), std::nullopt);
  ASSERT_TRUE(this->put(*this->store_, "d", "k", "2"));
  EXPECT_EQ(get("d", "k"), (Row{"k", std::nullopt, "2"}));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(this->store_->write([](Transaction& transaction) { return transaction.remove("d", "k"); }));
    EXPECT_EQ(get("d", "k"), std::nullopt);
  }
  EXPECT_EQ(get("c", "k")->value, bytes);
}

TYPED_TEST_P(StoreConformance, ListsByKeyAndBySortKey) {
  Store& store = *this->store_;
  ASSERT_TRUE(this->put(store, "c", "a", "", "open/2"));
  ASSERT_TRUE(this->put(store, "c", "b", "", "open/1"));
  ASSERT_TRUE(this->put(store, "c", "c", "", "open/1"));
  ASSERT_TRUE(this->put(store, "c", "d", "", "shut/1"));
  ASSERT_TRUE(this->put(store, "c", "e", ""));
  ASSERT_TRUE(this->put(store, "other", "f", "", "open/0"));
  using Keys = std::vector<std::string>;
  EXPECT_EQ(this->keys(store, "c", {}), (Keys{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(this->keys(store, "c", {.by = Order::kSort}), (Keys{"b", "c", "a", "d"}));
  EXPECT_EQ(this->keys(store, "c", {.by = Order::kSort, .prefix = "open/"}), (Keys{"b", "c", "a"}));
  EXPECT_EQ(this->keys(store, "c", {.by = Order::kSort, .prefix = "open/", .descending = true}), (Keys{"a", "c", "b"}));
  EXPECT_EQ(this->keys(store, "c", {.by = Order::kSort, .prefix = "open/1", .limit = 1}), (Keys{"b"}));
  ASSERT_TRUE(this->put(store, "c", "b", "", "shut/0"));
  EXPECT_EQ(this->keys(store, "c", {.by = Order::kSort}), (Keys{"c", "a", "b", "d"}));
  const auto bad = store.read(
      [](Snapshot& snapshot) { return snapshot.list("c", {.by = Order::kSort, .after = Row{"e", std::nullopt, ""}}); });
  EXPECT_EQ(code_of(bad), ErrorCode::kInvalid);
}

// Pages of any size, joined, give the whole listing in order, for any names.
TYPED_TEST_P(StoreConformance, PagesJoinToTheWholeListing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> pieces = {"a", "b", "%", "_", "/", "é", "Ж", "\xF0\x9F\x9A\x82", " ", "A"};
  const auto name = [&] {
    std::string text;
    for (std::size_t i = 0; i <= random() % 3; ++i) text += pieces[random() % pieces.size()];
    return text;
  };
  std::map<std::string, Row> model;
  const Status filled = this->store_->write([&](Transaction& transaction) -> Status {
    for (int i = 0; i < 120; ++i) {
      Row row{name(), std::nullopt, std::to_string(i)};
      if (random() % 4 != 0) row.sort = name();
      SB_TRY(transaction.put("c", row.key, row.value, row.sort));
      model[row.key] = row;
    }
    return {};
  });
  ASSERT_TRUE(filled);
  for (int round = 0; round < 40; ++round) {
    Listing listing{.by = random() % 2 ? Order::kKey : Order::kSort, .descending = random() % 2 == 0};
    if (random() % 2) listing.prefix = pieces[random() % pieces.size()];
    listing.limit = 1 + static_cast<int>(random() % 7);
    std::map<std::pair<std::string, std::string>, Row> expected;
    for (const auto& [key, row] : model) {
      if (listing.by == Order::kSort && !row.sort) continue;
      const std::string& ordered = listing.by == Order::kSort ? *row.sort : key;
      if (ordered.starts_with(listing.prefix)) expected[{ordered, key}] = row;
    }
    std::vector<Row> joined;
    for (;;) {
      const auto page = this->store_->read([&](Snapshot& snapshot) { return snapshot.list("c", listing); });
      ASSERT_TRUE(page) << page.error().to_string();
      if (page->empty()) break;
      joined.insert(joined.end(), page->begin(), page->end());
      listing.after = joined.back();
    }
    if (listing.descending) std::reverse(joined.begin(), joined.end());
    std::vector<Row> rows;
    for (const auto& [order, row] : expected) rows.push_back(row);
    ASSERT_EQ(joined, rows);
  }
}

TYPED_TEST_P(StoreConformance, RejectsBadNames) {
  for (const std::string& bad : bad_names()) {
    SCOPED_TRACE(testing::PrintToString(bad.substr(0, 20)));
    const auto refused = [&](auto work) {
      const auto result = this->store_->write(work);
      const ErrorCode code = code_of(result);
      EXPECT_TRUE(code == ErrorCode::kInvalid || code == ErrorCode::kLimit);
    };
    refused([&](Transaction& t) { return t.head(bad); });
    refused([&](Transaction& t) { return t.events(bad, 1, 1); });
    refused([&](Transaction& t) { return t.append(bad, Head{}, {}); });
    const NewEvent event{bad, 1, "{}"};
    refused([&](Transaction& t) { return t.append("s", Head{}, {&event, 1}); });
    refused([&](Transaction& t) { return t.remove_stream(bad); });
    refused([&](Transaction& t) { return t.get(bad, "k"); });
    refused([&](Transaction& t) { return t.get("c", bad); });
    refused([&](Transaction& t) { return t.put(bad, "k", ""); });
    refused([&](Transaction& t) { return t.put("c", bad, ""); });
    refused([&](Transaction& t) { return t.put("c", "k", "", bad); });
    refused([&](Transaction& t) { return t.remove("c", bad); });
    refused([&](Transaction& t) { return t.list(bad, {}); });
    refused([&](Transaction& t) { return t.add_work(bad, "w", 0); });
    refused([&](Transaction& t) { return t.add_work("q", bad, 0); });
    refused([&](Transaction& t) { return t.lease("q", bad, 0, 1); });
    refused([&](Transaction& t) { return t.lease_named("q", bad, "o", 0, 1); });
  }
  const std::string longest(limits::kStoreNameBytes, 'x');
  EXPECT_TRUE(this->append(*this->store_, longest, "{}"));
  EXPECT_TRUE(this->put(*this->store_, longest, longest, "", longest));
}

TYPED_TEST_P(StoreConformance, EnforcesItsLimits) {
  const std::string largest(limits::kStoreValueBytes, 'x');
  const std::string huge = largest + "x";
  EXPECT_EQ(code_of(this->append(*this->store_, "s", huge)), ErrorCode::kLimit);
  EXPECT_EQ(code_of(this->put(*this->store_, "c", "k", huge)), ErrorCode::kLimit);
  EXPECT_EQ(code_of(this->store_->write([&](Transaction& t) { return t.put_blob(huge); })), ErrorCode::kLimit);
  const std::vector<NewEvent> many(limits::kStoreAppendEvents + 1, NewEvent{"t", 1, "{}"});
  EXPECT_EQ(code_of(this->store_->write([&](Transaction& t) { return t.append("s", Head{}, many); })),
            ErrorCode::kLimit);
  EXPECT_TRUE(this->put(*this->store_, "c", "k", largest));
  EXPECT_TRUE(this->payloads(*this->store_, "s").empty());
}

TYPED_TEST_P(StoreConformance, BlobsAreStoredByContent) {
  const std::vector<std::string> contents = {"", "one", std::string(3'000'000, '\0')};
  for (const std::string& content : contents) {
    for (int i = 0; i < 2; ++i) {
      const auto hash = this->store_->write([&](Transaction& transaction) { return transaction.put_blob(content); });
      EXPECT_EQ(hash, sha256(content));
    }
  }
  const Status status = this->store_->write([&](Transaction& transaction) -> Status {
    for (const std::string& content : contents) EXPECT_EQ(SB_TRY(transaction.blob(sha256(content))), content);
    EXPECT_FALSE(SB_TRY(transaction.blob(sha256("two"))));
    const auto all = SB_TRY(transaction.blobs(std::nullopt, 10));
    EXPECT_EQ(all.size(), 3u);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    EXPECT_EQ(SB_TRY(transaction.blobs(all[0], 1)), (std::vector<Digest>{all[1]}));
    SB_TRY(transaction.remove_blob(sha256("one")));
    SB_TRY(transaction.remove_blob(sha256("one")));
    EXPECT_FALSE(SB_TRY(transaction.blob(sha256("one"))));
    return {};
  });
  EXPECT_TRUE(status);
}

TYPED_TEST_P(StoreConformance, WorkIsLeasedInOrder) {
  const Status status = this->store_->write([&](Transaction& t) -> Status {
    EXPECT_TRUE(SB_TRY(t.add_work("q", "later", 200)));
    EXPECT_TRUE(SB_TRY(t.add_work("q", "first", 100)));
    EXPECT_FALSE(SB_TRY(t.add_work("q", "first", 0)));
    EXPECT_TRUE(SB_TRY(t.add_work("other", "x", 0)));
    EXPECT_FALSE(SB_TRY(t.lease("q", "me", 99, 1'000)));
    const auto first = SB_TRY(t.lease("q", "me", 300, 1'000));
    EXPECT_EQ(first->name, "first");
    EXPECT_EQ(SB_TRY(t.work("q", "first")), *first);
    const auto second = SB_TRY(t.lease("q", "you", 300, 1'000));
    EXPECT_EQ(second->name, "later");
    EXPECT_GT(second->fence, first->fence);
    EXPECT_FALSE(SB_TRY(t.lease("q", "they", 300, 1'000)));
    EXPECT_FALSE(SB_TRY(t.lease_named("q", "first", "they", 999, 2'000)));
    EXPECT_FALSE(SB_TRY(t.lease_named("q", "none", "they", 999, 2'000)));
    return {};
  });
  EXPECT_TRUE(status);
}

TYPED_TEST_P(StoreConformance, ExpiredHolderIsFencedOff) {
  const Status status = this->store_->write([&](Transaction& t) -> Status {
    SB_TRY(t.add_work("q", "w", 0));
    const Lease old = *SB_TRY(t.lease("q", "me", 0, 100));
    const Lease renewed = SB_TRY(t.renew(old, 200));
    EXPECT_EQ(renewed.fence, old.fence);
    EXPECT_FALSE(SB_TRY(t.lease("q", "me", 199, 300)));
    EXPECT_TRUE(t.check_lease(renewed));
    const Lease taken = *SB_TRY(t.lease("q", "me", 200, 300));
    EXPECT_GT(taken.fence, renewed.fence);
    EXPECT_EQ(code_of(t.check_lease(renewed)), ErrorCode::kConflict);
    EXPECT_EQ(code_of(t.renew(renewed, 900)), ErrorCode::kConflict);
    EXPECT_EQ(code_of(t.release(renewed, 0)), ErrorCode::kConflict);
    EXPECT_EQ(code_of(t.finish(renewed)), ErrorCode::kConflict);
    SB_TRY(t.release(taken, 500));
    EXPECT_EQ(code_of(t.check_lease(taken)), ErrorCode::kConflict);
    EXPECT_FALSE(SB_TRY(t.lease("q", "you", 499, 900)));
    const Lease last = *SB_TRY(t.lease_named("q", "w", "you", 500, 900));
    SB_TRY(t.finish(last));
    EXPECT_FALSE(SB_TRY(t.work("q", "w")));
    SB_TRY(t.add_work("q", "w", 0));
    EXPECT_GT(SB_TRY(t.lease("q", "me", 0, 100))->fence, last.fence);
    EXPECT_EQ(code_of(t.finish(last)), ErrorCode::kConflict);
    return {};
  });
  EXPECT_TRUE(status);
}

TYPED_TEST_P(StoreConformance, NestedCallIsRejected) {
  const Status status = this->store_->write([&](Transaction&) -> Status {
    EXPECT_EQ(code_of(this->append(*this->store_, "s", "{}")), ErrorCode::kInternal);
    EXPECT_EQ(code_of(this->events(*this->store_, "s")), ErrorCode::kInternal);
    return {};
  });
  EXPECT_TRUE(status);
  EXPECT_TRUE(this->append(*this->store_, "s", "{}"));
}

// Half of the threads share a store, the others have one each. Each reads the head, appends under it, and retries if
// another thread was first.
TYPED_TEST_P(StoreConformance, ThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  std::atomic<int> broken = 0;
  const auto worker = [&](int number) {
    std::unique_ptr<Store> own = number % 2 ? this->open() : nullptr;
    Store& store = own ? *own : *this->store_;
    for (int i = 0; i < kEach;) {
      const auto head = store.read([](Snapshot& snapshot) { return snapshot.head("s"); });
      const NewEvent event{"t", 1, std::to_string(number * 100 + i)};
      const auto done = store.write([&](Transaction& t) { return t.append("s", *head, {&event, 1}); });
      if (done) {
        ++i;
      } else if (done.error().code != ErrorCode::kConflict) {
        ++broken;
        return;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) threads.emplace_back(worker, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
  auto found = this->payloads(*this->store_, "s");
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::unique(found.begin(), found.end()) - found.begin(), kThreads * kEach);
  EXPECT_EQ(found.size(), std::size_t{kThreads * kEach});
}

TYPED_TEST_P(StoreConformance, IntactStoreVerifies) {
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(this->append(*this->store_, i % 3 ? "a" : "b", std::to_string(i)));
  ASSERT_TRUE(this->store_->write([](Transaction& transaction) { return transaction.put_blob("bytes"); }));
  const auto verified = this->store_->read([](Snapshot& snapshot) { return verify_all(snapshot); });
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->faults.empty());
  EXPECT_EQ(verified->streams, 2);
  EXPECT_EQ(verified->events, 300);
  EXPECT_EQ(verified->blobs, 1);
  const auto none = this->store_->read([](Snapshot& snapshot) { return verify(snapshot, "none"); });
  EXPECT_EQ(code_of(none), ErrorCode::kNotFound);
}

REGISTER_TYPED_TEST_SUITE_P(StoreConformance, EmptyStreamHasTheZeroHead, EventsAreReadAsAppendedAndChained,
                            StaleHeadIsAConflictAndChangesNothing, ErrorRollsEverythingBack,
                            TransactionSeesItsOwnWrites, ReadsARangeOfAStream, FollowsTheLogOverAllStreams,
                            ListsAndRemovesStreams, SnapshotIsOneMoment, RowsAreWrittenReadAndRemoved,
                            ListsByKeyAndBySortKey, PagesJoinToTheWholeListing, RejectsBadNames, EnforcesItsLimits,
                            BlobsAreStoredByContent, WorkIsLeasedInOrder, ExpiredHolderIsFencedOff,
                            NestedCallIsRejected, ThreadsLoseNothing, IntactStoreVerifies);

}  // namespace sb::store

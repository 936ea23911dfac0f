// Recall by the index gives what the ranking gives when it sees every session; lists are paged and complete.
#include "engine/recall/find_session.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/testing/fakes.hpp"
#include "engine/recall/recall_index.hpp"
#include "engine/recall/session_list.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Crowd : public testing::Test {
 protected:
  Crowd() {
    store::SqliteOptions options;
    options.vfs = vfs_.name();
    store_ = std::move(*store::SqliteStore::open(place_.path(), store::Access::kReadWrite, options));
  }

  Summary make(const std::string& id, const std::string& goal, TimestampMs at) {
    Summary summary;
    summary.id = id;
    summary.goal = summary.title = goal;
    summary.workflow_id = "wr.coding-task";
    summary.workflow_name = "Agentic coding";
    summary.workspace = summary.repository = "/srv/shop";
    summary.updated_at = summary.started_at = at;
    return summary;
  }
  // As an advance does: an event and the row.
  void write(const std::vector<Summary>& summaries) {
    const Status written = store_->write([&](store::Transaction& transaction) -> Status {
      for (const Summary& summary : summaries) {
        const std::string stream = session_stream(summary.id);
        const store::NewEvent event{"test", summary.updated_at, "{}"};
        SB_TRY(transaction.append(stream, SB_TRY(transaction.head(stream)), {&event, 1}));
        SB_TRY(write_summary(transaction, summary));
      }
      return {};
    });
    ASSERT_TRUE(written) << written.error().to_string();
  }
  std::vector<std::string> found(const ResumeQuery& query) {
    const auto matches = find_resumable(*store_, query);
    EXPECT_TRUE(matches) << matches.error().to_string();
    std::vector<std::string> ids;
    if (matches) {
      eligible_ = matches->eligible;
      for (const ResumeCandidate& candidate : matches->candidates) ids.push_back(candidate.summary.id);
    }
    return ids;
  }
  static std::vector<std::string> ids_of(const SessionPage& page) {
    std::vector<std::string> ids;
    for (const Summary& summary : page.sessions) ids.push_back(summary.id);
    return ids;
  }

  store::sqlite::FaultVfs vfs_;
  store::TempSqliteStore place_;
  std::unique_ptr<store::SqliteStore> store_;
  std::size_t eligible_ = 0;
};

const ResumeQuery kHere{.workspace = "/srv/shop", .repository = "/srv/shop"};

ResumeQuery about(std::string text) {
  ResumeQuery query = kHere;
  query.text = std::move(text);
  return query;
}

TEST_F(Crowd, ASessionIsFoundByWordsAndTheirParts) {
  write({make("s-aaaaaa", "Fix the login page", 1'000'000), make("s-bbbbbb", "登录页面的错误", 1'000'001),
         make("s-cccccc", "Add AI to the refreshToken", 1'000'002)});
  EXPECT_EQ(found(about("login")).front(), "s-aaaaaa");
  EXPECT_EQ(found(about("ogi page")).front(), "s-aaaaaa");
  EXPECT_EQ(found(about("登录")).front(), "s-bbbbbb");
  EXPECT_EQ(found(about("错")).front(), "s-bbbbbb");
  EXPECT_EQ(found(about("ai")).front(), "s-cccccc");
  EXPECT_EQ(found(about("token")).front(), "s-cccccc");
  EXPECT_EQ(eligible_, 3u);
}

TEST_F(Crowd, WhatChangedSinceTheLastSearchIsFound) {
  Summary one = make("s-aaaaaa", "Lay the main", 1'000'000);
  write({one, make("s-bbbbbb", "Dig the well", 1'000'001)});
  EXPECT_EQ(found(about("main")).front(), "s-aaaaaa");
  one.recap = "The hydrant stands in the way.";
  one.updated_at = 2'000'000;
  write({one});
  EXPECT_THAT(found(about("hydrant")), ElementsAre("s-aaaaaa", "s-bbbbbb"));
  one.recap = "Moved it.";
  one.updated_at = 3'000'000;
  write({one});
  EXPECT_EQ(find_resumable(*store_, about("hydrant"))->candidates.front().tier, 6) << "no longer";
  one.status = SessionStatus::kComplete;
  one.updated_at = 4'000'000;
  write({one});
  EXPECT_THAT(found(about("main")), ElementsAre("s-bbbbbb"));
  EXPECT_THAT(found(about("s-aaaaaa")), ElementsAre("s-aaaaaa", "s-bbbbbb")) << "an ended one by its id";
}

TEST_F(Crowd, AClockThatWasSetBackHidesNothing) {
  write({make("s-aaaaaa", "From the future", 9'000'000'000)});
  EXPECT_THAT(found(kHere), SizeIs(1));
  write({make("s-bbbbbb", "After the clock was corrected", 1'000'000)});
  EXPECT_EQ(found(about("corrected")).front(), "s-bbbbbb");
  write({make("s-cccccc", "Later", 1'100'000)});
  EXPECT_EQ(found(about("later")).front(), "s-cccccc");
}

TEST_F(Crowd, ADamagedRecordIsReportedAndDoesNotHideOthers) {
  write({make("s-aaaaaa", "login page", 1'000'000), make("s-bbbbbb", "login page", 1'000'001)});
  EXPECT_THAT(found(about("login")), ElementsAre("s-bbbbbb", "s-aaaaaa"));
  ASSERT_TRUE(store_->write([](store::Transaction& transaction) -> Status {
    const auto row = SB_TRY(transaction.get(kSessions, "s-bbbbbb"));
    return transaction.put(kSessions, row->key, "x" + row->value, *row->sort);
  }));
  EXPECT_THAT(found(about("login")), ElementsAre("s-aaaaaa"));
  EXPECT_THAT(find_resumable(*store_, about("login"))->damaged, ElementsAre("s-bbbbbb"));
  const auto listed = list_sessions(*store_, SessionScope::kOpen, {});
  EXPECT_THAT(ids_of(*listed), ElementsAre("s-aaaaaa"));
  EXPECT_THAT(listed->damaged, ElementsAre("s-bbbbbb"));
}

// The index proposes, the ranking decides: with and without the index the best are the same.
TEST_F(Crowd, FindsTheSameAsLookingAtEverySession) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> words = {"login", "page", "cookie", "parser", "fix", "ai", "zz", "登录页面", "main"};
  const auto some_words = [&](int most) {
    std::string text;
    for (int i = 0, n = 1 + static_cast<int>(random() % static_cast<unsigned>(most)); i < n; ++i) {
      text += words[random() % words.size()] + " ";
    }
    return text;
  };
  std::vector<Summary> all;
  for (int i = 0; i < 300; ++i) {
    Summary one = make(fmt::format("s-{:06}", i), some_words(4), 1'000'000 + i * 1'000);
    one.recap = random() % 2 ? some_words(2) : "";
    if (random() % 3 == 0) one.workspace = one.repository = "/srv/other";
    if (random() % 5 == 0) one.repository = "";
    if (random() % 4 == 0) one.status = random() % 2 ? SessionStatus::kComplete : SessionStatus::kWaiting;
    one.git_head = fmt::format("{:040}", random() % 40);
    one.git_branch = random() % 2 ? "feature/" + words[random() % words.size()] : "main";
    all.push_back(std::move(one));
  }
  write(all);
  for (int round = 0; round < 200; ++round) {
    ResumeQuery query = random() % 5 ? about(some_words(3)) : kHere;
    if (random() % 3 == 0) query.git_branch = "feature/" + words[random() % words.size()] + "-2";
    if (random() % 4 == 0) query.git_head = fmt::format("{:040}", random() % 40);
    query.same_workspace_only = random() % 4 == 0;
    Ranking ranking(query, 5);
    for (const Summary& one : all) ranking.add(one);
    const auto matches = find_resumable(*store_, query);
    ASSERT_TRUE(matches);
    const std::vector<ResumeCandidate> best = ranking.best();
    ASSERT_EQ(matches->candidates.size(), best.size()) << query.text;
    for (std::size_t i = 0; i < matches->candidates.size(); ++i) {
      const ResumeCandidate& by_index = matches->candidates[i];
      const ResumeCandidate& by_looking = best[i];
      EXPECT_EQ(by_index.tier, by_looking.tier) << query.text << " at " << i;
      if (by_looking.tier <= 1) {
        EXPECT_EQ(by_index.summary.id, by_looking.summary.id) << query.text << " at " << i;
      }
    }
    EXPECT_GE(matches->eligible, ranking.eligible()) << query.text;
  }
}

class CrowdCost : public Crowd {
 protected:
  void add(int count) {
    std::vector<Summary> more;
    for (int i = 0; i < count; ++i, ++made_) {
      more.push_back(make(fmt::format("s-{:06}", made_), fmt::format("Fix the parser of file {}", made_),
                          1'000'000 + made_ * 1'000));
    }
    write(more);
  }
  // Of a search when nothing has changed: statements, and summaries read.
  std::int64_t statements(const ResumeQuery& query) {
    (void)find_resumable(*store_, query);
    const std::int64_t before = store_->cost().statements;
    EXPECT_TRUE(find_resumable(*store_, query));
    return store_->cost().statements - before;
  }
  int made_ = 0;
};

TEST_F(CrowdCost, SearchingAmongManyReadsNoMoreThanAmongFew) {
  add(50);
  const std::int64_t few = statements(about("parser file 7"));
  const std::int64_t few_listed = statements(kHere);
  add(3'000);
  EXPECT_LE(statements(about("parser file 7")), few + 2);
  EXPECT_EQ(statements(kHere), few_listed);
  EXPECT_EQ(store_->cost().unindexed_steps, 0);
}

TEST_F(CrowdCost, ASearchIndexesOnlyWhatHasChanged) {
  add(2'000);
  ASSERT_TRUE(refresh_recall_index(*store_));
  const auto changed = [&](int count) {
    add(count);
    const std::int64_t before = store_->cost().statements;
    EXPECT_TRUE(refresh_recall_index(*store_));
    return store_->cost().statements - before;
  };
  EXPECT_LT(changed(1), 120);  // with those of the last ten seconds
  const std::int64_t before = store_->cost().statements;
  ASSERT_TRUE(refresh_recall_index(*store_));
  EXPECT_LE(store_->cost().statements - before, 5) << "nothing has changed";
}

TEST_F(CrowdCost, APassThatIsInterruptedIsContinued) {
  add(1'000);
  vfs_.fail_at(40, store::sqlite::Fault::kIo);  // in the middle
  EXPECT_FALSE(refresh_recall_index(*store_));
  vfs_.clear_fault();
  EXPECT_EQ(found(about("parser 999")).front(), "s-000999");
  EXPECT_EQ(found(about("parser 3")).size(), 5u);
  EXPECT_EQ(eligible_, 1'000u);
}

TEST_F(CrowdCost, AListReadsOnePage) {
  add(30);
  const auto cost = [&] {
    const std::int64_t before = store_->cost().statements;
    EXPECT_TRUE(list_sessions(*store_, SessionScope::kOpen, {}));
    return store_->cost().statements - before;
  };
  const std::int64_t few = cost();
  add(2'000);
  EXPECT_EQ(cost(), few);
  EXPECT_EQ(store_->cost().unindexed_steps, 0);
}

TEST_F(CrowdCost, PagesAreCompleteWhileSessionsAreAdded) {
  add(100);
  std::vector<Summary> ended;
  for (int i = 0; i < 30; ++i) {
    Summary one = make(fmt::format("s-e{:05}", i), "Done", 1'000'500 + i * 3'000);
    one.status = SessionStatus::kStopped;
    if (i % 3 == 0) one.parent_session = "s-000001";
    ended.push_back(one);
  }
  write(ended);
  for (const auto& [scope, total] : {std::pair{SessionScope::kOpen, 100}, std::pair{SessionScope::kAll, 130}}) {
    std::set<std::string> seen;
    std::string last = "s-~";
    store::PageRequest request{.limit = 17, .after = ""};
    for (int pages = 0; pages < 20; ++pages) {
      const auto page = list_sessions(*store_, scope, request);
      ASSERT_TRUE(page) << page.error().to_string();
      for (const Summary& one : page->sessions) EXPECT_TRUE(seen.insert(one.id).second) << one.id;
      if (pages == 0) {
        EXPECT_EQ(page->facts.total, total + (scope == SessionScope::kAll ? 1 : 0));
        EXPECT_EQ(page->facts.more, page->facts.total - 17);
      }
      if (page->facts.next.empty()) break;
      request.after = page->facts.next;
      if (pages == 0 && scope == SessionScope::kOpen) add(1);  // at the front, so not on a later page
    }
    EXPECT_THAT(seen, SizeIs(scope == SessionScope::kOpen ? 100 : 131));
  }
  EXPECT_EQ(list_sessions(*store_, SessionScope::kOpen, {.limit = 5, .after = "nonsense"}).error().code,
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sb::engine

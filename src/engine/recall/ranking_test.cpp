#include "engine/recall/ranking.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/recall/words.hpp"

namespace sb::engine {
namespace {

using testing::ElementsAre;

Summary session(const std::string& id, const std::string& title, TimestampMs updated_at = 1'000) {
  Summary summary;
  summary.id = id;
  summary.title = title;
  summary.goal = title;
  summary.workflow_id = "wr.coding-task";
  summary.workflow_name = "Agentic coding";
  summary.updated_at = updated_at;
  return summary;
}

std::vector<std::string> order(const ResumeQuery& query, const std::vector<Summary>& sessions) {
  Ranking ranking(query, 10);
  for (const Summary& one : sessions) ranking.add(one);
  std::vector<std::string> ids;
  for (const ResumeCandidate& candidate : ranking.best()) ids.push_back(candidate.summary.id);
  return ids;
}

// In its own repository, where only the query decides.
ResumeCandidate judged(ResumeQuery query, Summary summary) {
  query.repository = summary.repository = "/srv/shop";
  Ranking ranking(query);
  ranking.add(summary);
  return ranking.best().at(0);
}

TEST(SearchWords, AreFoldedAndSplitByUnicodeRules) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
      {"Fix the Login-Page!", {"fix", "the", "login", "page"}},
      {"user_id x2", {"user_id", "x2"}},
      {"ＦＵＬＬ ｗｉｄｔｈ", {"full", "width"}},
      {"Straße", {"strasse"}},
      {"re\u00ADsume", {"resume"}},
      {"Исправить ВХОД", {"исправить", "вход"}},
      {"登录页面", {"登录", "录页", "页面"}},
      {"猫", {"猫"}},
      {"fix登录now", {"fix", "登录", "now"}},
      {"صفحة الدخول", {"صفحة", "الدخول"}},
      {"می‌خواهم", {"میخواهم"}},
      {"ログイン", {"ログ", "グイ", "イン"}},
      {"again again", {"again"}},
      {"... --- !!!", {}},
      {"", {}},
      {"\xff\xfe", {}},
  };
  for (const auto& [text, words] : table) EXPECT_EQ(search_words(text), words) << text;
}

TEST(Ranking, PutsEachSessionInItsTier) {
  Summary summary = session("s-abcdefghijklmnopqrstuvwxyz", "Fix the login page for customers");
  summary.recap = "The cookie was never set.";
  summary.git_head = std::string(40, 'a');
  summary.git_branch = "feature/login";
  struct Case {
    ResumeQuery query;
    int tier;
    std::string why;
  };
  const std::vector<Case> table = {
      {{.session_id = summary.id}, 0, "its id"},
      {{.text = "s-abcd"}, 0, "its id"},
      {{.text = "s-abc"}, 6, "most recent"},
      {{.text = "LOGIN cookie"}, 1, "all words found"},
      {{.text = "login customers dashboards"}, 2, "found: login, customers"},
      {{.text = "login windows dashboards"}, 6, "most recent"},
      {{.text = "coding task"}, 3, "workflow wr.coding-task"},
      {{.text = "wr.coding-task"}, 3, "workflow wr.coding-task"},
      {{.git_head = std::string(40, 'a')}, 4, "same commit"},
      {{.git_branch = "feature/login"}, 5, "same branch"},
      {{.git_branch = "feature/login-2"}, 5, "branch feature/login"},
      {{.git_branch = "feature"}, 5, "branch feature/login"},
      {{.git_branch = "main"}, 6, "most recent"},
      {{}, 6, "most recent"},
  };
  for (const Case& one : table) {
    SCOPED_TRACE(one.query.text + one.query.git_branch);
    const ResumeCandidate candidate = judged(one.query, summary);
    EXPECT_EQ(candidate.tier, one.tier);
    EXPECT_EQ(candidate.why, one.why);
  }
}

TEST(Ranking, FindsEveryScript) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"Починить ВХОД на сайт", "вход сайт"},
      {"修复登录页面的错误", "登录页面"},
      {"修复登录页面的错误", "错"},
      {"إصلاح صفحة الدخول", "صفحة الدخول"},
      {"ログインページを直す", "ページ"},
      {"แก้หน้าเข้าสู่ระบบ", "เข้าสู่ระบบ"},
      {"로그인 페이지 수정", "로그인"},
      {"लॉगिन पेज ठीक करें", "लॉगिन"},
      {"Διόρθωση ΣΥΝΔΕΣΗΣ", "σύνδεσης διόρθωση"},
  };
  for (const auto& [title, query] : table) {
    const int tier = judged({.text = query}, session("s-1", title)).tier;
    // Greek capitals are written without accents, so only one of the two words matches as typed.
    EXPECT_EQ(tier, query.starts_with("σ") ? 2 : 1) << query;
    EXPECT_EQ(judged({.text = query}, session("s-1", "Fix the page")).tier, 6) << query;
  }
}

TEST(Ranking, LongWordsWeighMoreThanShortAndCommonOnes) {
  const Summary summary = session("s-1", "authentication");
  EXPECT_EQ(judged({.text = "fix the authentication"}, summary).tier, 2);
  EXPECT_EQ(judged({.text = "fix the"}, session("s-1", "fix something")).tier, 2);
  EXPECT_EQ(judged({.text = "fix authentication"}, session("s-1", "fix something")).tier, 6);
}

TEST(Ranking, ShortWordsMatchOnlyWholeWords) {
  EXPECT_EQ(judged({.text = "ai"}, session("s-1", "Maintain the main page")).tier, 6);
  EXPECT_EQ(judged({.text = "ai"}, session("s-1", "Add AI replies")).tier, 1);
  EXPECT_EQ(judged({.text = "main"}, session("s-1", "Maintain it")).tier, 1);
}

TEST(Ranking, BreaksTiesByRepositoryProgressScoreAndTime) {
  Summary other = session("s-other", "login page", 9'000);
  Summary done = session("s-done", "login page", 8'000);
  done.repository = "/srv/shop";
  done.status = SessionStatus::kComplete;
  Summary old = session("s-old", "login page", 1'000);
  old.repository = "/srv/shop";
  Summary waiting = session("s-waiting", "login page", 2'000);
  waiting.repository = "/srv/shop";
  waiting.status = SessionStatus::kWaiting;
  EXPECT_THAT(order({.text = "login", .repository = "/srv/shop"}, {other, done, old, waiting}),
              ElementsAre("s-waiting", "s-old", "s-other"));
  EXPECT_THAT(order({.text = "x"}, {session("s-b", "x", 5), session("s-a", "x", 5)}), ElementsAre("s-a", "s-b"));
  EXPECT_THAT(order({.text = "login cookie banner"},
                    {session("s-two", "login cookie", 1), session("s-one", "login cookies banners", 1)}),
              ElementsAre("s-one", "s-two"));
}

TEST(Ranking, StaysInTheWorkspaceIfAsked) {
  Summary here = session("s-here", "x");
  here.workspace = "/srv/shop";
  Summary sibling = session("s-sibling", "x");
  sibling.workspace = "/srv/shop-2";
  sibling.repository = "git@host:shop";
  ResumeQuery query{.workspace = "/srv/shop", .repository = "git@host:shop"};
  query.same_workspace_only = true;
  EXPECT_THAT(order(query, {here, sibling, session("s-away", "x")}), ElementsAre("s-here", "s-sibling"));
}

TEST(Ranking, AnotherProjectsSessionIsNotOfferedForItsBranchOrDate) {
  Summary away = session("s-away-from-here", "x", 9'000);
  away.repository = away.workspace = "/srv/other";
  away.git_branch = "master";
  const ResumeQuery here{.workspace = "/srv/shop", .repository = "/srv/shop", .git_branch = "master"};
  EXPECT_THAT(order(here, {away}), ElementsAre());
  Summary own = away;
  own.id = "s-own";
  own.repository = "/srv/shop";
  EXPECT_THAT(order(here, {away, own}), ElementsAre("s-own"));
  ResumeQuery by_words = here;
  by_words.text = "warehouse";
  EXPECT_THAT(order(by_words, {away, own}), ElementsAre("s-own"));
  Ranking ranking(by_words);
  ranking.add(own);
  EXPECT_FALSE(ranking.best().front().is_direct_match());
  by_words.text = "x";
  EXPECT_THAT(order(by_words, {away, own}), ElementsAre("s-own", "s-away-from-here"));
}

TEST(Ranking, AnUnknownIdFindsNothing) {
  const Summary own = session("s-own", "x");
  EXPECT_THAT(order({.session_id = "s-unknown"}, {own}), ElementsAre());
  EXPECT_THAT(order({.text = "x", .session_id = "s-unknown"}, {own}), ElementsAre());
}

TEST(Ranking, EndedSessionsAreFoundOnlyById) {
  for (const SessionStatus status : {SessionStatus::kComplete, SessionStatus::kStopped}) {
    Summary ended = session("s-ended", "login page");
    ended.status = status;
    ended.repository = "/srv/shop";
    EXPECT_THAT(order({.text = "login", .repository = "/srv/shop"}, {ended}), ElementsAre());
    EXPECT_THAT(order({.session_id = "s-ended"}, {ended}), ElementsAre("s-ended"));
    EXPECT_THAT(order({.text = "s-ended"}, {ended}), ElementsAre("s-ended"));
  }
}

TEST(Ranking, SearchesAllSessionsNotOnlyTheNewest) {
  std::vector<Summary> sessions;
  for (int i = 0; i < 1'000; ++i) sessions.push_back(session(fmt::format("s-{:04}", i), "daily chores", 10'000 + i));
  sessions.push_back(session("s-wanted", "migrate the warehouse", 1));
  Ranking ranking({.text = "warehouse"}, 1);
  for (const Summary& one : sessions) ranking.add(one);
  EXPECT_EQ(ranking.eligible(), 1u);
  ASSERT_EQ(ranking.best().size(), 1u);
  EXPECT_EQ(ranking.best()[0].summary.id, "s-wanted");
}

TEST(Ranking, DoesNotDependOnTheInputOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<Summary> sessions;
  for (int i = 0; i < 50; ++i) {
    sessions.push_back(session(fmt::format("s-{}", i), random() % 2 ? "login page" : "page", random() % 5));
    sessions.back().status = random() % 2 ? SessionStatus::kOpen : SessionStatus::kWaiting;
  }
  const ResumeQuery query{.text = "login page"};
  const auto first = order(query, sessions);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(sessions.begin(), sessions.end(), random);
    EXPECT_EQ(order(query, sessions), first);
  }
}

}  // namespace
}  // namespace sb::engine

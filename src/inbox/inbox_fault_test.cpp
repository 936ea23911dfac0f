// Disk failures while an answer is written, and several processes that answer concurrently.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inbox/testing.hpp"
#include "store/sqlite/testing/fault_vfs.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(InboxFaults, AfterAFullDiskTheQuestionIsEitherOpenOrAnswered) {
  for (const store::sqlite::Fault fault : {store::sqlite::Fault::kFull, store::sqlite::Fault::kTorn}) {
    bool has_succeeded = false;
    for (int at = 1; !has_succeeded; ++at) {
      ASSERT_LT(at, 200);
      store::TempSqliteStore place;
      store::sqlite::FaultVfs vfs;
      FakeClock clock;
      FakeRandom random;
      const Operators operators;
      const Policy policy;
      std::string id;
      const AnswerSubmission submission{.given = {{"canary"}, Value::object()},
                                        .from = {Channel::kTerminal, "ann"},
                                        .raw = "",
                                        .waived = {},
                                        .render_hash = {},
                                        .signature = {}};
      bool was_acknowledged = false;
      {
        auto store = store::SqliteStore::open(place.path(), store::Access::kReadWrite, {.vfs = vfs.name()});
        ASSERT_TRUE(store);
        Inbox inbox(**store, clock, random, operators, policy);
        id = inbox.open(decision::declared(kPlainQuestion), {})->id;
        vfs.fail_at(at, fault);
        const auto answered = inbox.answer(id, submission);
        was_acknowledged = answered.has_value();
        has_succeeded = was_acknowledged && !vfs.has_failed();
        if (!answered) {
          EXPECT_NE(answered.error().code, ErrorCode::kInternal) << answered.error().to_string();
        }
        vfs.clear_fault();
      }
      auto store = store::SqliteStore::open(place.path(), store::Access::kReadWrite);
      ASSERT_TRUE(store);
      Inbox inbox(**store, clock, random, operators, policy);
      const auto after = inbox.load(id);
      ASSERT_TRUE(after) << after.error().to_string();
      EXPECT_TRUE(!was_acknowledged || after->is_answered()) << "an acknowledged answer is lost, at " << at;
      EXPECT_TRUE(!after->is_open() || inbox.answer(id, submission).has_value());
    }
  }
}

TEST(InboxFaults, ExactlyOneOfManyProcessesAnswers) {
  constexpr int kChildren = 8;
  store::TempSqliteStore place;
  FakeClock clock;
  FakeRandom random;
  const Operators operators;
  const Policy policy;
  std::string id;
  {
    auto store = store::SqliteStore::open(place.path(), store::Access::kReadWrite);
    id = Inbox(**store, clock, random, operators, policy).open(decision::declared(kPlainQuestion), {})->id;
  }
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto store = store::SqliteStore::open(place.path(), store::Access::kReadWrite);
      if (!store) _exit(9);
      Inbox inbox(**store, clock, random, operators, policy);
      AnswerSubmission submission;
      submission.given.options = {i % 2 == 0 ? "staging" : "canary"};
      submission.from = {Channel::kTerminal, "child " + std::to_string(i)};
      const auto answered = inbox.answer(id, submission);
      if (answered) _exit(0);
      const bool names_winner = answered.error().message.find("already answered by child") != std::string::npos;
      _exit(answered.error().code == ErrorCode::kConflict && names_winner ? 1 : 9);
    }
    children.push_back(child);
  }
  std::vector<int> codes;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  EXPECT_EQ(std::ranges::count(codes, 0), 1);
  EXPECT_EQ(std::ranges::count(codes, 1), kChildren - 1);
}

TEST(InboxFaults, AnEventOfANewerVersionIsRefused) {
  InboxTestBed place;
  const std::string id = place.open(kPlainQuestion).id;
  ASSERT_TRUE(place.append("decision/" + id, "something_new"));
  const auto loaded = place.inbox.load(id);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(loaded.error().message,
            "event 2 of decision/" + id +
                R"( has the unknown type "something_new" and was written by a newer version of Signalbox)");
  EXPECT_EQ(place.inbox.answer(id, place.submission({"staging"})).error().code, ErrorCode::kUnsupported);
  const auto head = place.store->read([&](store::Snapshot& snapshot) { return snapshot.head("decision/" + id); });
  EXPECT_EQ(head->seq, 2);
}

TEST(InboxFaults, ADamagedDecisionDoesNotHideOthers) {
  InboxTestBed place;
  const std::string good = place.open(kPlainQuestion).id;
  const std::string bad = place.open(kPlainQuestion, {.workspace = "/b", .session = ""}).id;
  const std::string newer = place.open(kPlainQuestion, {.workspace = "/c", .session = ""}).id;
  ASSERT_TRUE(place.append("decision/" + bad, "answered"));
  ASSERT_TRUE(place.append("decision/" + newer, "something_new"));
  const auto listed = place.inbox.list(false);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 3U);
  for (const DecisionState& state : *listed) EXPECT_EQ(state.is_damaged, state.id != good);
  EXPECT_EQ(place.inbox.load(bad).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sb::inbox

// The file itself: permissions, files that are rejected as a store, old and new formats, and damage found when reading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/sqlite/lock_file.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_place.hpp"
#include "store/verify.hpp"

namespace sb::store {
namespace {

using testing::HasSubstr;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_all(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// What a user with sqlite3 can do.
void run_sql(const std::string& path, const std::string& sql) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(handle);
}

Error open_error(const std::string& path, Access access) {
  const auto store = SqliteStore::open(path, access);
  EXPECT_FALSE(store) << "opened";
  return store ? Error{} : store.error();
}

Status append(Store& store, std::string_view stream, int count) {
  return store.write([&](Transaction& transaction) -> Status {
    const Head head = SB_TRY(transaction.head(stream));
    const std::vector<NewEvent> events(static_cast<std::size_t>(count), NewEvent{"t", 7, R"({"n":1})"});
    SB_TRY(transaction.append(stream, head, events));
    SB_TRY(transaction.put_blob("artifact"));
    return {};
  });
}

unsigned mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(SqliteFile, IsForItsOwnerOnly) {
  const mode_t before = umask(0);
  TempSqliteStore place;
  {
    auto store = place.open();
    ASSERT_TRUE(store) << store.error().to_string();
    ASSERT_TRUE(append(**store, "s", 1));
  }
  umask(before);
  EXPECT_EQ(mode_of(place.directory() + "/home"), 0700u);
  for (const char* suffix : {"", "-wal", "-shm", "-lock"}) EXPECT_EQ(mode_of(place.path() + suffix), 0600u) << suffix;
}

TEST(SqliteFile, ReadingAMissingOrEmptyStoreIsNotFoundAndCreatesNothing) {
  TempSqliteStore place;
  EXPECT_EQ(open_error(place.path(), Access::kReadOnly).code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(place.directory() + "/home"));
  write_all(place.path(), "");
  EXPECT_EQ(open_error(place.path(), Access::kReadOnly).code, ErrorCode::kNotFound);
  EXPECT_EQ(open_error(place.path() + "/below-a-file", Access::kReadOnly).code, ErrorCode::kNotFound);
  EXPECT_TRUE(SqliteStore::open(place.path(), Access::kReadWrite));
  EXPECT_TRUE(SqliteStore::open(place.path(), Access::kReadOnly));
}

TEST(SqliteFile, ReadOnlyStoreRejectsWrites) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  auto store = SqliteStore::open(place.path(), Access::kReadOnly);
  ASSERT_TRUE(store);
  const Status refused = append(**store, "s", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
}

TEST(SqliteFile, ReportsADirectoryInItsPlace) {
  TempSqliteStore place;
  std::filesystem::create_directories(place.path());
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const Error error = open_error(place.path(), access);
    EXPECT_EQ(error.code, ErrorCode::kIo);
    EXPECT_THAT(error.message, HasSubstr("directory"));
    EXPECT_EQ(error.location.file, place.path());
  }
}

TEST(SqliteFile, RejectsAnInvalidPath) {
  EXPECT_EQ(open_error("", Access::kReadWrite).code, ErrorCode::kInvalid);
  EXPECT_EQ(open_error(std::string("a\0b", 3), Access::kReadOnly).code, ErrorCode::kInvalid);
  TempSqliteStore place;
  const Error error = open_error(place.directory() + "/" + std::string(3'000, 'x'), Access::kReadWrite);
  EXPECT_EQ(error.code, ErrorCode::kIo);
}

// Names that SQLite would not take as a file name.
TEST(SqliteFile, NameThatLooksLikeAUriIsAFile) {
  TempSqliteStore place;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(place.directory());
  for (const char* name : {"file:x.db?mode=memory", ":memory:"}) {
    EXPECT_TRUE(SqliteStore::open(name, Access::kReadWrite));
    EXPECT_TRUE(std::filesystem::exists(place.directory() + "/" + name));
  }
  std::filesystem::current_path(before);
}

TEST(SqliteFile, RejectsOtherFiles) {
  TempSqliteStore place;
  for (const std::string& bytes : {std::string("x"), std::string(100'000, 'x'), std::string("SQLite format 3\0", 16),
                                   std::string("SQLite format 3\0", 16) + std::string(5'000, '\x7f')}) {
    write_all(place.path(), bytes);
    for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
      const Error error = open_error(place.path(), access);
      ASSERT_EQ(error.code, ErrorCode::kCorrupt) << error.to_string();
      EXPECT_FALSE(error.remedy.empty());
    }
    EXPECT_EQ(read_all(place.path()), bytes);
  }
}

TEST(SqliteFile, DoesNotTouchTheDatabaseOfAnotherProgram) {
  TempSqliteStore place;
  run_sql(place.path(), "CREATE TABLE events(a); INSERT INTO events VALUES(1)");
  const std::string before = read_all(place.path());
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const Error error = open_error(place.path(), access);
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_THAT(error.message, HasSubstr("not a Signalbox store"));
  }
  EXPECT_EQ(read_all(place.path()), before);
}

TEST(SqliteFile, RejectsANewerFormatWithoutChangingIt) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  run_sql(place.path(), "PRAGMA user_version=1000");
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const Error error = open_error(place.path(), access);
    EXPECT_EQ(error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr("format 1000"));
    EXPECT_THAT(error.remedy, HasSubstr("Update"));
  }
}

// A file written by version 1 opens in every later version, with all its content.
TEST(SqliteFile, Version1StillOpens) {
  TempSqliteStore place;
  run_sql(place.path(), read_all(SB_SOURCE_DIR "/src/store/sqlite/fixtures/version_1.sql"));
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const auto store = SqliteStore::open(place.path(), access);
    ASSERT_TRUE(store) << store.error().to_string();
    const Status whole = (*store)->read([](Snapshot& snapshot) -> Status {
      const VerifyReport verification = SB_TRY(verify_all(snapshot));
      EXPECT_TRUE(verification.faults.empty());
      EXPECT_EQ(verification.streams, 2);
      EXPECT_EQ(verification.events, 3);
      EXPECT_EQ(verification.blobs, 1);
      const auto events = SB_TRY(snapshot.events("decision/d-1", 1, 10));
      EXPECT_EQ(events.at(1).type, "answered");
      EXPECT_EQ(events.at(1).time_ms, 1'700'000'000'001);
      EXPECT_EQ(events.at(1).payload, R"({"options":["keep"]})");
      EXPECT_EQ(SB_TRY(snapshot.get("decisions", "d-1")), (Row{"d-1", "closed/1", R"({"state":"closed"})"}));
      EXPECT_EQ(SB_TRY(snapshot.get("decisions", "d-2")), (Row{"d-2", std::nullopt, "{}"}));
      EXPECT_EQ(SB_TRY(snapshot.work("deadlines", "d-2")), (Lease{"deadlines", "d-2", "me", 1'700'000'060'000, 1}));
      return {};
    });
    EXPECT_TRUE(whole) << whole.error().to_string();
  }
}

TEST(SqliteFile, MigrationsRunInOrderAndAtomically) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  const std::int64_t newest = sqlite::migrations().back().version;
  const sqlite::Migration steps[] = {
      {newest, "SELECT no_such_function()"},  // not run again
      {newest + 1, "CREATE TABLE two(a INTEGER) STRICT"},
      {newest + 2, "CREATE TABLE three(a INTEGER) STRICT; INSERT INTO nowhere VALUES(1)"}};
  auto connection = sqlite::Connection::open(place.path(), SQLITE_OPEN_READWRITE, "", 1'000);
  ASSERT_TRUE(connection);
  EXPECT_EQ(sqlite::file_state(**connection, steps), sqlite::FileState::kOlder);
  EXPECT_FALSE(sqlite::migrate(**connection, steps));
  (*connection)->clear_failure();
  EXPECT_EQ((*connection)->value("PRAGMA user_version"), newest + 1);
  EXPECT_EQ((*connection)->value("SELECT count(*) FROM sqlite_schema WHERE name IN ('two', 'three')"), 1);
  EXPECT_EQ(sqlite::file_state(**connection, std::span(steps, 2)), sqlite::FileState::kCurrent);
  const auto newer = sqlite::file_state(**connection, std::span(steps, 1));
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
}

struct Damage {
  const char* name;
  const char* sql;
  const char* said;
};

class Damaged : public testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsDetectedAndNamedOnRead) {
  TempSqliteStore place;
  {
    auto store = place.open();
    ASSERT_TRUE(append(**store, "whole", 3));
    ASSERT_TRUE(append(**store, "s", 5));
  }
  run_sql(place.path(), GetParam().sql);
  const auto store = SqliteStore::open(place.path(), Access::kReadWrite);
  ASSERT_TRUE(store) << store.error().to_string();
  const auto verified = (*store)->read([](Snapshot& snapshot) { return verify_all(snapshot); });
  ASSERT_TRUE(verified) << verified.error().to_string();
  ASSERT_EQ(verified->faults.size(), 1u);
  EXPECT_EQ(verified->faults[0].code, ErrorCode::kCorrupt);
  EXPECT_THAT(verified->faults[0].message, HasSubstr(GetParam().said));
  EXPECT_TRUE((*store)->read([](Snapshot& snapshot) { return verify(snapshot, "whole"); }));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Damaged,
    testing::Values(
        Damage{"Payload", "UPDATE events SET payload = x'7b7d' WHERE stream = 's' AND seq = 3",
               "event 3 of stream \"s\""},
        Damage{"Type", "UPDATE events SET type = 'u' WHERE stream = 's' AND seq = 3", "event 3 of stream \"s\""},
        Damage{"Time", "UPDATE events SET time_ms = 8 WHERE stream = 's' AND seq = 5", "event 5 of stream \"s\""},
        Damage{"Hash", "UPDATE events SET hash = zeroblob(32) WHERE stream = 's' AND seq = 2",
               "event 2 of stream \"s\""},
        Damage{"ShortHash", "UPDATE events SET hash = x'00' WHERE stream = 's' AND seq = 2", "damaged"},
        Damage{"Gap", "DELETE FROM events WHERE stream = 's' AND seq = 2", "event 2 of stream \"s\" is missing"},
        Damage{"First", "DELETE FROM events WHERE stream = 's' AND seq = 1", "event 1 of stream \"s\""},
        Damage{"Tail", "DELETE FROM events WHERE stream = 's' AND seq = 5", "event 5 of stream \"s\""},
        Damage{"AllEvents", "DELETE FROM events WHERE stream = 's'", "event 1 of stream \"s\""},
        Damage{"Swapped", "UPDATE events SET stream = 't' WHERE stream = 's' AND seq = 5", "event 5 of stream \"s\""},
        Damage{"Head", "UPDATE streams SET hash = zeroblob(32) WHERE name = 's'", "event 5 of stream \"s\""},
        Damage{"HeadLost", "DELETE FROM streams WHERE name = 's'", "8 events, its streams 3"},
        Damage{"Blob", "UPDATE blobs SET bytes = x'00'", "blob"}),
    [](const auto& tested) { return tested.param.name; });

// Damage in the middle of a long stream is detected by a read there, also if the page begins right after it.
TEST(SqliteFile, ChecksTheLinkToTheEventBeforeThePage) {
  TempSqliteStore place;
  auto store = place.open();
  ASSERT_TRUE(append(**store, "s", 5));
  run_sql(place.path(), "UPDATE events SET payload = x'00' WHERE seq = 2");
  const auto page = (*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 3, 2); });
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE((*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 4, 2); }));
}

TEST(SqliteFile, ForeignTriggerDoesNotRun) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  run_sql(place.path(), "CREATE TRIGGER evil AFTER INSERT ON streams BEGIN DELETE FROM events; END");
  auto store = place.open();
  ASSERT_TRUE(store);
  ASSERT_TRUE(append(**store, "s", 1));
  const auto events = (*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 1, 10); });
  ASSERT_TRUE(events) << events.error().to_string();
  EXPECT_EQ(events->size(), 1u);
}

// Programs that do not use our lock are also kept out while work decides on what it has read.
TEST(SqliteFile, Sqlite3CannotWriteDuringATransaction) {
  TempSqliteStore place;
  auto store = place.open();
  ASSERT_TRUE(store);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(place.path().c_str(), &other), SQLITE_OK);
  const Status status = (*store)->write([&](Transaction&) -> Status {
    EXPECT_EQ(sqlite3_exec(other, "DELETE FROM events", nullptr, nullptr, nullptr), SQLITE_BUSY);
    return {};
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(sqlite3_exec(other, "DELETE FROM events", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
}

// No checkpoint during a write, and no write during a checkpoint: both need the same lock. Readers do not need it.
TEST(SqliteFile, WritersAndCheckpointsTakeTurnsUnderOurLock) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  SqliteOptions options;
  options.busy_wait_ms = 1;
  auto store = SqliteStore::open(place.path(), Access::kReadWrite, options);
  ASSERT_TRUE(store);
  sqlite::LockFile lock(place.path() + "-lock");
  {
    const auto hold = lock.take(0);
    ASSERT_TRUE(hold);
    const Status written = append(**store, "s", 1);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE(written.error().is_retryable);
    const Status moved = (*store)->checkpoint();
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE((*store)->read([](Snapshot& snapshot) { return snapshot.head("s"); }));
    EXPECT_TRUE(SqliteStore::open(place.path(), Access::kReadOnly));
  }
  EXPECT_TRUE(append(**store, "s", 1));
  EXPECT_TRUE((*store)->checkpoint());
}

TEST(SqliteFile, MissingTablesAndACutFileAreErrorsNotCrashes) {
  TempSqliteStore place;
  ASSERT_TRUE(place.open());
  run_sql(place.path(), "DROP TABLE streams");
  {
    auto store = place.open();
    ASSERT_TRUE(store);
    const Status failed = append(**store, "s", 1);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(failed.error().message, HasSubstr("streams"));
  }
  TempSqliteStore cut;
  {
    auto store = SqliteStore::open(cut.path(), Access::kReadWrite);
    ASSERT_TRUE(append(**store, "s", 500));
    ASSERT_TRUE((*store)->checkpoint());
  }
  const std::string whole = read_all(cut.path());
  for (std::size_t size = 1; size < whole.size(); size += 4'096 * 3 + 1'000) {
    for (const char* suffix : {"-wal", "-shm", "-lock"}) std::filesystem::remove(cut.path() + suffix);
    write_all(cut.path(), whole.substr(0, size));
    auto store = SqliteStore::open(cut.path(), Access::kReadWrite);
    const auto verified = store ? (*store)->read([](Snapshot& snapshot) { return verify_all(snapshot); })
                                : Result<VerifyReport>(std::unexpected(store.error()));
    if (verified) {
      EXPECT_FALSE(verified->faults.empty()) << size;
    } else {
      EXPECT_TRUE(verified.error().code == ErrorCode::kCorrupt || verified.error().code == ErrorCode::kIo)
          << verified.error().to_string();
    }
  }
}

// Runs `body` as a user who owns nothing here, because root may write everywhere.
template <class Body>
int as_nobody(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65'534) != 0 || setuid(65'534) != 0)) _exit(100);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST(SqliteFile, ReadOnlyHomeCanBeReadAndReportsWhyItCannotBeWritten) {
  TempSqliteStore place;
  const std::string home = place.directory() + "/home";
  {
    auto store = place.open();
    ASSERT_TRUE(append(**store, "s", 2));
  }
  chmod(place.directory().c_str(), 0755);
  for (const char* suffix : {"", "-wal", "-shm", "-lock"}) chmod((place.path() + suffix).c_str(), 0444);
  chmod(home.c_str(), 0555);
  EXPECT_EQ(as_nobody([&] {
              const auto store = SqliteStore::open(place.path(), Access::kReadOnly);
              if (!store) return 1;
              const auto events = (*store)->read([](Snapshot& snapshot) { return snapshot.events("s", 1, 10); });
              return events && events->size() == 2 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(as_nobody([&] {
              const auto store = SqliteStore::open(place.path(), Access::kReadWrite);
              const Status written = store ? append(**store, "s", 1) : Status(std::unexpected(store.error()));
              if (written) return 1;
              return written.error().code == ErrorCode::kIo && !written.error().remedy.empty() ? 0 : 2;
            }),
            0);
  EXPECT_EQ(as_nobody([&] {
              const auto store = SqliteStore::open(home + "/new/other.db", Access::kReadWrite);
              return !store && store.error().code == ErrorCode::kIo ? 0 : 1;
            }),
            0);
  chmod(home.c_str(), 0755);
}

}  // namespace
}  // namespace sb::store

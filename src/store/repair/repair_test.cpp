// Damage of many kinds to a store's files, and what a repair keeps, loses and says.
#include "store/repair/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "store/repair/log_salvage.hpp"
#include "store/repair/replace.hpp"
#include "store/sqlite/lock_file.hpp"
#include "store/sqlite/sqlite_place.hpp"
#include "store/verify.hpp"

namespace sb::store {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_all(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

using Heads = std::map<std::string, std::int64_t>;

// A store with work in its file and more in its log, whose files can be damaged.
class Place {
 public:
  static constexpr int kStreams = 12;

  Place() {
    auto store = open();
    for (int round = 0; round < 6; ++round) add_round(**store, round);
    EXPECT_TRUE((*store)->checkpoint());
    for (int round = 6; round < 10; ++round) add_round(**store, round);
  }

  static Status advance(Store& store, const std::string& stream, int number) {
    return store.write([&](Transaction& transaction) -> Status {
      const Head head = SB_TRY(transaction.head(stream));
      // Some do not fit into a page.
      const std::size_t size = number % 5 == 4 ? 9'000 : 300;
      const NewEvent event{"advanced", number, stream + std::string(size, 'x')};
      const Head now = SB_TRY(transaction.append(stream, head, {&event, 1}));
      SB_TRY(transaction.put_blob(stream + std::to_string(number) + std::string(200, 'b')));
      return transaction.put("state", stream, std::to_string(now.seq), std::to_string(now.seq % 7));
    });
  }

  Result<std::unique_ptr<SqliteStore>> open(Access access = Access::kReadWrite) {
    SqliteOptions options;
    options.close_checkpoint_bytes = 1 << 30;
    options.vfs = vfs_.name();
    return SqliteStore::open(path(), access, options);
  }

  Result<RepairReport> repair(bool is_dry_run = false) {
    return repair_store(path(), {.is_dry_run = is_dry_run, .busy_wait_ms = 1'000});
  }

  // The last event of each stream; checks that all of it is whole.
  Heads heads() {
    Heads heads;
    auto store = open(Access::kReadOnly);
    EXPECT_TRUE(store) << store.error().to_string();
    if (!store) return heads;
    const Status read = (*store)->read([&](Snapshot& snapshot) -> Status {
      const VerifyReport report = SB_TRY(verify_all(snapshot));
      for (const Error& fault : report.faults) ADD_FAILURE() << fault.to_string();
      for (const std::string& name : SB_TRY(snapshot.streams("", "", 100))) {
        heads[name] = SB_TRY(snapshot.head(name)).seq;
      }
      return {};
    });
    EXPECT_TRUE(read) << read.error().to_string();
    return heads;
  }

  void damage(const std::string& end, std::size_t at, const std::function<char(char)>& change, std::size_t count = 1) {
    std::string bytes = read_all(path() + end);
    for (std::size_t i = at; i < at + count && i < bytes.size(); ++i) bytes[i] = change(bytes[i]);
    write_all(path() + end, bytes);
  }
  void flip(const std::string& end, std::size_t bit) {
    damage(end, bit / 8, [bit](char byte) { return static_cast<char>(byte ^ (1 << (bit % 8))); });
  }
  void zero(const std::string& end, std::size_t at, std::size_t count) {
    damage(end, at, [](char) { return '\0'; }, count);
  }

  std::size_t size(const std::string& end) const { return fs::file_size(path() + end); }
  std::string path() const { return place_.path(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(path()).parent_path())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  static void add_round(Store& store, int round) {
    for (int i = 0; i < kStreams; ++i) EXPECT_TRUE(advance(store, "session/s-" + std::to_string(i), round));
  }

  sqlite::FaultVfs vfs_;
  TempSqliteStore place_;
};

Heads full() {
  Heads heads;
  for (int i = 0; i < Place::kStreams; ++i) heads["session/s-" + std::to_string(i)] = 10;
  return heads;
}

TEST(Repair, WholeStoreIsLeftAlone) {
  Place place;
  const auto before = place.files();
  const auto report = place.repair();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_TRUE(report->found.empty()) << report->found.front();
  EXPECT_EQ(report->events, 120);
  EXPECT_EQ(place.files(), before);
  EXPECT_EQ(place.heads(), full());
}

// In the highest byte of a word several corrections can fit the checksum: the next test but one.
TEST(Repair, OneFlippedBitInTheLogLosesNothing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int round = 0; round < 8; ++round) {
    Place place;
    std::size_t bit = random() % (place.size("-wal") * 8);
    if (bit / 8 % 4 == 3) bit -= 8;
    SCOPED_TRACE(testing::Message() << "bit " << bit);
    place.flip("-wal", bit);
    const auto opened = place.open();
    if (!opened) {
      ++refused;
      EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(opened.error().remedy, HasSubstr("signalbox store repair"));
      EXPECT_THAT(opened.error().remedy, testing::Not(HasSubstr("remove")));
    }
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_TRUE(report->lost.empty());
    EXPECT_EQ(place.heads(), full());
    if (!opened) {
      EXPECT_TRUE(fs::exists(report->aside + "/signalbox.db-wal"));
      EXPECT_FALSE(place.repair()->is_damaged());
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Repair, DamagedMarkOfTheLogLosesNothing) {
  for (const std::size_t bit : {0, 8, 24, 25}) {
    SCOPED_TRACE(testing::Message() << "bit " << bit);
    Place place;
    place.flip("-wal", bit);
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_TRUE(report->lost.empty());
    EXPECT_EQ(place.heads(), full());
  }
}

// The checksum fits several corrections. The frame is the last, so without it there would be no commit.
TEST(Repair, FlippedHighestBitOfAWordInTheLastFrameCostsAtMostItsRow) {
  for (const std::size_t word : {600, 700, 800, 900, 1'000}) {
    SCOPED_TRACE(testing::Message() << "word " << word);
    Place place;
    const std::size_t page = place.size("-wal") - 4'096;
    place.flip("-wal", (page + 4 * word + 3) * 8 + 7);
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_LE(report->lost.size(), 1u);
    for (const auto& [stream, head] : place.heads()) EXPECT_GE(head, report->lost.contains(stream) ? 9 : 10) << stream;
  }
}

// Two neighbouring frames are gone: the pages of one are replaced by later frames, or rows are read from what is left.
TEST(Repair, ZeroedBlockOfTheLogLosesAtMostItsOwnRows) {
  Place place;
  place.zero("-wal", 40 * 1'024, 4'096);
  EXPECT_FALSE(place.open());
  const auto dry = place.repair(true);
  ASSERT_TRUE(dry) << dry.error().to_string();
  EXPECT_TRUE(dry->is_damaged());
  EXPECT_FALSE(place.open()) << "a dry run changed something";
  const auto report = place.repair();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->found, dry->found);
  const Heads heads = place.heads();
  EXPECT_EQ(heads.size(), full().size());
  for (const auto& [stream, head] : heads) {
    EXPECT_GE(head, 6) << "what was in the file is kept";
    const bool is_reported = report->lost.contains(stream);
    EXPECT_EQ(head < 10, is_reported) << stream;
  }
}

TEST(Repair, LogThatWasCutShortIsReportedWithItsStream) {
  Place place;
  fs::resize_file(place.path() + "-wal", 200'000);
  for (const std::string end : {"", "-shm"}) {
    if (!end.empty()) fs::remove(place.path() + end);
  }
  const auto opened = place.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("log was cut short"));
  EXPECT_THAT(opened.error().message, HasSubstr("event 10 of \"session/s-11\""));
  const auto report = place.repair();
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->lost.at("session/s-11").last, 10);
  EXPECT_LT(place.heads().at("session/s-11"), 10);
  auto store = place.open();
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_TRUE(Place::advance(**store, "session/s-11", 1));
}

TEST(Repair, MissingLogIsReported) {
  Place place;
  for (const char* end : {"-wal", "-shm"}) fs::remove(place.path() + end);
  EXPECT_FALSE(place.open());
  EXPECT_FALSE(place.open(Access::kReadOnly));
  ASSERT_TRUE(place.repair());
  for (const auto& [stream, head] : place.heads()) EXPECT_EQ(head, 6) << stream;
}

// SQLite alone would delete the log.
TEST(Repair, EmptiedOrDeletedFileDoesNotCostTheLog) {
  for (const bool is_deleted : {false, true}) {
    Place place;
    const std::size_t log = place.size("-wal");
    is_deleted ? fs::remove(place.path()) : (fs::resize_file(place.path(), 0), true);
    for (const Access access : {Access::kReadWrite, Access::kReadOnly}) {
      const auto opened = place.open(access);
      ASSERT_FALSE(opened);
      EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
    }
    EXPECT_EQ(place.size("-wal"), log);
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_FALSE(report->lost.empty());
    place.heads();
  }
}

TEST(Repair, OlderCopyInPlaceOfTheStoreIsReported) {
  Place place;
  const std::string copy = place.path() + ".copy";
  fs::copy_file(place.path(), copy);
  {
    ASSERT_TRUE((*place.open())->checkpoint());
  }
  fs::copy_file(copy, place.path(), fs::copy_options::overwrite_existing);
  for (const char* end : {"-wal", "-shm"}) fs::remove(place.path() + end);
  const auto opened = place.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("older copy"));
  ASSERT_TRUE(place.repair());
  EXPECT_TRUE(place.open());
}

// Each page of the file in turn is lost.
TEST(Repair, AnyPageOfTheFileMayBeLost) {
  Place whole;
  {
    ASSERT_TRUE((*whole.open())->checkpoint());
  }
  const std::string bytes = read_all(whole.path());
  const std::size_t pages = bytes.size() / 4'096;
  ASSERT_GT(pages, 20u);
  for (std::size_t page = 0; page < pages; page += 7) {
    SCOPED_TRACE(testing::Message() << "page " << page + 1);
    std::string damaged = bytes;
    damaged.replace(page * 4'096, 4'096, 4'096, '\0');
    for (const char* end : {"-wal", "-shm"}) fs::remove(whole.path() + end);
    write_all(whole.path(), damaged);
    const auto report = whole.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    const Heads heads = whole.heads();
    for (const auto& [stream, all] : full()) {
      const auto head = heads.find(stream);
      if (head != heads.end() && head->second == all) continue;
      ASSERT_TRUE(report->lost.contains(stream)) << stream;
      EXPECT_EQ(report->lost.at(stream).last, all) << stream;
      EXPECT_EQ(report->lost.at(stream).kept, head == heads.end() ? 0 : head->second) << stream;
    }
    EXPECT_FALSE(whole.repair()->is_damaged());
    write_all(whole.path(), bytes);
  }
}

// One bit of the first page's own fields, such as where the list of free pages begins.
TEST(Repair, AFlippedBitInTheFilesHeaderLosesNothing) {
  Place whole;
  {
    ASSERT_TRUE((*whole.open())->checkpoint());
  }
  const std::string bytes = read_all(whole.path());
  const std::pair<std::size_t, std::size_t> bits[] = {{18, 7}, {19, 0}, {35, 0}, {35, 1},
                                                      {35, 4}, {39, 0}, {52, 1}, {59, 1}};
  for (const auto& [at, bit] : bits) {
    SCOPED_TRACE(testing::Message() << "byte " << at << ", bit " << bit);
    for (const char* end : {"-wal", "-shm"}) fs::remove(whole.path() + end);
    write_all(whole.path(), bytes);
    whole.flip("", at * 8 + bit);
    const auto report = whole.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_TRUE(report->lost.empty());
    EXPECT_EQ(whole.heads(), full());
  }
}

// The index has the stream, number and position of each event too.
TEST(Repair, EventWhoseNameOrPlaceIsDamagedIsFoundByTheIndex) {
  for (const bool is_place : {false, true}) {
    Place place;
    {
      ASSERT_TRUE((*place.open())->checkpoint());
    }
    for (const char* end : {"-wal", "-shm"}) fs::remove(place.path() + end);
    std::string bytes = read_all(place.path());
    // The row: its size, its place, the size of its header, the header, the stream, the number, the type.
    const std::string name = "session/s-4", type = "advanced";
    std::size_t at = bytes.find(name + '\x05' + type);
    ASSERT_NE(at, bytes.npos);
    if (is_place) {
      std::size_t header = at - 5;
      while (header > at - 20 && (bytes[header] != static_cast<char>(at - header) || bytes[header + 1] != 0)) --header;
      ASSERT_GT(header, at - 20);
      bytes[header - 1] = 3;
    } else {
      bytes.replace(at + 8, 3, "???");
    }
    write_all(place.path(), bytes);
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_TRUE(report->is_damaged());
    EXPECT_TRUE(report->lost.empty());
    EXPECT_EQ(place.heads(), full());
  }
}

// SQLite takes it for a file that only a newer version may write.
TEST(Repair, DamagedWriteVersionIsReportedAsDamage) {
  Place place;
  {
    ASSERT_TRUE((*place.open())->checkpoint());
  }
  for (const char* end : {"-wal", "-shm"}) fs::remove(place.path() + end);
  place.flip("", 18 * 8 + 7);
  const auto store = place.open();
  const Status written = store ? Place::advance(**store, "session/s-1", 20) : std::unexpected(store.error());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(written.error().remedy, HasSubstr("signalbox store repair"));
}

TEST(Repair, TwoRepairsAsideDoNotOverwriteEachOther) {
  Place place;
  place.zero("-wal", 40 * 1'024, 4'096);
  const auto first = place.repair();
  ASSERT_TRUE(first);
  {
    const auto store = place.open();
    ASSERT_TRUE(Place::advance(**store, "session/s-1", 20));
    ASSERT_TRUE((*store)->checkpoint());
  }
  place.zero("", 4'096 * 3, 4'096);
  const auto second = place.repair();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE(first->aside, second->aside);
  EXPECT_TRUE(fs::exists(first->aside + "/signalbox.db"));
  EXPECT_TRUE(fs::exists(second->aside + "/signalbox.db"));
}

TEST(Repair, AFileThatIsNotAStoreIsRefusedAndNotChanged) {
  Place place;
  for (const char* end : {"-wal", "-shm", "-lock"}) fs::remove(place.path() + end);
  write_all(place.path(), std::string(50'000, 'x'));
  const auto report = place.repair();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read_all(place.path()), std::string(50'000, 'x'));
  EXPECT_EQ(place.files(), (std::vector<std::string>{"signalbox.db", "signalbox.db-lock"}));
}

// A kill at each moment of the exchange: the next to open the store finishes it.
TEST(Repair, ExchangeIsFinishedByTheNextProcessThatOpensTheStore) {
  for (int moved = 0; moved <= 4; ++moved) {
    SCOPED_TRACE(testing::Message() << moved << " parts done");
    Place place;
    place.flip("-wal", 100'000 * 8);
    const std::string path = place.path(), aside = path + "-damaged-1", decided = path + "-repaired";
    // What a repair makes, before the exchange.
    Place other;
    ASSERT_TRUE((*other.open())->checkpoint());
    ASSERT_TRUE(repair::make_repair_folder(path));
    fs::copy_file(other.path(), path + "-repair/signalbox.db");
    ASSERT_EQ(repair::decide_replacement(path), aside);
    if (moved >= 1) fs::create_directory(aside);
    if (moved >= 2) fs::rename(path + "-wal", aside + "/signalbox.db-wal");
    if (moved >= 3) fs::create_hard_link(path, aside + "/signalbox.db");
    if (moved >= 4) fs::rename(decided + "/signalbox.db", path);
    EXPECT_EQ(place.heads(), full());
    EXPECT_FALSE(fs::exists(decided));
    EXPECT_TRUE(fs::exists(aside + "/signalbox.db-wal"));
    auto store = place.open();
    ASSERT_TRUE(store);
    EXPECT_TRUE(Place::advance(**store, "session/s-1", 20));
  }
}

// A repair killed before it has decided leaves a folder that the next one deletes.
TEST(Repair, LeftoversOfAnInterruptedRepairAreDeleted) {
  Place place;
  place.zero("-wal", 40 * 1'024, 4'096);
  fs::create_directory(place.path() + "-repair");
  write_all(place.path() + "-repair/signalbox.db", "half");
  EXPECT_FALSE(place.open());
  EXPECT_TRUE(place.repair());
  EXPECT_TRUE(place.open());
  EXPECT_FALSE(fs::exists(place.path() + "-repair"));
}

// Who has the store open writes into the new file, not into the one set aside.
TEST(Repair, ProcessWithTheStoreOpenContinuesWithTheNewFile) {
  Place place;
  int go[2], ready[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    auto store = SqliteStore::open(place.path(), Access::kReadWrite);
    auto reader = SqliteStore::open(place.path(), Access::kReadOnly);
    if (!store || !reader || write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
    const auto head = (*reader)->read([](Snapshot& snapshot) { return snapshot.head("session/s-3"); });
    if (!head) _exit(2);
    _exit(Place::advance(**store, "session/s-3", 77) ? 0 : 3);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  place.zero("-wal", 40 * 1'024, 4'096);
  const auto report = place.repair();
  ASSERT_TRUE(report) << report.error().to_string();
  const std::int64_t before = place.heads().at("session/s-3");
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(place.heads().at("session/s-3"), before + 1);
  for (const int end : {go[0], go[1], ready[0], ready[1]}) close(end);
}

TEST(Repair, StoppedWriterIsNamed) {
  Place place;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    sqlite::LockFile lock(place.path() + "-lock");
    const auto hold = lock.take(1'000);
    if (!hold || write(ready[1], "r", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGSTOP);
  auto store = place.open();
  ASSERT_TRUE(store);
  const Status refused = Place::advance(**store, "session/s-3", 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  if (!fs::exists("/proc/locks")) GTEST_SKIP() << "no /proc/locks";
  EXPECT_THAT(refused.error().message, HasSubstr("process " + std::to_string(child)));
  EXPECT_THAT(refused.error().message, HasSubstr("is stopped"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("kill -CONT " + std::to_string(child)));
  EXPECT_TRUE(Place::advance(**store, "session/s-3", 1));
  for (const int end : ready) close(end);
}

TEST(Repair, OneDamagedByteIsFoundByTheChecksum) {
  std::mt19937 random(7);
  std::string bytes(4'104, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const auto sum_of = [](const std::string& of) {
    sqlite::WalSum sum{3, 5};
    for (std::size_t at = 0; at < of.size(); at += 8) {
      std::uint32_t words[2];
      std::memcpy(words, of.data() + at, sizeof words);
      sum[0] += words[0] + sum[1];
      sum[1] += words[1] + sum[0];
    }
    return sum;
  };
  const sqlite::WalSum wanted = sum_of(bytes);
  for (const std::size_t at : {std::size_t{0}, std::size_t{5}, std::size_t{2'002}, bytes.size() - 2}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] + 77);
    ASSERT_EQ(repair::correct_one_byte(damaged, sum_of(damaged), wanted, false), repair::Correction::kDone);
    EXPECT_EQ(damaged, bytes);
  }
  std::string twice = bytes;
  twice[100] = static_cast<char>(twice[100] + 1);
  twice[900] = static_cast<char>(twice[900] + 1);
  const std::string before = twice;
  EXPECT_EQ(repair::correct_one_byte(twice, sum_of(twice), wanted, false), repair::Correction::kImpossible);
  // Several bytes at the top of their words would do: none is chosen.
  std::string ambiguous = bytes;
  ambiguous[2'003] = static_cast<char>(ambiguous[2'003] + 64);
  EXPECT_EQ(repair::correct_one_byte(ambiguous, sum_of(ambiguous), wanted, false), repair::Correction::kAmbiguous);
  EXPECT_EQ(twice, before);
}

// What SQLite alone would recover from the log is never lost, whatever is damaged in it; and whatever is damaged in the
// file, every stream keeps a whole beginning and a loss is reported.
TEST(Repair, CampaignOfRandomDamage) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  int refused = 0, lossless = 0;
  for (int round = 0; round < 24; ++round) {
    Place place;
    const bool is_log = round % 2 == 0;
    const std::string end = is_log ? "-wal" : "";
    std::string trace = "round " + std::to_string(round);
    std::size_t first = place.size(end);
    const int damages = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < damages; ++i) {
      const std::size_t at = random() % place.size(end);
      first = std::min(first, at);
      const std::size_t count = random() % 3 == 0 ? 1 : random() % 8'192;
      trace += ", " + std::to_string(count) + " at " + std::to_string(at);
      const auto kind = random() % 3;
      place.damage(
          end, at,
          [&](char byte) {
            return kind == 0 ? '\0' : kind == 1 ? static_cast<char>(byte ^ 16) : static_cast<char>(random());
          },
          count);
    }
    SCOPED_TRACE(trace);
    const bool opens = place.open().has_value();
    refused += opens ? 0 : 1;
    const auto report = place.repair();
    ASSERT_TRUE(report) << report.error().to_string();
    const Heads heads = place.heads();
    lossless += heads == full() ? 1 : 0;
    for (const auto& [stream, all] : full()) {
      const auto head = heads.find(stream);
      const std::int64_t kept = head == heads.end() ? 0 : head->second;
      EXPECT_EQ(kept < all, report->lost.contains(stream)) << stream << " has " << kept;
      if (is_log) {
        EXPECT_GE(kept, 6) << "what was in the file is kept";
      }
    }
    auto store = place.open();
    ASSERT_TRUE(store) << store.error().to_string();
    EXPECT_TRUE(Place::advance(**store, "session/s-1", 20));
    store->reset();
    const auto again = place.repair(true);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_FALSE(again->is_damaged()) << again->found.front();
    if (HasFailure()) return;
  }
  RecordProperty("refused", refused);
  RecordProperty("lossless", lossless);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sb::store

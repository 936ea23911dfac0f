#include "store/sqlite/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "store/sqlite/sqlite_place.hpp"

namespace sb::store {
namespace {

using testing::HasSubstr;

class InspectStore : public testing::Test {
 protected:
  void fill(std::int64_t close_checkpoint_bytes, char filler = 'x') {
    SqliteOptions options;
    options.close_checkpoint_bytes = close_checkpoint_bytes;
    const auto store = SqliteStore::open(path(), Access::kReadWrite, options).value();
    ASSERT_TRUE(store->write([&](Transaction& t) { return t.put("things", "a", std::string(50'000, filler)); }));
  }
  std::string path() const { return place_.path(); }
  // All files next to the store with their bytes, except the shared memory, which contains only locks.
  std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(place_.directory() + "/home")) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string name = entry.path().filename().string();
      all[name] = name.ends_with("-shm") ? "" : std::string(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }

  TempSqliteStore place_;
};

TEST_F(InspectStore, CreatesNothingForAMissingStore) {
  EXPECT_EQ(inspect_store(path()).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(place_.directory() + "/home"));
}

TEST_F(InspectStore, ReportsAnIntactStoreWithoutChangingIt) {
  for (const std::int64_t left_in_log : {std::int64_t{1} << 30, std::int64_t{0}}) {
    fill(left_in_log);
    const auto before = everything();
    const auto found = inspect_store(path()).value();
    EXPECT_EQ(found.version, found.newest);
    EXPECT_TRUE(found.is_checked);
    EXPECT_TRUE(found.has_log_read);
    EXPECT_THAT(found.faults, testing::IsEmpty());
    EXPECT_EQ(everything(), before);
  }
}

TEST_F(InspectStore, DoesNotTouchALogThatNoProcessHasOpen) {
  fill(0);
  fill(1 << 30, 'y');
  std::filesystem::remove(path() + "-shm");
  const auto before = everything();
  EXPECT_FALSE(inspect_store(path())->has_log_read);
  EXPECT_EQ(everything(), before);
}

TEST_F(InspectStore, ReportsDamage) {
  fill(0);
  std::filesystem::remove(path() + "-wal");
  std::filesystem::remove(path() + "-shm");
  std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 3);
  file << std::string(4096 * 4, '\x55');
  file.close();
  const auto found = inspect_store(path());
  EXPECT_TRUE(!found || !found->faults.empty());
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << std::string(9000, 'n');
  EXPECT_EQ(inspect_store(path()).error().code, ErrorCode::kCorrupt);
}

// A row that its index does not have: reading by the index finds what the table has not.
TEST_F(InspectStore, ComparesIndexesWithTheirTablesOnlyIfAsked) {
  fill(0);
  for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(path() + end);
  std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = bytes.find("thingsaxxx");
  ASSERT_NE(at, bytes.npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(at + 6));
  file << 'b';
  file.close();
  EXPECT_THAT(inspect_store(path())->faults, testing::IsEmpty());
  EXPECT_THAT(inspect_store(path(), Thoroughness::kFull)->faults, testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace sb::store

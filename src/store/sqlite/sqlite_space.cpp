#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace sb::store::sqlite {
namespace {

// 2 MiB: it is written once into the log.
constexpr const char* kRelease = "PRAGMA incremental_vacuum(512)";

}  // namespace

Result<SpaceReport> SqliteTransaction::release_space() {
  const std::int64_t before = SB_TRY(connection_.value("PRAGMA freelist_count"));
  SB_TRY(connection_.run(kRelease));
  const std::int64_t after = SB_TRY(connection_.value("PRAGMA freelist_count"));
  return SpaceReport{(before - after) * kPageBytes, after * kPageBytes};
}

}  // namespace sb::store::sqlite

// The tables of the SQLite store and its migrations.
//
// PRAGMA application_id marks a file as ours, PRAGMA user_version gives its schema version. A migration upgrades from
// the previous version to its own; it is never changed after a release, only followed by another. Each runs in its own
// transaction. Uses only SQL that PostgreSQL also supports, except for STRICT, AUTOINCREMENT, WITHOUT ROWID and FTS5
// (an array with a GIN index), which have equivalents there.
#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"
#include "store/sqlite/connection.hpp"

namespace sb::store::sqlite {

inline constexpr std::int64_t kApplicationId = 0x53426f78;  // "SBox"
inline constexpr std::int64_t kPageBytes = 4096;            // SQLite's default, which we never change
inline constexpr std::int64_t kIncremental = 2;             // value of PRAGMA auto_vacuum

struct Migration {
  std::int64_t version;
  const char* sql;
};

std::span<const Migration> migrations();

enum class FileState {
  kEmpty,  // no table yet
  kOlder,  // has migrations to run
  kCurrent,
};

// kUnsupported for a file of a newer version, kCorrupt for a file that is not ours.
Result<FileState> file_state(Connection& connection, std::span<const Migration> known);

// Runs pending migrations. The caller keeps other writers away.
Status migrate(Connection& connection, std::span<const Migration> known);

}  // namespace sb::store::sqlite

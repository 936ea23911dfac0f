// The tables of the SQLite store, and how a file of an older version is brought up to date.
//
// PRAGMA application_id says that a file is ours, PRAGMA user_version which tables it has. A migration leads from the
// version before to its own; it is never changed once released, only followed by another. Each runs in a transaction of
// its own. Only SQL that PostgreSQL also knows, save for the words STRICT, AUTOINCREMENT and WITHOUT ROWID, for which
// it has its own.
#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"
#include "store/sqlite/connection.hpp"

namespace sb::store::sqlite {

inline constexpr std::int64_t kApplicationId = 0x53426f78;  // "SBox"

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

// kUnsupported for a file of a newer version, kCorrupt for one that is not ours.
Result<FileState> file_state(Connection& connection, std::span<const Migration> known);

// Runs what is missing. The caller keeps other writers away.
Status migrate(Connection& connection, std::span<const Migration> known);

}  // namespace sb::store::sqlite

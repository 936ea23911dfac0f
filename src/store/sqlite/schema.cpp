#include "store/sqlite/schema.hpp"

#include <fmt/format.h>

namespace sb::store::sqlite {
namespace {

// AUTOINCREMENT, because a position must not be reused after the newest stream was removed: a reader that follows the
// log would miss the second event with that position.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE events(
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  stream TEXT NOT NULL,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  time_ms INTEGER NOT NULL,
  payload BLOB NOT NULL,
  previous BLOB NOT NULL,
  hash BLOB NOT NULL,
  UNIQUE(stream, seq)
) STRICT;

CREATE TABLE streams(
  name TEXT NOT NULL PRIMARY KEY,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projections(
  collection TEXT NOT NULL,
  key TEXT NOT NULL,
  sort TEXT,
  value BLOB NOT NULL,
  PRIMARY KEY(collection, key)
) STRICT;
CREATE INDEX projections_by_sort ON projections(collection, sort, key) WHERE sort IS NOT NULL;

CREATE TABLE blobs(
  hash BLOB NOT NULL PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

-- free_ms: when the work may be taken; while it is leased, the end of the lease.
CREATE TABLE work(
  queue TEXT NOT NULL,
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  free_ms INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  PRIMARY KEY(queue, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_by_time ON work(queue, free_ms, name);

CREATE TABLE counters(
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

// Sessions are listed by their class first (engine/state/rows.hpp), so that the open ones are found among many that
// ended. A damaged record counts as open: it must be seen.
//
// The tag index: `tags` of FTS5 has a document per row of `tagged`, whose ids grow with every put. The tokenizer splits
// at spaces only; positions and lengths are not needed.
constexpr const char* kVersion2 = R"sql(
UPDATE projections SET sort = CASE
    WHEN NOT json_valid(substr(CAST(value AS TEXT), 18)) THEN 'open/'
    WHEN json_extract(substr(CAST(value AS TEXT), 18), '$.status') IN ('complete', 'stopped') THEN 'ended/'
    WHEN coalesce(json_extract(substr(CAST(value AS TEXT), 18), '$.parent_session'), '') <> '' THEN 'child/'
    ELSE 'open/' END || sort
  WHERE collection = 'sessions' AND sort IS NOT NULL;

CREATE TABLE tagged(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE tags USING fts5(names, detail=none, columnsize=0, tokenize="ascii tokenchars '_'");
)sql";

constexpr Migration kMigrations[] = {{1, kVersion1}, {2, kVersion2}};

Status run_one(Connection& connection, const Migration& migration) {
  SB_TRY(connection.run("BEGIN IMMEDIATE"));
  const auto apply = [&]() -> Status {
    SB_TRY(connection.script(migration.sql));
    SB_TRY(connection.script(
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, migration.version)));
    return connection.run("COMMIT");
  };
  const Status applied = apply();
  if (!applied) connection.roll_back();
  return applied;
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}

Result<FileState> file_state(Connection& connection, std::span<const Migration> known) {
  const std::int64_t application = SB_TRY(connection.value("PRAGMA application_id"));
  const std::int64_t version = SB_TRY(connection.value("PRAGMA user_version"));
  const SourceLocation place{connection.path(), {}, 0, 0};
  if (application == 0 && version == 0 && SB_TRY(connection.value("SELECT count(*) FROM sqlite_schema")) == 0) {
    return FileState::kEmpty;
  }
  if (application != kApplicationId || version < 1) {
    return std::unexpected(to_error(SQLITE_NOTADB, connection.path()));
  }
  const std::int64_t newest = known.back().version;
  if (version > newest) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("the store has format {}, written by a newer Signalbox; this version supports formats up to {}",
                    version, newest),
        "Update Signalbox. If no newer one wrote it, it is damaged: signalbox store repair --dry-run.", place);
  }
  return version < newest ? FileState::kOlder : FileState::kCurrent;
}

Status migrate(Connection& connection, std::span<const Migration> known) {
  const std::int64_t version = SB_TRY(connection.value("PRAGMA user_version"));
  for (const Migration& migration : known) {
    if (migration.version > version) SB_TRY(run_one(connection, migration));
  }
  return {};
}

}  // namespace sb::store::sqlite

// One SQLite connection: caches prepared statements and turns result codes into errors people can act on.
//
// Not thread-safe; SqliteStore lets in one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.hpp"
#include "base/result.hpp"
#include "store/checks.hpp"
#include "store/sqlite/lock_file.hpp"

namespace sb::store::sqlite {

// The error for a SQLite result code. `detail` is added if the code alone says too little.
Error to_error(int code, const std::string& path, std::string_view detail = {});

// The same for a file that could not be opened or read, with the system's reason.
Error open_error(int code, const std::string& path, sqlite3* handle);

// Whether the file says that only a newer SQLite may write it, which no version has said yet: the byte is damaged.
bool has_damaged_write_version(sqlite3* handle);

class Connection;

// One execution of a prepared statement. Parameters are numbered from 1, columns from 0. Texts and blobs passed to bind
// must outlive the statement; values returned by the column functions are valid until the next step.
class Statement {
 public:
  Statement(Connection& connection, sqlite3_stmt* handle) : connection_(&connection), handle_(handle) {}
  Statement(Statement&& other) noexcept
      : connection_(other.connection_), handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);
  Statement& bind_null(int index);

  Result<bool> step();  // true if there is a row
  Status run();         // to the end, rows ignored

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  Result<Digest> digest(int column) const;

 private:
  Connection* connection_;
  sqlite3_stmt* handle_;
  int bind_result_ = SQLITE_OK;
};

class Connection {
 public:
  // Opens the file without reading it yet. `flags` are SQLite's.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, int flags, const std::string& vfs,
                                                  int busy_wait_ms);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `sql` must be a literal: its address is the cache key.
  Result<Statement> prepare(const char* sql);
  Status run(const char* sql);                  // one literal without parameters
  Status script(const std::string& sql);        // several statements, not cached
  Result<std::int64_t> value(const char* sql);  // the first column of the first row

  // Rolls back the open transaction, if any.
  void roll_back();

  // The first storage failure since it was last cleared. Until then nothing more is executed: a transaction that met a
  // failure must not commit, even if its caller continued.
  const std::optional<Error>& failure() const { return failure_; }
  void clear_failure() { failure_.reset(); }

  // Whether the file at its path is no longer the one that was opened: it was repaired, replaced or removed.
  bool has_moved() const;

  // Moves as much as readers allow; the caller keeps writers away.
  Status checkpoint();

  // The last event that the open transaction appended; the caller clears it when one begins.
  std::optional<CommitNote>& appended() { return appended_; }

  const std::string& path() const { return path_; }  // as SQLite resolved it
  std::int64_t wal_bytes() const { return wal_bytes_; }
  std::int64_t statements() const { return statements_; }
  std::int64_t unindexed_steps() const;
  sqlite3* handle() const { return handle_; }

 private:
  friend class Statement;
  Connection(sqlite3* handle, std::string path, int busy_wait_ms);
  std::unexpected<Error> failed(int code);

  sqlite3* handle_;
  std::string path_;
  int busy_wait_ms_;
  std::map<const char*, sqlite3_stmt*> cache_;
  std::optional<Error> failure_;
  std::optional<CommitNote> appended_;
  std::int64_t wal_bytes_ = 0;
  std::int64_t statements_ = 0;
};

}  // namespace sb::store::sqlite

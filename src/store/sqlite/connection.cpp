#include "store/sqlite/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"

namespace sb::store::sqlite {
namespace {

struct Meaning {
  ErrorCode code;
  std::string_view message;
  std::string_view remedy;
  bool is_retryable = false;
};

Meaning meaning_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::kIo, "the disk is full; nothing was stored",
              "Free space on the disk that holds it and try again."};
    case SQLITE_IOERR:
      return {ErrorCode::kIo, "reading or writing the store failed", "Check the disk that holds it and try again."};
    case SQLITE_READONLY:
      return {ErrorCode::kIo, "the store is read-only", "Make the file and its directory writable."};
    case SQLITE_CANTOPEN:
      return {ErrorCode::kIo, "the store cannot be opened",
              "Check that its directory exists, is writable and has a path of reasonable length."};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::kIo, "no permission to use the store", "Check the owner and mode of the file."};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {ErrorCode::kUnavailable, "another process kept the store locked too long", "Try again.", true};
    case SQLITE_NOMEM:
      return {ErrorCode::kUnavailable, "out of memory while using the store", "Free memory and try again.", true};
    case SQLITE_CORRUPT:
      return {ErrorCode::kCorrupt, "the store is damaged", kRepairRemedy};
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupt, "the file is not a Signalbox store, or its first page is damaged",
              "If it was one, run signalbox store repair --dry-run. If not, set SIGNALBOX_HOME to another directory."};
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
      return {ErrorCode::kCorrupt, "the store's tables were modified", kRepairRemedy};
    case SQLITE_TOOBIG:
      return {ErrorCode::kLimit, "too large for the store", "Store less in one operation."};
    default:
      return {ErrorCode::kInternal, "the store failed", "Report this as a bug."};
  }
}

// What SQLite calls a file that cannot be opened may be a process that has too many open.
Error with_system_error(Error error, int system_error) {
  if (system_error != EMFILE && system_error != ENFILE) return error;
  error.code = ErrorCode::kUnavailable;
  error.remedy = "Allow more open files (ulimit -n 256) and try again.";
  return error;
}

int note_wal_pages(void* bytes, sqlite3*, const char*, int pages) {
  *static_cast<std::int64_t*>(bytes) = pages * std::int64_t{4096};
  return SQLITE_OK;
}

}  // namespace

Error to_error(int code, const std::string& path, std::string_view detail) {
  const Meaning meaning = meaning_of(code);
  std::string message(meaning.message);
  if (!detail.empty()) message += fmt::format(" ({})", detail);
  return {meaning.code, std::move(message), std::string(meaning.remedy), SourceLocation{path, {}, 0, 0},
          meaning.is_retryable};
}

Error open_error(int code, const std::string& path, sqlite3* handle) {
  const bool system_knows = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const int system_error = handle && system_knows ? sqlite3_system_errno(handle) : 0;
  return with_system_error(to_error(code, path, system_error ? std::strerror(system_error) : ""), system_error);
}

bool has_damaged_write_version(sqlite3* handle) {
  constexpr int kPlace = 18;
  constexpr unsigned char kNewest = 2;
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  unsigned char version = 0;
  return code == SQLITE_OK && file && file->pMethods && file->pMethods->xRead(file, &version, 1, kPlace) == SQLITE_OK &&
         (version == 0 || version > kNewest);
}

Statement::~Statement() {
  if (!handle_) return;
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

Statement& Statement::bind(int index, std::int64_t value) {
  bind_result_ = std::max(bind_result_, sqlite3_bind_int64(handle_, index, value));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  const char* data = text.data() ? text.data() : "";
  bind_result_ =
      std::max(bind_result_, sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  const char* data = bytes.data() ? bytes.data() : "";  // a null pointer would be stored as NULL
  bind_result_ = std::max(bind_result_, sqlite3_bind_blob64(handle_, index, data, bytes.size(), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_null(int index) {
  bind_result_ = std::max(bind_result_, sqlite3_bind_null(handle_, index));
  return *this;
}

Result<bool> Statement::step() {
  if (bind_result_ != SQLITE_OK) return connection_->failed(bind_result_);
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->failed(code);
}

Status Statement::run() {
  while (SB_TRY(step())) {
  }
  return {};
}

std::string_view Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return {data ? data : "", static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

Result<Digest> Statement::digest(int column) const {
  const std::string_view stored = bytes(column);
  Digest digest;
  if (stored.size() != digest.size()) return std::unexpected(to_error(SQLITE_CORRUPT, connection_->path()));
  std::memcpy(digest.data(), stored.data(), digest.size());
  return digest;
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, int flags, const std::string& vfs,
                                                     int busy_wait_ms) {
  // Debian's SQLite reads names that start with "file:" as URIs, and does not treat ":memory:" as a file.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) {
    Error error = open_error(code, path, handle);
    sqlite3_close(handle);
    return std::unexpected(std::move(error));
  }
  return std::unique_ptr<Connection>(new Connection(handle, sqlite3_db_filename(handle, "main"), busy_wait_ms));
}

Connection::Connection(sqlite3* handle, std::string path, int busy_wait_ms)
    : handle_(handle), path_(std::move(path)), busy_wait_ms_(busy_wait_ms) {
  sqlite3_busy_timeout(handle_, busy_wait_ms_);
  // Our hook also replaces the one that would checkpoint automatically.
  sqlite3_wal_hook(handle_, note_wal_pages, &wal_bytes_);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Another program may have edited the file: nothing in its schema may run code here.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

Connection::~Connection() {
  for (const auto& [sql, statement] : cache_) sqlite3_finalize(statement);
  const int code = sqlite3_close(handle_);
  SB_ASSERT(code == SQLITE_OK);
}

Result<Statement> Connection::prepare(const char* sql) {
  // On a full disk SQLite ends the transaction by itself; later statements would be committed separately.
  if (failure_) return std::unexpected(*failure_);
  sqlite3_stmt*& statement = cache_[sql];
  if (!statement) {
    const int code = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return failed(code);
  }
  ++statements_;
  return Statement(*this, statement);
}

Status Connection::run(const char* sql) {
  return SB_TRY(prepare(sql)).run();
}

Status Connection::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return {};
}

Result<std::int64_t> Connection::value(const char* sql) {
  Statement statement = SB_TRY(prepare(sql));
  if (!SB_TRY(statement.step())) return failed(SQLITE_CORRUPT);
  const std::int64_t value = statement.integer(0);
  SB_TRY(statement.run());
  return value;
}

std::int64_t Connection::unindexed_steps() const {
  std::int64_t steps = 0;
  for (const auto& [sql, statement] : cache_) {
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_SORT, 0);
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_AUTOINDEX, 0);
  }
  return steps;
}

void Connection::roll_back() {
  // After some failures SQLite has already rolled back.
  clear_failure();
  if (!sqlite3_get_autocommit(handle_)) (void)run("ROLLBACK");
}

bool Connection::has_moved() const {
  int has_moved = 0;
  const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return code == SQLITE_OK && has_moved != 0;
}

Status Connection::checkpoint() {
  // Does not wait for readers: what they still need stays in the WAL and is moved next time.
  sqlite3_busy_timeout(handle_, 0);
  int frames = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle_, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, nullptr);
  sqlite3_busy_timeout(handle_, busy_wait_ms_);
  if (code == SQLITE_OK) wal_bytes_ = 0;
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return {};
  return std::unexpected(to_error(code, path_));
}

std::unexpected<Error> Connection::failed(int code) {
  const int system_error = sqlite3_system_errno(handle_);
  const bool system_knows = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const bool schema_knows = (code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_CONSTRAINT;
  std::string detail;
  if (system_knows && system_error) detail = std::strerror(system_error);
  if (schema_knows) detail = sqlite3_errmsg(handle_);
  const bool is_damaged = (code & 0xff) == SQLITE_READONLY && has_damaged_write_version(handle_);
  Error error = to_error(is_damaged ? SQLITE_CORRUPT : code, path_, is_damaged ? "its header" : detail);
  if (system_knows) error = with_system_error(std::move(error), system_error);
  if (!failure_) failure_ = error;
  return std::unexpected(std::move(error));
}

}  // namespace sb::store::sqlite

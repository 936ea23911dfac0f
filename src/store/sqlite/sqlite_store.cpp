#include "store/sqlite/sqlite_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "store/repair/replace.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/lock_file.hpp"
#include "store/sqlite/lock_holder.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_transaction.hpp"
#include "store/sqlite/wal_check.hpp"

namespace sb::store {
namespace {

using sqlite::Connection;
using sqlite::FileState;
using sqlite::LockFile;

constexpr off_t kLeastLogBytes = 512;  // a shorter one has no page

std::unexpected<Error> missing(const std::string& path) {
  return fail(ErrorCode::kNotFound, "there is no store yet", "It is created when something is first stored.",
              SourceLocation{path, {}, 0, 0});
}

std::unexpected<Error> not_a_file(const std::string& path, bool is_directory) {
  return fail(ErrorCode::kIo,
              is_directory ? "there is a directory in place of the store" : "the store is not a regular file",
              "Move it away, or set SIGNALBOX_HOME to another directory.", SourceLocation{path, {}, 0, 0});
}

// SQLite takes a file of one byte for an empty one and would overwrite it.
Status check_kind(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return not_a_file(path, S_ISDIR(info.st_mode));
  if (info.st_size == 1) return std::unexpected(sqlite::to_error(SQLITE_NOTADB, path));
  return {};
}

Status check_present(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return missing(path);
    return fail(ErrorCode::kIo, fmt::format("cannot access the store ({})", std::strerror(errno)),
                "Check the mode of its directory.", SourceLocation{path, {}, 0, 0});
  }
  SB_TRY(check_kind(path, info));
  if (info.st_size == 0) return missing(path);
  return {};
}

// SQLite deletes the log of an empty file. A store's file is never empty once it has a log.
Status check_not_emptied(const std::string& path) {
  struct stat file{}, log{};
  const bool is_empty = stat(path.c_str(), &file) != 0 ? errno == ENOENT : S_ISREG(file.st_mode) && file.st_size == 0;
  if (!is_empty || stat((path + "-wal").c_str(), &log) != 0 || log.st_size <= kLeastLogBytes) return {};
  return fail(ErrorCode::kCorrupt, "the store's file is empty or missing, but its log has commits",
              std::string(kRepairRemedy), SourceLocation{path, {}, 0, 0});
}

// A new directory is durable only when its parent is synced; otherwise the store in it could be lost too.
Status make_directory(const std::string& directory) {
  SystemFiles files;
  if (directory.empty() || files.kind(directory) == FileKind::kDirectory) return {};
  const std::string parent = parent_path(directory);
  SB_TRY(make_directory(parent));
  SB_TRY(files.make_directories(directory, 0700));
  const int descriptor = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return {};  // can be entered but not read: nothing we can do
  fsync(descriptor);
  ::close(descriptor);
  return {};
}

// SQLite would create the file world-readable, so create it here; SQLite gives its other files the same mode.
Status make_file(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) return check_kind(path, info);
  SB_TRY(make_directory(parent_path(path)));
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const bool has_too_many = errno == EMFILE || errno == ENFILE;
    return fail(has_too_many ? ErrorCode::kUnavailable : ErrorCode::kIo,
                fmt::format("cannot create the store ({})", std::strerror(errno)),
                has_too_many ? "Allow more open files (ulimit -n 256) and try again."
                             : "Make its directory writable, or set SIGNALBOX_HOME to another directory.",
                SourceLocation{path, {}, 0, 0});
  }
  ::close(descriptor);
  return {};
}

Status set_up_writing(Connection& connection) {
  SB_TRY(connection.run("PRAGMA synchronous=FULL"));
  sqlite::Statement mode = SB_TRY(connection.prepare("PRAGMA journal_mode=WAL"));
  const bool answered = SB_TRY(mode.step());
  if (answered && mode.bytes(0) == "wal") return {};
  return fail(ErrorCode::kIo, "the store's file system does not support shared memory, which its log needs",
              "Keep the store on a local disk.", SourceLocation{connection.path(), {}, 0, 0});
}

// The process that creates the file holds the lock: a half-created file is not a store yet, and is checked again later.
Result<FileState> settled_state(Connection& connection, LockFile& lock, int wait_ms) {
  auto state = sqlite::file_state(connection, sqlite::migrations());
  if (state || state.error().code != ErrorCode::kCorrupt) return state;
  const auto hold = lock.take(wait_ms);
  if (!hold) return state;
  return sqlite::file_state(connection, sqlite::migrations());
}

Status bring_up_to_date(Connection& connection, LockFile& lock, int wait_ms) {
  const auto known = sqlite::migrations();
  if (SB_TRY(settled_state(connection, lock, wait_ms)) == FileState::kCurrent) return set_up_writing(connection);
  const auto hold = SB_TRY(lock.take(wait_ms));
  // Takes effect in a file that is still empty.
  SB_TRY(connection.run("PRAGMA auto_vacuum=INCREMENTAL"));
  SB_TRY(set_up_writing(connection));
  return sqlite::migrate(connection, known);
}

// A repair that was interrupted after it was decided is finished by the process that opens the store next.
Status finish_repair(const std::string& path, int wait_ms) {
  const std::string real = SystemFiles().canonical(path).value_or(path);
  if (!repair::is_replacement_decided(real)) return {};
  LockFile lock(real + "-lock");
  const auto hold = SB_TRY(lock.take(wait_ms));
  lock.clear_note();
  return repair::finish_replacement(real);
}

// Programs that do not use our lock can still hold SQLite's own.
Status begin_writing(Connection& connection) {
  Status begun = connection.run("BEGIN IMMEDIATE");
  if (begun || begun.error().code != ErrorCode::kUnavailable) return begun;
  const auto holder = sqlite::holder_of_write_lock(connection.path() + "-shm");
  if (!holder) return begun;
  begun.error().message = fmt::format("the store is locked by {}", holder->to_string());
  begun.error().remedy = holder->remedy();
  return begun;
}

// Records the thread inside the store and, whatever happens there, leaves no transaction open.
class Inside {
 public:
  Inside(std::atomic<std::thread::id>& inside, Connection& connection) : inside_(inside), connection_(connection) {
    inside_ = std::this_thread::get_id();
  }
  ~Inside() {
    connection_.roll_back();
    inside_ = std::thread::id();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::atomic<std::thread::id>& inside_;
  Connection& connection_;
};

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, Access access, SqliteOptions options) {
  if (path.empty() || path.find('\0') != path.npos) return fail(ErrorCode::kInvalid, "invalid store path");
  const bool writes = access == Access::kReadWrite;
  SB_TRY(finish_repair(path, options.busy_wait_ms));
  SB_TRY(check_not_emptied(path));
  SB_TRY(writes ? make_file(path) : check_present(path));
  auto connection = SB_TRY(
      Connection::open(path, writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, options.vfs, options.busy_wait_ms));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(connection), access, options));
  if (writes) {
    SB_TRY(bring_up_to_date(*store->connection_, *store->lock_, options.busy_wait_ms));
    SB_TRY(store->check_log());
    SB_TRY(store->check_note());
    return store;
  }
  const FileState state = SB_TRY(settled_state(*store->connection_, *store->lock_, options.busy_wait_ms));
  if (state == FileState::kEmpty) return missing(path);
  if (state == FileState::kCurrent) {
    SB_TRY(store->check_log());
    SB_TRY(store->check_note());
    return store;
  }
  store.reset();
  SB_TRY(open(path, Access::kReadWrite, options));
  return open(path, access, options);
}

SqliteStore::SqliteStore(std::unique_ptr<Connection> connection, Access access, SqliteOptions options)
    : access_(access),
      options_(std::move(options)),
      connection_(std::move(connection)),
      lock_(std::make_unique<LockFile>(connection_->path() + "-lock")),
      checkpoint_at_bytes_(options_.checkpoint_bytes) {}

// While others write and checkpoint, intact frames can look lost; with writers locked out and the log pinned they
// cannot.
Status SqliteStore::check_log() {
  if (sqlite::check_wal(*connection_)) return {};
  const auto hold = lock_->take(options_.busy_wait_ms);
  if (!hold) return {};
  SB_TRY(connection_->run("BEGIN"));
  const Inside inside(inside_, *connection_);
  SB_TRY(connection_->value("SELECT count(*) FROM sqlite_schema"));
  return sqlite::check_wal(*connection_);
}

// The note is read first, so commits made meanwhile only help.
Status SqliteStore::check_note() {
  const auto note = sqlite::read_note(connection_->path() + "-lock");
  if (!note) return {};
  const std::int64_t last =
      SB_TRY(connection_->value("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"));
  if (last >= note->position) return {};
  return fail(ErrorCode::kCorrupt,
              fmt::format("the store ends before event {} of \"{}\", which it had confirmed: its log was cut short or "
                          "removed, or an older copy was put in its place",
                          note->seq, note->stream),
              std::string(kRepairRemedy), SourceLocation{connection_->path(), {}, 0, 0});
}

Status SqliteStore::follow_replacement() {
  const std::string path = connection_->path();
  if (repair::is_replacement_decided(path)) {
    lock_->clear_note();
    SB_TRY(repair::finish_replacement(path));
  }
  return continue_with_new_file();
}

Status SqliteStore::continue_with_new_file() {
  if (!connection_->has_moved()) return {};
  const bool writes = access_ == Access::kReadWrite;
  auto fresh = SB_TRY(Connection::open(connection_->path(), writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY,
                                       options_.vfs, options_.busy_wait_ms));
  if (SB_TRY(sqlite::file_state(*fresh, sqlite::migrations())) != FileState::kCurrent) return missing(fresh->path());
  if (writes) SB_TRY(set_up_writing(*fresh));
  connection_ = std::move(fresh);
  return {};
}

SqliteStore::~SqliteStore() {
  if (connection_->has_moved()) return;
  // A process that holds the lock now will close after us and do the checkpoint.
  if (connection_->wal_bytes() <= options_.close_checkpoint_bytes) return;
  if (const auto hold = lock_->take(0)) (void)checkpoint_locked();
}

Result<std::unique_lock<std::mutex>> SqliteStore::enter() {
  if (inside_.load() == std::this_thread::get_id()) {
    return fail(ErrorCode::kInternal, "the store was called from inside its own transaction", "Report this as a bug.");
  }
  return std::unique_lock(mutex_);
}

Status SqliteStore::run_write(const std::function<Status(Transaction&)>& work) {
  if (access_ == Access::kReadOnly) {
    return fail(ErrorCode::kForbidden, "the store was opened read-only", "",
                SourceLocation{connection_->path(), {}, 0, 0});
  }
  const auto turn = SB_TRY(enter());
  const auto hold = SB_TRY(lock_->take(options_.busy_wait_ms));
  SB_TRY(follow_replacement());
  SB_TRY(commit(work));
  checkpoint_when_long();
  return {};
}

Status SqliteStore::commit(const std::function<Status(Transaction&)>& work) {
  connection_->clear_failure();
  connection_->appended().reset();
  SB_TRY(begin_writing(*connection_));
  const Inside inside(inside_, *connection_);
  sqlite::SqliteTransaction transaction(*connection_);
  SB_TRY(work(transaction));
  if (connection_->failure()) return std::unexpected(*connection_->failure());
  SB_TRY(connection_->run("COMMIT"));
  if (connection_->appended()) lock_->write_note(*connection_->appended());
  return {};
}

Status SqliteStore::run_read(const std::function<Status(Snapshot&)>& work) {
  const auto turn = SB_TRY(enter());
  SB_TRY(continue_with_new_file());
  connection_->clear_failure();
  SB_TRY(connection_->run("BEGIN"));
  const Inside inside(inside_, *connection_);
  sqlite::SqliteTransaction transaction(*connection_);
  return work(transaction);
}

Status SqliteStore::checkpoint() {
  const auto turn = SB_TRY(enter());
  const auto hold = SB_TRY(lock_->take(options_.busy_wait_ms));
  SB_TRY(follow_replacement());
  return checkpoint_locked();
}

// Longer than any process sleeps between two attempts to take the lock.
void SqliteStore::give_way() {
  sqlite::pause_us(sqlite::kLongestPauseUs + 1'000);
}

// SQLite can move pages to the front only in a file that records where each page is referred to. New files do from the
// start; older ones must be rewritten once.
Result<SpaceReport> SqliteStore::make_space_releasable(std::int64_t most_bytes) {
  const auto turn = SB_TRY(enter());
  connection_->clear_failure();
  const std::int64_t pages = SB_TRY(connection_->value("PRAGMA page_count"));
  const std::int64_t unused = SB_TRY(connection_->value("PRAGMA freelist_count"));
  const SpaceReport unchanged{0, unused * sqlite::kPageBytes};
  if (SB_TRY(connection_->value("PRAGMA auto_vacuum")) == sqlite::kIncremental) return unchanged;
  if ((pages - unused) * sqlite::kPageBytes > most_bytes) return unchanged;
  const auto hold = SB_TRY(lock_->take(options_.busy_wait_ms));
  SB_TRY(connection_->run("PRAGMA auto_vacuum=INCREMENTAL"));
  SB_TRY(connection_->run("VACUUM"));
  SB_TRY(checkpoint_locked());
  return SpaceReport{unchanged.unused, 0};
}

Status SqliteStore::checkpoint_locked() {
  ++checkpoints_;
  return connection_->checkpoint();
}

// A failure here does not fail the write: its commit is durable, and the WAL keeps what could not be moved.
void SqliteStore::checkpoint_when_long() {
  if (connection_->wal_bytes() <= options_.checkpoint_bytes) checkpoint_at_bytes_ = options_.checkpoint_bytes;
  if (connection_->wal_bytes() <= checkpoint_at_bytes_) return;
  (void)checkpoint_locked();
  // If a reader held back part of the WAL, the next commit would only meet the same reader.
  checkpoint_at_bytes_ = connection_->wal_bytes() + options_.checkpoint_bytes;
}

SqliteStats SqliteStore::cost() const {
  const std::lock_guard turn(mutex_);
  return {connection_->statements(), connection_->unindexed_steps(), checkpoints_};
}

}  // namespace sb::store

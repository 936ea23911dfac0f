#include "store/sqlite/inspect.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "base/files.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/schema.hpp"

namespace sb::store {
namespace {

constexpr std::uint64_t kCheckedBytes = 512u << 20;  // takes a few seconds
constexpr int kWaitMs = 2'000;

struct Closed {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
struct Finalized {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, Closed>;

std::string as_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                          c == '.' || c == '-' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri;
}

// Immutable: SQLite then reads only the file, takes no lock and creates no files.
Result<Handle> open_file(const std::string& path, bool is_immutable) {
  const std::string uri = as_uri(path) + (is_immutable ? "?immutable=1" : "?mode=ro");
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) return std::unexpected(sqlite::open_error(code, path, raw));
  sqlite3_busy_timeout(raw, kWaitMs);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return handle;
}

// The first column of each row.
Result<std::vector<std::string>> column(sqlite3* handle, const std::string& path, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (const int code = sqlite3_prepare_v2(handle, sql, -1, &raw, nullptr); code != SQLITE_OK) {
    return std::unexpected(sqlite::open_error(code, path, handle));
  }
  const std::unique_ptr<sqlite3_stmt, Finalized> statement(raw);
  std::vector<std::string> rows;
  int code = sqlite3_step(raw);
  for (; code == SQLITE_ROW; code = sqlite3_step(raw)) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
    rows.emplace_back(text ? text : "");
  }
  if (code != SQLITE_DONE) return std::unexpected(sqlite::open_error(code, path, handle));
  return rows;
}

Result<std::int64_t> number(sqlite3* handle, const std::string& path, const char* sql) {
  const auto rows = SB_TRY(column(handle, path, sql));
  return rows.empty() ? 0 : std::strtoll(rows.front().c_str(), nullptr, 10);
}

}  // namespace

Result<Inspection> inspect_store(const std::string& path, Thoroughness thoroughness) {
  const SystemFiles files;
  const FileStatus file = files.status(path);
  const FileStatus log = files.status(path + "-wal");
  const bool has_log = log.kind == FileKind::kFile && log.size > 0;
  if (has_log && (file.kind == FileKind::kMissing || file.size == 0)) {
    return fail(ErrorCode::kCorrupt, "the store's file is empty or missing, but it has a log",
                std::string(kRepairRemedy), {path, "", 0, 0});
  }
  if (file.kind == FileKind::kMissing || (file.kind == FileKind::kFile && file.size == 0)) {
    return fail(ErrorCode::kNotFound, "there is no store yet", "It is created when something is first stored",
                {path, "", 0, 0});
  }
  if (file.kind != FileKind::kFile) {
    return fail(ErrorCode::kIo, "the store is not a regular file", "Move it away", {path, "", 0, 0});
  }
  const bool is_shared = has_log && files.kind(path + "-shm") == FileKind::kFile;
  Inspection found{.bytes = file.size + log.size, .has_log_read = is_shared || !has_log};
  const Handle handle = SB_TRY(open_file(path, !is_shared));
  if (SB_TRY(number(handle.get(), path, "PRAGMA application_id")) != sqlite::kApplicationId) {
    return fail(ErrorCode::kCorrupt, "not a Signalbox store, or its first page is damaged",
                "If it was one, run signalbox store repair --dry-run; if not, move it away", {path, "", 0, 0});
  }
  found.version = SB_TRY(number(handle.get(), path, "PRAGMA user_version"));
  found.newest = sqlite::migrations().back().version;
  const bool is_full = thoroughness == Thoroughness::kFull;
  if (!is_full && found.bytes > kCheckedBytes) return found;
  found.faults = SB_TRY(column(handle.get(), path, is_full ? "PRAGMA integrity_check(5)" : "PRAGMA quick_check(5)"));
  if (found.faults == std::vector<std::string>{"ok"}) found.faults.clear();
  // SQLite still reads such a file, but does not write it. A log has the first page of its own.
  if (!has_log && sqlite::has_damaged_write_version(handle.get())) found.faults.emplace_back("its header is damaged");
  found.is_checked = true;
  return found;
}

}  // namespace sb::store

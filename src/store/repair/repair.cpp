#include "store/repair/repair.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"
#include "store/repair/image.hpp"
#include "store/repair/replace.hpp"
#include "store/repair/row_salvage.hpp"
#include "store/sqlite/lock_file.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sb::store {
namespace {

using repair::Image;
using repair::Traces;
using sqlite::CommitNote;
using sqlite::Connection;
using sqlite::LockFile;
using sqlite::Statement;

using Texts = std::vector<std::string>;

constexpr int kShownFaults = 5;

Result<Texts> texts(Connection& connection, const char* sql) {
  Statement statement = SB_TRY(connection.prepare(sql));
  Texts rows;
  while (SB_TRY(statement.step())) rows.emplace_back(statement.bytes(0));
  return rows;
}

// The objects of a store that is as new as this program.
Result<Texts> schema_of(Connection& connection) {
  return texts(connection, "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY type, name");
}

// One row may report several faults.
Texts lines_of(const Texts& rows) {
  Texts lines;
  for (const std::string& row : rows) {
    for (std::size_t at = 0; at < row.size();) {
      const std::size_t end = std::min(row.find('\n', at), row.size());
      std::string line = row.substr(at, end - at);
      if (line != "ok" && !line.empty() && !line.starts_with("***")) lines.push_back(std::move(line));
      at = end + 1;
    }
  }
  return lines;
}

// One repair of one store, in FILE-repair/. The caller holds the lock.
class Repair {
 public:
  Repair(std::string path, const RepairOptions& options, LockFile& lock)
      : path_(std::move(path)),
        folder_(repair::folder_for_repair(path_)),
        copy_(join_path(folder_, base_name(path_))),
        options_(options),
        lock_(lock) {}

  Result<RepairReport> run();

 private:
  void describe_log();
  void trace_log();
  Status make_empty_store();
  Result<bool> is_sound();
  Result<Texts> faults_of(Connection& connection);
  Status copy_rows();
  Status fix(const std::optional<CommitNote>& note);
  Status check_confirmed(Connection& connection, const CommitNote& note);
  Status rebuild();
  Status replace();

  std::string path_, folder_, copy_;
  const RepairOptions& options_;
  LockFile& lock_;
  std::unique_ptr<Image> image_;
  bool is_sound_ = false;
  Traces traces_;
  RepairReport report_;
};

void Repair::describe_log() {
  if (!image_->has_damaged_log()) return;
  const repair::LogSalvage& log = image_->log();
  std::string text = fmt::format("the log is damaged at frame {} of {}", log.first_damaged(), log.frames());
  if (log.corrected() > 0) text += fmt::format("; {} could be corrected", log.corrected());
  const std::size_t lost = log.bad().size();
  if (lost > log.doubtful().size()) text += fmt::format("; {} replaced by later ones", lost - log.doubtful().size());
  if (!log.doubtful().empty()) text += fmt::format("; {} lost", log.doubtful().size());
  report_.found.push_back(std::move(text));
}

void Repair::trace_log() {
  const auto read = [this](std::uint32_t number) { return image_->page(number); };
  for (const auto& page : image_->damaged_pages()) traces_.add(page.number, page.bytes, read);
}

Status Repair::make_empty_store() {
  auto store = SB_TRY(SqliteStore::open(join_path(folder_, "empty.db"), Access::kReadWrite));
  return store->checkpoint();
}

Result<Texts> Repair::faults_of(Connection& connection) {
  const std::int64_t version = SB_TRY(connection.value("PRAGMA user_version"));
  const std::int64_t newest = sqlite::migrations().back().version;
  auto empty = SB_TRY(Connection::open(join_path(folder_, "empty.db"), SQLITE_OPEN_READWRITE, "", 0));
  const Texts wanted = SB_TRY(schema_of(*empty));
  const Texts found = SB_TRY(schema_of(connection));
  const bool has_all =
      std::ranges::all_of(wanted, [&](const std::string& one) { return std::ranges::find(found, one) != found.end(); });
  if (version > newest && !has_all) {
    return fail(ErrorCode::kUnsupported, fmt::format("the store has format {}, written by a newer Signalbox", version),
                "Repair it with that version.", SourceLocation{path_, {}, 0, 0});
  }
  if (version == newest && !has_all) return Texts{"its tables were modified"};
  if (version > newest || version < 1) return Texts{"its version is damaged"};
  const std::string first = image_->page(1);
  const bool is_writable = first.size() > 20 && (first[18] == 1 || first[18] == 2) && first[19] == first[18];
  if (!is_writable) return Texts{"its header is damaged"};
  if (SB_TRY(connection.value("PRAGMA application_id")) != sqlite::kApplicationId)
    return Texts{"its application id is damaged"};
  return lines_of(SB_TRY(texts(connection, "PRAGMA integrity_check(5)")));
}

// Whether SQLite can read all of the copy.
Result<bool> Repair::is_sound() {
  auto connection = SB_TRY(Connection::open(copy_, SQLITE_OPEN_READWRITE, "", 0));
  const auto faults = faults_of(*connection);
  if (!faults && faults.error().code != ErrorCode::kCorrupt) return std::unexpected(faults.error());
  if (faults && faults->empty()) return true;
  const Texts shown = faults ? *faults : Texts{"SQLite cannot read it"};
  for (std::size_t i = 0; i < shown.size() && i < kShownFaults; ++i) {
    report_.found.push_back(fmt::format("the file is damaged: {}", shown[i]));
  }
  return false;
}

Status Repair::copy_rows() {
  const std::string empty = join_path(folder_, "empty.db");
  {
    auto connection = SB_TRY(Connection::open(empty, SQLITE_OPEN_READWRITE, "", 0));
    const repair::RowSource source{image_->pages(), [this](std::uint32_t number) { return image_->page(number); },
                                   image_->damaged_pages()};
    SB_TRY(repair::copy_rows(source, *connection, traces_));
    const std::int64_t rows = SB_TRY(connection->value("SELECT count(*) FROM events")) +
                              SB_TRY(connection->value("SELECT count(*) FROM projections"));
    if (rows == 0) {
      return fail(ErrorCode::kCorrupt, "the file contains no part of a Signalbox store; nothing was changed",
                  "Restore it from a backup, or move it away to start with an empty store.",
                  SourceLocation{path_, {}, 0, 0});
    }
    SB_TRY(connection->checkpoint());
  }
  for (const std::string_view end : {"-wal", "-shm"}) SB_TRY(SystemFiles().remove(copy_ + std::string(end)));
  if (::rename(empty.c_str(), copy_.c_str()) != 0) return fail(ErrorCode::kIo, "cannot rename the repaired store");
  for (const std::string_view end : {"-wal", "-shm"}) SB_TRY(SystemFiles().remove(empty + std::string(end)));
  return {};
}

// The store ends before a commit that was confirmed: its log was cut short, or an old copy is in its place.
Status Repair::check_confirmed(Connection& connection, const CommitNote& note) {
  const std::int64_t last =
      SB_TRY(connection.value("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"));
  if (last >= note.position) return {};
  const auto read = [this](std::uint32_t number) { return image_->page(number); };
  for (const auto& page : image_->tail_pages()) traces_.add(page.number, page.bytes, read);
  std::int64_t& head = traces_.heads[note.stream];
  head = std::max(head, note.seq);
  if (is_sound_) {
    report_.found.push_back(fmt::format(
        "{} confirmed events at the end are missing: the log was cut short, removed or damaged there, or an "
        "older copy is in its place",
        note.position - last));
  }
  // Numbers of lost events are not used again: programs remember up to where they have read.
  Statement sequence = SB_TRY(connection.prepare("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'events'"));
  SB_TRY(sequence.bind(1, note.position).run());
  if (sqlite3_changes(connection.handle()) > 0) return {};
  Statement first = SB_TRY(connection.prepare("INSERT INTO sqlite_sequence(name, seq) VALUES('events', ?1)"));
  return first.bind(1, note.position).run();
}

Status Repair::fix(const std::optional<CommitNote>& note) {
  auto connection = SB_TRY(Connection::open(copy_, SQLITE_OPEN_READWRITE, "", 0));
  if (note) SB_TRY(check_confirmed(*connection, *note));
  SB_TRY(repair::fix_chains(*connection, traces_.heads, is_sound_, report_));
  for (auto& [stream, lost] : report_.lost) {
    for (const auto& [seq, type] : traces_.types[stream]) {
      if (seq > lost.kept && seq <= lost.last) lost.types[seq] = type;
    }
  }
  return connection->checkpoint();
}

Status Repair::rebuild() {
  if (!options_.rebuild) return {};
  auto store = SB_TRY(SqliteStore::open(copy_, Access::kReadWrite));
  SB_TRY(options_.rebuild(*store, report_));
  return store->checkpoint();
}

Status Repair::replace() {
  SystemFiles files;
  for (const std::string& name : SB_TRY(files.list(folder_))) {
    if (name != base_name(path_)) SB_TRY(files.remove(join_path(folder_, name)));
  }
  SB_TRY(repair::sync_path(copy_));
  report_.aside = SB_TRY(repair::decide_replacement(path_));
  lock_.clear_note();
  return repair::finish_replacement(path_);
}

Result<RepairReport> Repair::run() {
  SB_TRY(repair::make_repair_folder(path_));
  image_ = SB_TRY(Image::make(path_, copy_));
  describe_log();
  trace_log();
  SB_TRY(make_empty_store());
  is_sound_ = SB_TRY(is_sound());
  if (!is_sound_) SB_TRY(copy_rows());
  SB_TRY(fix(sqlite::read_note(path_ + "-lock")));
  SB_TRY(rebuild());
  if (!report_.is_damaged() || options_.is_dry_run) return std::move(report_);
  SB_TRY(replace());
  return std::move(report_);
}

}  // namespace

Result<RepairReport> repair_store(const std::string& path, const RepairOptions& options) {
  const SystemFiles files;
  const std::string real = files.canonical(path).value_or(path);
  const bool is_there = files.kind(real) == FileKind::kFile || files.kind(real + "-wal") == FileKind::kFile;
  if (!is_there) {
    return fail(ErrorCode::kNotFound, "there is no store yet", "It is created when something is first stored",
                {real, "", 0, 0});
  }
  LockFile lock(real + "-lock");
  const auto hold = SB_TRY(lock.take(options.busy_wait_ms));
  if (repair::is_replacement_decided(real)) {
    lock.clear_note();
    SB_TRY(repair::finish_replacement(real));
  }
  Repair repair(real, options, lock);
  Result<RepairReport> report = repair.run();
  // After a replacement there is none.
  const Status removed = repair::remove_repair_folder(real);
  if (report && !removed) return std::unexpected(removed.error());
  return report;
}

}  // namespace sb::store

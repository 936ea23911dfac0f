#include "store/sqlite/wal_check.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "store/sqlite/wal_file.hpp"

namespace sb::store::sqlite {
namespace {

sqlite3_file* file_of(Connection& connection) {
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return code == SQLITE_OK && file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

// How many frames SQLite reads; 0 also if the WAL's header itself is bad. Nothing if there is no shared memory.
std::optional<std::int64_t> frames_read(Connection& connection) {
  constexpr int kRegionBytes = 32'768;
  sqlite3_file* file = file_of(connection);
  if (!file || file->pMethods->iVersion < 2) return std::nullopt;
  void volatile* memory = nullptr;
  if (file->pMethods->xShmMap(file, 0, kRegionBytes, 0, &memory) != SQLITE_OK || !memory) return std::nullopt;
  return *reinterpret_cast<const volatile std::uint32_t*>(static_cast<const volatile char*>(memory) + 16);
}

// Whether the newest version of each page, in all frames up to the end of those that continue this one, is in the file.
bool is_in_file(Connection& connection, const WalFile& wal, std::int64_t last) {
  sqlite3_file* file = file_of(connection);
  auto before = wal.frame(last);
  for (auto next = wal.frame(last + 1); next && wal.continues(before->sum, last + 1, *next); ++last) {
    before = std::move(next);
    next = wal.frame(last + 2);
  }
  std::set<std::uint32_t> seen;
  for (std::int64_t number = last; number > 0; --number) {
    const auto frame = wal.frame(number);
    if (!frame || !seen.insert(frame->page).second) continue;
    const std::string page = wal.page_at(number);
    std::string stored(page.size(), '\0');
    const auto place = static_cast<sqlite3_int64>(frame->page - 1) * static_cast<sqlite3_int64>(page.size());
    const int code = file->pMethods->xRead(file, stored.data(), static_cast<int>(stored.size()), place);
    if (code != SQLITE_OK || stored != page) return false;
  }
  return true;
}

// The salts that mark the frames of the current round of the WAL. Frames of earlier rounds follow them, also after what
// a killed writer left unfinished; they are already in the file. If the header is damaged, the first frame that
// continues it gives the salts.
std::optional<WalSum> salts_of_this_round(const WalFile& wal) {
  if (wal.is_header_whole()) return wal.salts();
  const auto first = wal.frame(1);
  if (!first || !wal.continues(wal.sum(), 1, *first)) return std::nullopt;
  return first->salts;
}

// Whether there may be more frames of this round: the damaged frame may be damaged in its salts.
bool may_have_more(const WalFile& wal, std::int64_t read, const WalSum& salts) {
  const auto next = wal.frame(read + 1);
  const auto second = wal.frame(read + 2);
  return (next && next->salts == salts) || (second && second->salts == salts);
}

}  // namespace

Status check_wal(Connection& connection) {
  const std::string& path = connection.path();
  const auto read = frames_read(connection);
  if (!read) return {};
  const WalFile wal(path + "-wal");
  SB_TRY(wal.opened());
  const auto salts = wal.is_known() ? salts_of_this_round(wal) : std::nullopt;
  if (!salts || !may_have_more(wal, *read, *salts)) return {};
  int lost = 0;
  std::int64_t last_lost = 0;
  auto frame = wal.frame(*read + 1);
  for (std::int64_t number = *read + 1; frame; ++number) {
    auto next = wal.frame(number + 1);
    const bool is_pair = frame->is_commit() && frame->salts == *salts && next && next->salts == *salts;
    if (is_pair && wal.continues(frame->sum, number + 1, *next)) {
      ++lost;
      last_lost = number;
    }
    frame = std::move(next);
  }
  // What others committed since the count was read is not lost; they raise the count before they continue.
  if (lost == 0 || frames_read(connection) != read) return {};
  if (!wal.is_header_whole() && is_in_file(connection, wal, last_lost)) return {};
  return fail(ErrorCode::kCorrupt,
              fmt::format("the store's log is damaged at frame {}, and {} or more commits after it cannot be read",
                          *read + 1, lost),
              std::string(kRepairRemedy), SourceLocation{path + "-wal", {}, 0, 0});
}

}  // namespace sb::store::sqlite

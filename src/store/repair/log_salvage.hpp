// What can be saved of a damaged write-ahead log (store/sqlite/wal_file.hpp describes its bytes).
//
// SQLite reads a log up to the first frame with a wrong checksum. More can be proved:
//  - A frame whose checksum continues the stored one of the frame before it is whole, whatever is wrong with that
//  frame:
//    so frames after the damage are whole.
//  - If the next frame continues the checksum computed for a frame, only the stored checksum of the frame is damaged.
//  - The checksum is linear in the bytes. One damaged byte is found by trying all: 2^20 candidates against 64 bits.
//  Only
//    the highest byte of a word is ambiguous: the checksum is the same for some others far away. Such a page is used as
//    it is: the hashes of its rows show which one is damaged.
//  - Every frame is a whole page. A frame that cannot be saved does not matter if a later one replaces the same page.
//
// Reads, changes nothing. The caller keeps writers away.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/sqlite/wal_file.hpp"

namespace sb::store::repair {

struct BadFrame {
  std::int64_t number = 0;
  std::uint32_t page = 0;  // as its damaged header says
};

class LogSalvage {
 public:
  // The newest round of the log; empty if there is no log.
  explicit LogSalvage(const sqlite::WalFile& wal);

  std::int64_t frames() const { return frames_; }
  std::int64_t first_damaged() const { return first_damaged_; }    // 0: none
  std::int64_t read_by_sqlite() const { return read_by_sqlite_; }  // to the last commit before the damage
  std::int64_t last_commit() const { return last_commit_; }        // the last frame that can be saved
  std::uint32_t pages() const { return pages_; }                   // in the database after that commit; 0: no commit
  std::int64_t corrected() const { return corrected_; }            // frames in which one byte was wrong
  const std::vector<BadFrame>& bad() const { return bad_; }
  // Pages whose newest version is in a bad frame: an older version is all there is.
  const std::set<std::uint32_t>& doubtful() const { return doubtful_; }
  // The frames after the last commit: of a transaction that did not finish, or whose end is damaged.
  bool has_tail() const { return frames_ > last_commit_; }

  // The newest whole version of each page.
  const std::map<std::uint32_t, std::int64_t>& newest() const { return newest_; }
  std::string page(std::int64_t frame) const;

 private:
  void scan();
  void choose();

  const sqlite::WalFile& wal_;
  sqlite::WalSum salts_{};
  std::int64_t frames_ = 0, first_damaged_ = 0, read_by_sqlite_ = 0, last_commit_ = 0, corrected_ = 0;
  std::uint32_t pages_ = 0;
  std::vector<BadFrame> bad_;
  std::vector<sqlite::WalFrame> whole_;  // by number - 1; page 0: bad
  std::map<std::int64_t, std::string> corrected_pages_;
  std::map<std::uint32_t, std::int64_t> newest_;
  std::set<std::uint32_t> doubtful_;
};

// Changes the one byte by which the checksum computed over `bytes` (a multiple of 8) differs from `wanted`. Unchanged
// if no single byte would do, or several would: kAmbiguous if none of these is among the first 8, a frame's header.
// Pure.
enum class Correction { kImpossible, kAmbiguous, kDone };
Correction correct_one_byte(std::string& bytes, const sqlite::WalSum& computed, const sqlite::WalSum& wanted,
                            bool is_big_endian);

}  // namespace sb::store::repair

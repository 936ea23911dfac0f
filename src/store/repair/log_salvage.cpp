#include "store/repair/log_salvage.hpp"

#include <algorithm>
#include <optional>

namespace sb::store::repair {
namespace {

using sqlite::WalFile;
using sqlite::WalFrame;
using sqlite::WalSum;

// The checksum that the first frame continues: the stored one, unless that is what is damaged.
const WalSum& start_of(const WalFile& wal) {
  const auto first = wal.frame(1);
  const bool continues_computed = first && wal.continues(wal.computed_sum(), 1, *first);
  return continues_computed ? wal.computed_sum() : wal.sum();
}

// The salts of the round to save. A damaged header does not have them, but its frames do.
std::optional<WalSum> salts_of(const WalFile& wal) {
  if (wal.is_header_whole()) return wal.salts();
  const auto first = wal.frame(1);
  if (!first) return std::nullopt;
  const auto second = wal.frame(2);
  const bool is_followed = second && second->salts == first->salts && wal.continues(first->sum, 2, *second);
  if (is_followed || wal.continues(start_of(wal), 1, *first)) return first->salts;
  return std::nullopt;
}

std::int64_t last_with(const WalFile& wal, const WalSum& salts) {
  std::int64_t last = wal.frames();
  for (; last > 0; --last) {
    const auto frame = wal.frame(last);
    if (frame && frame->salts == salts) break;
  }
  return last;
}

void read_summed(WalFrame& frame, std::string_view bytes) {
  for (std::size_t i = 0; i < frame.summed.size(); ++i) frame.summed[i] = static_cast<unsigned char>(bytes[i]);
  frame.page = sqlite::big_endian_32(bytes, 0);
  frame.pages_after = sqlite::big_endian_32(bytes, 4);
}

std::string summed_bytes(const WalFrame& frame, const std::string& page) {
  return std::string(reinterpret_cast<const char*>(frame.summed.data()), frame.summed.size()) + page;
}

}  // namespace

LogSalvage::LogSalvage(const WalFile& wal) : wal_(wal) {
  if (!wal.is_known()) return;
  const auto salts = salts_of(wal);
  if (!salts) return;
  salts_ = *salts;
  frames_ = last_with(wal, *salts);
  scan();
  choose();
}

void LogSalvage::scan() {
  WalSum before = start_of(wal_);
  bool is_read = wal_.is_header_whole();  // SQLite reads nothing behind a damaged header
  if (!is_read) first_damaged_ = 1;
  for (std::int64_t number = 1; number <= frames_; ++number) {
    auto frame = wal_.frame(number);
    std::string page = wal_.page_at(number);
    if (!frame || page.empty()) break;
    const WalSum computed = wal_.sum_after(before, *frame, page);
    // Zeros continue zeros.
    bool is_whole = computed == frame->sum && frame->page != 0;
    const bool is_as_written = is_whole && frame->salts == salts_;
    before = frame->sum;
    if (!is_whole && frame->page != 0) {
      const auto next = number < frames_ ? wal_.frame(number + 1) : std::nullopt;
      std::string bytes = summed_bytes(*frame, page);
      if (next && wal_.continues(computed, number + 1, *next)) {
        is_whole = true;  // only its stored checksum is wrong
        before = computed;
        ++corrected_;
      } else {
        const Correction correction = correct_one_byte(bytes, computed, frame->sum, wal_.is_big_endian());
        is_whole = correction != Correction::kImpossible;
        if (correction == Correction::kDone) {
          read_summed(*frame, bytes);
          corrected_pages_[number] = bytes.substr(frame->summed.size());
          ++corrected_;
        }
      }
    } else if (is_whole && !is_as_written) {
      ++corrected_;  // its salts are wrong
    }
    if (!is_as_written) {
      is_read = false;
      if (first_damaged_ == 0) first_damaged_ = number;
    }
    if (is_whole && frame->is_commit()) {
      last_commit_ = number;
      pages_ = frame->pages_after;
      if (is_read) read_by_sqlite_ = number;
    }
    if (!is_whole) {
      bad_.push_back({number, frame->page});
      frame->page = 0;
    }
    whole_.push_back(*frame);
  }
}

void LogSalvage::choose() {
  for (std::int64_t number = 1; number <= last_commit_; ++number) {
    const WalFrame& frame = whole_[static_cast<std::size_t>(number - 1)];
    if (frame.page != 0) newest_[frame.page] = number;
  }
  for (const BadFrame& bad : bad_) {
    const auto newer = newest_.find(bad.page);
    const bool is_replaced = newer != newest_.end() && newer->second > bad.number;
    if (bad.number < last_commit_ && !is_replaced) doubtful_.insert(bad.page);
  }
}

std::string LogSalvage::page(std::int64_t frame) const {
  const auto corrected = corrected_pages_.find(frame);
  return corrected == corrected_pages_.end() ? wal_.page_at(frame) : corrected->second;
}

// One pair of words (x, y) takes the sums (a, b) to (a + b + x, a + 2b + x + y). So a change of x by d in the last pair
// changes them by d(1, 1), one of y by d(0, 1), and every pair after it maps (a, b) to (a + b, a + 2b).
Correction correct_one_byte(std::string& bytes, const WalSum& computed, const WalSum& wanted, bool is_big_endian) {
  constexpr std::size_t kHeaderBytes = 8;
  const std::uint32_t wanted0 = wanted[0] - computed[0], wanted1 = wanted[1] - computed[1];
  std::uint32_t x0 = 1, x1 = 1, y0 = 0, y1 = 1;
  std::size_t found_at = 0, first_at = bytes.size();
  int found_byte = 0, found = 0;
  const auto try_word = [&](std::size_t word, std::uint32_t c0, std::uint32_t c1) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::size_t at = word + (is_big_endian ? 3 - byte : byte);
      const auto old = static_cast<unsigned char>(bytes[at]);
      for (std::uint32_t value = 0; value < 256; ++value) {
        const std::uint32_t change = (value - old) << (8 * byte);
        if (c0 * change != wanted0 || c1 * change != wanted1 || value == old) continue;
        ++found;
        first_at = std::min(first_at, at);
        found_at = at;
        found_byte = static_cast<int>(value);
      }
    }
  };
  for (std::size_t pair = bytes.size() / 8; pair-- > 0;) {
    try_word(pair * 8, x0, x1);
    try_word(pair * 8 + 4, y0, y1);
    const std::uint32_t x = x0 + x1, y = y0 + y1;
    x1 += x;
    y1 += y;
    x0 = x;
    y0 = y;
  }
  if (found != 1) return found > 1 && first_at >= kHeaderBytes ? Correction::kAmbiguous : Correction::kImpossible;
  bytes[found_at] = static_cast<char>(found_byte);
  return Correction::kDone;
}

}  // namespace sb::store::repair

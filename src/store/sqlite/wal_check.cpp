#include "store/sqlite/wal_check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <set>

namespace sb::store::sqlite {
namespace {

constexpr std::int64_t kHeaderBytes = 32;
constexpr std::int64_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit: checksums over big-endian words

using Sum = std::array<std::uint32_t, 2>;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  bool read(std::int64_t at, void* into, std::size_t size) const {
    return ::pread(number_, into, size, at) == static_cast<ssize_t>(size);
  }

 private:
  int number_;
};

std::uint32_t big_endian(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

struct Frame {
  std::uint32_t page = 0;
  bool is_commit = false;
  Sum salts{}, sum{};  // as stored
  std::array<unsigned char, 8> summed{};
};

class Wal {
 public:
  explicit Wal(const std::string& path) : file_(path + "-wal") {
    unsigned char bytes[kHeaderBytes];
    if (!file_.is_open() || !file_.read(0, bytes, sizeof bytes)) return;
    const std::uint32_t magic = big_endian(bytes);
    page_bytes_ = big_endian(bytes + 8);
    is_known_ = (magic & ~1U) == kMagic && page_bytes_ >= 512 && page_bytes_ <= 65'536;
    is_big_endian_ = (magic & 1U) != 0;
    salts_ = {big_endian(bytes + 16), big_endian(bytes + 20)};
    sum_ = {big_endian(bytes + 24), big_endian(bytes + 28)};
    Sum sum{};
    add(sum, bytes, 24);
    is_header_whole_ = sum == sum_;
  }

  bool is_header_whole() const { return is_header_whole_; }
  bool is_known() const { return is_known_; }
  const Sum& salts() const { return salts_; }
  const Sum& sum() const { return sum_; }

  // Numbered from 1; nothing after the last.
  std::optional<Frame> frame(std::int64_t number) const {
    unsigned char bytes[kFrameHeaderBytes];
    if (!file_.read(place_of(number), bytes, sizeof bytes)) return std::nullopt;
    Frame frame;
    std::memcpy(frame.summed.data(), bytes, frame.summed.size());
    frame.page = big_endian(bytes);
    frame.is_commit = big_endian(bytes + 4) != 0;
    frame.salts = {big_endian(bytes + 8), big_endian(bytes + 12)};
    frame.sum = {big_endian(bytes + 16), big_endian(bytes + 20)};
    return frame;
  }

  // Whether its checksum continues the previous one over its header and page.
  bool continues(const Sum& before, std::int64_t number, const Frame& frame) const {
    const std::string page = page_at(number);
    Sum sum = before;
    add(sum, frame.summed.data(), frame.summed.size());
    add(sum, reinterpret_cast<const unsigned char*>(page.data()), page.size());
    return !page.empty() && sum == frame.sum;
  }

  std::string page_at(std::int64_t number) const {
    std::string page(page_bytes_, '\0');
    if (!file_.read(place_of(number) + kFrameHeaderBytes, page.data(), page.size())) page.clear();
    return page;
  }

 private:
  std::int64_t place_of(std::int64_t number) const {
    return kHeaderBytes + (number - 1) * (kFrameHeaderBytes + static_cast<std::int64_t>(page_bytes_));
  }
  void add(Sum& sum, const unsigned char* bytes, std::size_t size) const {
    for (std::size_t at = 0; at < size; at += 8) {
      sum[0] += word(bytes + at) + sum[1];
      sum[1] += word(bytes + at + 4) + sum[0];
    }
  }
  std::uint32_t word(const unsigned char* at) const {
    const std::uint32_t value = big_endian(at);
    return is_big_endian_ ? value : __builtin_bswap32(value);
  }

  Descriptor file_;
  bool is_known_ = false, is_header_whole_ = false, is_big_endian_ = false;
  std::uint32_t page_bytes_ = 0;
  Sum salts_{}, sum_{};
};

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
bool is_in_file(Connection& connection, const Wal& wal, std::int64_t last) {
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
std::optional<Sum> salts_of_this_round(const Wal& wal) {
  if (wal.is_header_whole()) return wal.salts();
  const auto first = wal.frame(1);
  if (!first || !wal.continues(wal.sum(), 1, *first)) return std::nullopt;
  return first->salts;
}

// Whether there may be more frames of this round: the damaged frame may be damaged in its salts.
bool may_have_more(const Wal& wal, std::int64_t read, const Sum& salts) {
  const auto next = wal.frame(read + 1);
  const auto second = wal.frame(read + 2);
  return (next && next->salts == salts) || (second && second->salts == salts);
}

}  // namespace

Status check_wal(Connection& connection) {
  const std::string& path = connection.path();
  const auto read = frames_read(connection);
  if (!read) return {};
  const Wal wal(path);
  const auto salts = wal.is_known() ? salts_of_this_round(wal) : std::nullopt;
  if (!salts || !may_have_more(wal, *read, *salts)) return {};
  int lost = 0;
  std::int64_t last_lost = 0;
  auto frame = wal.frame(*read + 1);
  for (std::int64_t number = *read + 1; frame; ++number) {
    auto next = wal.frame(number + 1);
    const bool is_pair = frame->is_commit && frame->salts == *salts && next && next->salts == *salts;
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
              fmt::format("Keep a copy of {0} and {0}-wal. To continue without those commits, remove {0}-wal.", path),
              SourceLocation{path + "-wal", {}, 0, 0});
}

}  // namespace sb::store::sqlite

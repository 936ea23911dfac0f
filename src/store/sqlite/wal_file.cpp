#include "store/sqlite/wal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace sb::store::sqlite {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit: checksums over big-endian words

}  // namespace

FileReader::FileReader(const std::string& path)
    : path_(path), number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), error_(number_ < 0 ? errno : 0) {}

Status FileReader::opened() const {
  if (is_open() || error_ == ENOENT) return {};
  const bool has_too_many = error_ == EMFILE || error_ == ENFILE;
  return fail(has_too_many ? ErrorCode::kUnavailable : ErrorCode::kIo,
              fmt::format("cannot read it ({})", std::strerror(error_)),
              has_too_many ? "Allow more open files (ulimit -n 256) and try again." : "Make it readable.",
              SourceLocation{path_, {}, 0, 0});
}

FileReader::~FileReader() {
  if (number_ >= 0) ::close(number_);
}

std::int64_t FileReader::size() const {
  struct stat info{};
  return number_ >= 0 && ::fstat(number_, &info) == 0 ? static_cast<std::int64_t>(info.st_size) : 0;
}

bool FileReader::read(std::int64_t at, void* into, std::size_t size) const {
  return ::pread(number_, into, size, at) == static_cast<ssize_t>(size);
}

std::uint32_t big_endian_32(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

std::uint32_t big_endian_32(std::string_view bytes, std::size_t at) {
  return at + 4 <= bytes.size() ? big_endian_32(reinterpret_cast<const unsigned char*>(bytes.data()) + at) : 0;
}

std::uint32_t big_endian_16(std::string_view bytes, std::size_t at) {
  if (at + 2 > bytes.size()) return 0;
  return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

bool is_page_size(std::uint32_t bytes) {
  return bytes >= 512 && bytes <= 65'536 && std::has_single_bit(bytes);
}

WalFile::WalFile(const std::string& path, std::uint32_t page_bytes) : file_(path) {
  unsigned char bytes[kHeaderBytes];
  if (!file_.is_open() || !file_.read(0, bytes, sizeof bytes)) return;
  const std::uint32_t magic = big_endian_32(bytes);
  page_bytes_ = big_endian_32(bytes + 8);
  const bool is_known = (magic & ~1U) == kMagic && is_page_size(page_bytes_);
  if (!is_known) page_bytes_ = page_bytes;
  salts_ = {big_endian_32(bytes + 16), big_endian_32(bytes + 20)};
  sum_ = {big_endian_32(bytes + 24), big_endian_32(bytes + 28)};
  is_big_endian_ = (magic & 1U) != 0;
  add(computed_, bytes, 24);
  is_header_whole_ = is_known && computed_ == sum_;
  if (is_header_whole_) return;
  // The mark of the byte order may be what is damaged. SQLite writes the order of its machine.
  is_big_endian_ = std::endian::native == std::endian::big;
  computed_ = {};
  add(computed_, bytes, 24);
}

std::int64_t WalFile::frames() const {
  if (!is_known()) return 0;
  return std::max<std::int64_t>(0, file_.size() - kHeaderBytes) / (kFrameHeaderBytes + page_bytes_);
}

std::optional<WalFrame> WalFile::frame(std::int64_t number) const {
  unsigned char bytes[kFrameHeaderBytes];
  if (!file_.read(place_of(number), bytes, sizeof bytes)) return std::nullopt;
  WalFrame frame;
  std::memcpy(frame.summed.data(), bytes, frame.summed.size());
  frame.page = big_endian_32(bytes);
  frame.pages_after = big_endian_32(bytes + 4);
  frame.salts = {big_endian_32(bytes + 8), big_endian_32(bytes + 12)};
  frame.sum = {big_endian_32(bytes + 16), big_endian_32(bytes + 20)};
  return frame;
}

std::string WalFile::page_at(std::int64_t number) const {
  std::string page(page_bytes_, '\0');
  if (!file_.read(place_of(number) + kFrameHeaderBytes, page.data(), page.size())) page.clear();
  return page;
}

WalSum WalFile::sum_after(const WalSum& before, const WalFrame& frame, std::string_view page) const {
  WalSum sum = before;
  add(sum, frame.summed.data(), frame.summed.size());
  add(sum, reinterpret_cast<const unsigned char*>(page.data()), page.size());
  return sum;
}

bool WalFile::continues(const WalSum& before, std::int64_t number, const WalFrame& frame) const {
  const std::string page = page_at(number);
  return !page.empty() && sum_after(before, frame, page) == frame.sum;
}

void WalFile::add(WalSum& sum, const unsigned char* bytes, std::size_t size) const {
  const auto word = [this](const unsigned char* at) {
    const std::uint32_t value = big_endian_32(at);
    return is_big_endian_ ? value : __builtin_bswap32(value);
  };
  for (std::size_t at = 0; at < size; at += 8) {
    sum[0] += word(bytes + at) + sum[1];
    sum[1] += word(bytes + at + 4) + sum[0];
  }
}

}  // namespace sb::store::sqlite

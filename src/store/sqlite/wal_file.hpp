// Reads the bytes of a write-ahead log (WAL) without SQLite, and checks its checksums.
//
// The WAL: a header of 32 bytes (magic, version, page size, count, two salts, two checksums, big-endian), then frames
// of a 24-byte header (page, size of the file after a commit or 0, two salts, two checksums) and a page. Each checksum
// continues the previous one over the first 8 bytes of the header and the page. The salts mark the frames of one round:
// frames of earlier rounds, which are already in the database, may follow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sb::store::sqlite {

using WalSum = std::array<std::uint32_t, 2>;

// For reading only. Closing one drops every POSIX lock that this process holds on the file.
class FileReader {
 public:
  explicit FileReader(const std::string& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  bool is_open() const { return number_ >= 0; }
  // An error if the file is there and could not be opened: for lack of descriptors, it would look missing.
  Status opened() const;
  std::int64_t size() const;  // 0 if it cannot be read
  bool read(std::int64_t at, void* into, std::size_t size) const;
  int number() const { return number_; }

 private:
  std::string path_;
  int number_;
  int error_;
};

struct WalFrame {
  std::uint32_t page = 0;
  std::uint32_t pages_after = 0;  // in the database, after the commit that this frame ends; else 0
  WalSum salts{}, sum{};          // as stored
  std::array<unsigned char, 8> summed{};

  bool is_commit() const { return pages_after != 0; }
};

class WalFile {
 public:
  static constexpr std::int64_t kHeaderBytes = 32;
  static constexpr std::int64_t kFrameHeaderBytes = 24;

  // `page_bytes`: what to assume if the header is not readable.
  explicit WalFile(const std::string& path, std::uint32_t page_bytes = 0);

  Status opened() const { return file_.opened(); }
  bool is_header_whole() const { return is_header_whole_; }
  bool is_known() const { return page_bytes_ != 0; }  // false: missing, empty, or no known page size
  std::uint32_t page_bytes() const { return page_bytes_; }
  const WalSum& salts() const { return salts_; }
  const WalSum& sum() const { return sum_; }  // of the header, as stored
  const WalSum& computed_sum() const { return computed_; }
  std::int64_t size() const { return file_.size(); }
  std::int64_t frames() const;  // that fit into the file, of any round

  // Numbered from 1; nothing after the last.
  std::optional<WalFrame> frame(std::int64_t number) const;
  std::string page_at(std::int64_t number) const;  // empty after the last
  // Whether its checksum continues the previous one over its header and page.
  bool continues(const WalSum& before, std::int64_t number, const WalFrame& frame) const;
  WalSum sum_after(const WalSum& before, const WalFrame& frame, std::string_view page) const;
  bool is_big_endian() const { return is_big_endian_; }

 private:
  std::int64_t place_of(std::int64_t number) const {
    return kHeaderBytes + (number - 1) * (kFrameHeaderBytes + static_cast<std::int64_t>(page_bytes_));
  }
  void add(WalSum& sum, const unsigned char* bytes, std::size_t size) const;

  FileReader file_;
  bool is_header_whole_ = false, is_big_endian_ = false;
  std::uint32_t page_bytes_ = 0;
  WalSum salts_{}, sum_{}, computed_{};
};

std::uint32_t big_endian_32(const unsigned char* at);
std::uint32_t big_endian_32(std::string_view bytes, std::size_t at);  // 0 past the end
std::uint32_t big_endian_16(std::string_view bytes, std::size_t at);
bool is_page_size(std::uint32_t bytes);  // one that SQLite allows

}  // namespace sb::store::sqlite

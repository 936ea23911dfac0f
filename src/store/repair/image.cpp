#include "store/repair/image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/repair/replace.hpp"

namespace sb::store::repair {
namespace {

using sqlite::FileReader;

constexpr std::uint32_t kUsualPageBytes = 4'096;
constexpr std::size_t kCopyBytes = 1 << 20;

std::uint32_t page_bytes_of(const std::string& path) {
  const FileReader file(path);
  char bytes[18];
  if (!file.read(0, bytes, sizeof bytes) || std::memcmp(bytes, "SQLite format 3", 16) != 0) return kUsualPageBytes;
  const std::uint32_t size = sqlite::big_endian_16(std::string_view(bytes, sizeof bytes), 16);
  const std::uint32_t page_bytes = size == 1 ? 65'536 : size;
  return sqlite::is_page_size(page_bytes) ? page_bytes : kUsualPageBytes;
}

std::unexpected<Error> cannot_write(const std::string& path) {
  const int code = errno;
  const bool has_too_many = code == EMFILE || code == ENFILE;
  return fail(has_too_many ? ErrorCode::kUnavailable : ErrorCode::kIo,
              fmt::format("cannot write the repaired store ({})", std::strerror(code)),
              has_too_many                       ? "Allow more open files (ulimit -n 256) and try again."
              : code == ENOSPC || code == EDQUOT ? "Free as much space as the store takes, and try again."
                                                 : "Check the disk that holds it and try again.",
              SourceLocation{path, {}, 0, 0});
}

class Writer {
 public:
  explicit Writer(const std::string& path)
      : path_(path),
        number_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)),
        error_(number_ < 0 ? errno : 0) {}
  ~Writer() {
    if (number_ >= 0) ::close(number_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Status opened() const {
    errno = error_;
    return number_ >= 0 ? Status() : Status(cannot_write(path_));
  }
  Status write(std::int64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(number_, bytes.data(), bytes.size(), at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return cannot_write(path_);
      at += written;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }
  Status set_size(std::int64_t bytes) {
    return ::ftruncate(number_, bytes) == 0 ? Status() : Status(cannot_write(path_));
  }

 private:
  std::string path_;
  int number_;
  int error_;
};

}  // namespace

Image::Image(const std::string& path, std::string copy, std::uint32_t page_bytes)
    : path_(std::move(copy)),
      page_bytes_(page_bytes),
      wal_(path + "-wal", page_bytes),
      log_(std::make_unique<LogSalvage>(wal_)) {}

Result<std::unique_ptr<Image>> Image::make(const std::string& path, const std::string& copy) {
  std::unique_ptr<Image> image(new Image(path, copy, page_bytes_of(path)));
  SB_TRY(image->wal_.opened());
  if (image->wal_.is_known()) image->page_bytes_ = image->wal_.page_bytes();
  SB_TRY(image->copy_file(path));
  image->copy_ = std::make_unique<FileReader>(copy);
  SB_TRY(image->copy_->opened());
  SB_TRY(image->apply_log());
  return image;
}

Status Image::copy_file(const std::string& from) {
  const FileReader file(from);
  SB_TRY(file.opened());
  Writer to(path_);
  SB_TRY(to.opened());
  std::string bytes;
  for (std::int64_t at = 0; at < file.size(); at += static_cast<std::int64_t>(bytes.size())) {
    bytes.resize(kCopyBytes);
    const ssize_t count = ::pread(file.number(), bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EIO) {
      // A bad sector: its pages stay empty.
      bytes.assign(page_bytes_, '\0');
      if (const ssize_t part = ::pread(file.number(), bytes.data(), bytes.size(), at); part < 0) continue;
    } else if (count <= 0) {
      break;
    } else {
      bytes.resize(static_cast<std::size_t>(count));
    }
    SB_TRY(to.write(at, bytes));
  }
  return {};
}

Status Image::apply_log() {
  if (log_->pages() == 0) return {};
  Writer to(path_);
  SB_TRY(to.opened());
  bool has_changed = false;
  for (const auto& [number, frame] : log_->newest()) {
    const std::string bytes = log_->page(frame);
    if (page(number) == bytes) continue;
    has_changed = true;
    SB_TRY(to.write((std::int64_t{number} - 1) * page_bytes_, bytes));
  }
  is_log_stale_ = !wal_.is_header_whole() && !has_changed && log_->bad().empty();
  return is_log_stale_ ? Status() : to.set_size(std::int64_t{log_->pages()} * page_bytes_);
}

bool Image::has_damaged_log() const {
  return log_->first_damaged() > 0 && !is_log_stale_ && log_->last_commit() > log_->read_by_sqlite();
}

std::uint32_t Image::pages() const {
  return static_cast<std::uint32_t>((copy_->size() + page_bytes_ - 1) / page_bytes_);
}

std::string Image::page(std::uint32_t number) const {
  if (number == 0) return {};
  std::string bytes(page_bytes_, '\0');
  if (!copy_->read((std::int64_t{number} - 1) * page_bytes_, bytes.data(), bytes.size())) bytes.clear();
  return bytes;
}

std::vector<PageBytes> Image::damaged_pages() const {
  std::vector<PageBytes> pages;
  for (const BadFrame& bad : log_->bad()) {
    if (log_->doubtful().contains(bad.page)) pages.push_back({bad.page, wal_.page_at(bad.number)});
  }
  return pages;
}

std::vector<PageBytes> Image::tail_pages() const {
  std::vector<PageBytes> pages;
  for (std::int64_t number = log_->last_commit() + 1; number <= log_->frames(); ++number) {
    if (const auto frame = wal_.frame(number)) pages.push_back({frame->page, wal_.page_at(number)});
  }
  return pages;
}

}  // namespace sb::store::repair

#include "base/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sb {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Some file systems report a full disk only on close.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::unexpected<Error> io_error(std::string_view action, const std::string& path, int error) {
  ErrorCode code = ErrorCode::kIo;
  if (error == ENOENT || error == ENOTDIR) code = ErrorCode::kNotFound;
  if (error == EISDIR) code = ErrorCode::kInvalid;
  std::string remedy;
  // Not a property of the file: a caller that skips unreadable files must not skip this.
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    code = ErrorCode::kUnavailable;
    remedy = error == ENOMEM ? "Free memory, or allow more (ulimit -v), and try again"
                             : "Allow more open files (ulimit -n 256) and try again";
  }
  if (error == EISDIR) remedy = "Name a file";
  if (error == ENOSPC || error == EDQUOT) remedy = "Free some space and try again; nothing was changed";
  if (error == EROFS || error == EACCES || error == EPERM)
    remedy = "Make it writable, or set SIGNALBOX_HOME to a writable folder";
  SourceLocation place;
  place.file = path;
  return fail(code, fmt::format("cannot {}: {}", action, std::strerror(error)), std::move(remedy), std::move(place));
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return io_error("write", path, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

FileKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return FileKind::kFile;
  return S_ISDIR(status.st_mode) ? FileKind::kDirectory : FileKind::kOther;
}

// A rename is durable only when the containing folder has been synced too.
void sync_directory(const std::string& directory) {
  Descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.is_open()) ::fsync(fd.get());
}

}  // namespace

Result<std::string> read_stream(int descriptor, std::size_t max_bytes) {
  std::string out;
  std::size_t used = 0;
  while (true) {
    if (out.size() - used < 65536) out.resize(std::max<std::size_t>(65536, out.size() * 2));
    const ssize_t count = ::read(descriptor, out.data() + used, out.size() - used);
    if (count < 0) {
      if (errno == EINTR) continue;
      return io_error("read", "", errno);
    }
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used > max_bytes) {
      return fail(ErrorCode::kLimit, fmt::format("the input is longer than {} bytes", max_bytes), "Send less");
    }
  }
  out.resize(used);
  return out;
}

namespace {

// Non-blocking, so that neither opening nor reading can hang on a pipe that has no writer.
Descriptor open_for_reading(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

// Something other than a regular file may produce more data later, or never: keep reading as long as data arrives in
// time.
Result<std::string> read_pipe(int descriptor, std::size_t max_bytes) {
  constexpr int kSilenceMs = 5'000;
  std::string out;
  std::string piece(65'536, '\0');
  while (out.size() <= max_bytes) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kSilenceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return io_error("read", "", errno);
    if (ready == 0) {
      return fail(ErrorCode::kIo, "not a regular file, and no data arrived for five seconds",
                  "Name a regular file, or pipe the data to standard input");
    }
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return io_error("read", "", errno);
    if (count == 0) return out;
    out.append(piece, 0, static_cast<std::size_t>(count));
  }
  return fail(ErrorCode::kLimit, fmt::format("the input is longer than {} bytes", max_bytes), "Send less");
}

// Nothing if another process holds the lock and `how` does not wait.
Result<std::shared_ptr<void>> take_lock(const std::string& path, int how) {
  auto fd = std::make_shared<Descriptor>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd->is_open()) return io_error("lock", path, errno);
  while (::flock(fd->get(), how) != 0) {
    if (errno == EWOULDBLOCK) return std::shared_ptr<void>();
    if (errno != EINTR) return io_error("lock", path, errno);
  }
  return std::shared_ptr<void>(std::move(fd));
}

}  // namespace

Result<std::string> SystemFiles::read(const std::string& path, std::size_t max_bytes) const {
  Descriptor fd = open_for_reading(path);
  if (!fd.is_open()) return io_error("read", path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return io_error("read", path, errno);
  const bool is_plain = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
  auto bytes = is_plain ? read_stream(fd.get(), max_bytes) : read_pipe(fd.get(), max_bytes);
  if (!bytes) {
    bytes.error().location.file = path;
    if (bytes.error().code == ErrorCode::kLimit) {
      bytes.error().message = fmt::format("the file is larger than {} bytes", max_bytes);
      bytes.error().remedy = "Make the file smaller";
    }
  }
  return bytes;
}

Result<std::string> SystemFiles::read_tail(const std::string& path, std::size_t max_bytes) const {
  Descriptor fd = open_for_reading(path);
  if (!fd.is_open()) return io_error("read", path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return io_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) return io_error("read", path, EISDIR);
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string bytes(std::min(size, max_bytes), '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t count =
        ::pread(fd.get(), bytes.data() + used, bytes.size() - used, static_cast<off_t>(size - bytes.size() + used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("read", path, errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

Status SystemFiles::write_atomic(const std::string& path, std::string_view bytes, unsigned mode) {
  std::string target = path;
  if (char resolved[PATH_MAX]; ::realpath(path.c_str(), resolved)) target = resolved;
  struct stat existing{};
  const bool is_there = ::stat(target.c_str(), &existing) == 0;
  if (is_there && S_ISDIR(existing.st_mode)) return io_error("write", path, EISDIR);
  std::string temporary = target + ".XXXXXX";
  Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.is_open()) return io_error("write", path, errno);
  const auto abandon = [&](std::unexpected<Error> error) -> Status {
    ::unlink(temporary.c_str());
    return error;
  };
  if (const auto written = write_all(fd.get(), bytes, path); !written) return abandon(std::unexpected(written.error()));
  if (::fchmod(fd.get(), is_there ? (existing.st_mode & 07777) : mode) != 0)
    return abandon(io_error("write", path, errno));
  if (::fsync(fd.get()) != 0 || !fd.close()) return abandon(io_error("write", path, errno));
  if (::rename(temporary.c_str(), target.c_str()) != 0) return abandon(io_error("write", path, errno));
  sync_directory(parent_path(target));
  return {};
}

Status SystemFiles::append(const std::string& path, std::string_view bytes, unsigned mode) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode));
  if (!fd.is_open()) return io_error("write", path, errno);
  struct stat before{};
  const bool has_size = ::fstat(fd.get(), &before) == 0 && S_ISREG(before.st_mode);
  if (auto written = write_all(fd.get(), bytes, path); !written) {
    // A partial line would corrupt the next one. Truncate only if no other process can have appended after it.
    if (has_size && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) [[maybe_unused]]
      int cut = ::ftruncate(fd.get(), before.st_size);
    return written;
  }
  if (has_size && (::fdatasync(fd.get()) != 0 || !fd.close())) return io_error("write", path, errno);
  return {};
}

Status SystemFiles::make_directories(const std::string& path, unsigned mode) {
  if (path.empty() || kind(path) == FileKind::kDirectory) return {};
  SB_TRY(make_directories(parent_path(path), mode));
  if (::mkdir(path.c_str(), mode) != 0 && (errno != EEXIST || kind(path) != FileKind::kDirectory)) {
    return io_error("create the folder", path, errno);
  }
  return {};
}

Status SystemFiles::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("remove", path, errno);
  return {};
}

Status SystemFiles::remove_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0) return io_error("remove", path, errno);
  return {};
}

Status SystemFiles::remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return io_error("remove", path, error.value());
  return {};
}

FileKind SystemFiles::kind(const std::string& path) const {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? kind_of(status) : FileKind::kMissing;
}

FileStatus SystemFiles::status(const std::string& path) const {
  FileStatus out;
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return out;
  out.is_link = S_ISLNK(status.st_mode);
  if (out.is_link && ::stat(path.c_str(), &status) != 0) return out;
  out.kind = kind_of(status);
  out.size = static_cast<std::uint64_t>(status.st_size);
  out.modified_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
  out.identity = status.st_ino;
  return out;
}

Result<std::vector<std::string>> SystemFiles::list(const std::string& directory) const {
  DIR* stream = ::opendir(directory.c_str());
  if (!stream) return io_error("list", directory, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  std::ranges::sort(names);
  return names;
}

Result<std::string> SystemFiles::canonical(const std::string& path) const {
  char resolved[PATH_MAX];
  if (!::realpath(path.c_str(), resolved)) return io_error("find", path, errno);
  return std::string(resolved);
}

Result<std::shared_ptr<void>> SystemFiles::lock(const std::string& path) {
  return take_lock(path, LOCK_EX);
}

Result<std::shared_ptr<void>> SystemFiles::try_lock(const std::string& path) {
  return take_lock(path, LOCK_EX | LOCK_NB);
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string out(directory);
  if (!out.empty() && out.back() != '/') out += '/';
  return out.append(name);
}

std::string parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return path.empty() ? "" : ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::vector<std::string> with_parents(const std::string& folder) {
  std::vector<std::string> folders;
  for (std::string at = folder; !at.empty(); at = parent_path(at)) {
    if (!folders.empty() && folders.back() == at) break;  // the root
    folders.push_back(at);
  }
  return folders;
}

bool is_within(std::string_view path, std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty() || !path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder == "/" || path[folder.size()] == '/';
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace sb

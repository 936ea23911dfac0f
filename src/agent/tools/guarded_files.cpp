#include "agent/tools/guarded_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "agent/limits.hpp"
#include "base/crypto.hpp"
#include "base/document/value.hpp"
#include "base/files.hpp"

namespace sb::agent {
namespace {

constexpr std::string_view kBeside = ".signalbox-write.";
constexpr std::size_t kBesideDigits = 12;

class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::unexpected<Error> refused(int error, std::string_view action, const std::string& path) {
  const std::string name = quote_json(path.substr(0, 200));
  switch (error) {
    case ENOENT:
      return fail(ErrorCode::kNotFound, fmt::format("{} does not exist", name));
    case ELOOP:
      return fail(ErrorCode::kForbidden, fmt::format("{} has become a link", name));
    case ENOTDIR:
      return fail(ErrorCode::kInvalid, fmt::format("a parent of {} is not a folder", name));
    case EISDIR:
      return fail(ErrorCode::kInvalid, fmt::format("{} is a folder", name));
    default:
      return fail(ErrorCode::kIo, fmt::format("cannot {} {}: {}", action, name, std::strerror(error)));
  }
}

// Opens the folder that contains the path's last name. O_NOFOLLOW with O_DIRECTORY gives ENOTDIR for a link.
Result<UniqueFd> open_parent(const FencedPath& at, bool makes) {
  UniqueFd folder(::open(at.base.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return refused(errno, "open", at.base);
  std::string_view rest = at.rest;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    const std::string name(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
    if (makes && ::mkdirat(folder.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
      return refused(errno, "create a folder for", at.path());
    }
    UniqueFd next(::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return refused(errno, "open", at.path());
    folder = std::move(next);
  }
  return folder;
}

Result<std::string> read_all(int fd, std::size_t max_bytes, const std::string& path) {
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + 65'536);
    const ssize_t count = ::read(fd, bytes.data() + before, 65'536);
    if (count < 0 && errno != EINTR) return refused(errno, "read", path);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return bytes;
    if (bytes.size() > max_bytes) {
      return fail(ErrorCode::kLimit, fmt::format("{} has more than {} bytes", quote_json(path), max_bytes));
    }
  }
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return refused(errno, "write", path);
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  if (::fsync(fd) != 0) return refused(errno, "write", path);
  return {};
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

class Walk {
 public:
  Walk(const Fence& fence, const std::vector<std::string>& skipped, const std::function<bool()>& should_continue,
       const std::function<void(WalkedFile)>& on_file)
      : fence_(fence), skipped_(skipped), should_continue_(should_continue), on_file_(on_file) {}

  void folder(UniqueFd fd, const std::string& path, int depth) {
    for (const std::string& name : names_in(fd.get())) {
      if (!end_.is_whole) return;
      if (++seen_ > limits::kWalkEntries || depth > limits::kWalkDepth || (should_continue_ && !should_continue_())) {
        end_.is_whole = false;
        return;
      }
      struct stat status;
      if (::fstatat(fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const std::string whole = join_path(path, name);
      if (S_ISREG(status.st_mode) && fence_.shows(whole, false)) {
        on_file_({whole, status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec,
                  static_cast<std::uint64_t>(status.st_size)});
      }
      if (!S_ISDIR(status.st_mode) || std::ranges::find(skipped_, name) != skipped_.end()) continue;
      if (!fence_.shows(whole, true)) continue;
      UniqueFd next(::openat(fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (next) folder(std::move(next), whole, depth + 1);
    }
  }
  WalkResult end() const { return end_; }

 private:
  static std::vector<std::string> names_in(int fd) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
    if (!folder) return names;
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > limits::kWalkEntries) break;
    }
    std::ranges::sort(names);
    return names;
  }

  const Fence& fence_;
  const std::vector<std::string>& skipped_;
  const std::function<bool()>& should_continue_;
  const std::function<void(WalkedFile)>& on_file_;
  std::size_t seen_ = 0;
  WalkResult end_;
};

}  // namespace

Result<FileContent> read_guarded(const FencedPath& at, std::size_t max_bytes) {
  if (at.rest.empty()) return refused(EISDIR, "read", at.base);
  const UniqueFd folder = SB_TRY(open_parent(at, false));
  // Non-blocking: a pipe without a writer would block forever.
  const UniqueFd fd(::openat(folder.get(), base_name(at.rest).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return refused(errno, "read", at.path());
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return refused(errno, "read", at.path());
  if (S_ISDIR(status.st_mode)) return refused(EISDIR, "read", at.path());
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a regular file", quote_json(at.path())));
  }
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes", quote_json(at.path()), status.st_size));
  }
  return FileContent{SB_TRY(read_all(fd.get(), max_bytes, at.path())), status.st_mode & 0777u};
}

bool is_interrupted_write(std::string_view name) {
  return name.starts_with(kBeside) && name.size() == kBeside.size() + kBesideDigits &&
         name.find_first_not_of("0123456789abcdef", kBeside.size()) == name.npos;
}

Status write_guarded(const FencedPath& at, std::string_view bytes) {
  const UniqueFd folder = SB_TRY(open_parent(at, true));
  const std::string name = base_name(at.rest);
  struct stat status;
  unsigned mode = 0644;
  if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(status.st_mode)) return refused(ELOOP, "write", at.path());
    if (S_ISDIR(status.st_mode)) return refused(EISDIR, "write", at.path());
    if (!S_ISREG(status.st_mode)) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not a regular file", quote_json(at.path())));
    }
    mode = status.st_mode & 0777u;
  }
  // The temporary name is fixed per file, so that the next write replaces what a killed process left.
  const std::string beside = std::string(kBeside) + sha256_hex(name).substr(0, kBesideDigits);
  ::unlinkat(folder.get(), beside.c_str(), 0);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(folder.get(), beside.c_str(), flags, mode));
  if (!fd) return refused(errno, "write", at.path());
  Status written = write_all(fd.get(), bytes, at.path());
  if (written && ::fchmod(fd.get(), mode) != 0) written = refused(errno, "write", at.path());
  if (written && ::renameat(folder.get(), beside.c_str(), folder.get(), name.c_str()) != 0) {
    written = refused(errno, "write", at.path());
  }
  if (!written) ::unlinkat(folder.get(), beside.c_str(), 0);
  return written;
}

WalkResult walk_guarded(const FencedPath& at, const Fence& fence, const std::vector<std::string>& skipped,
                        const std::function<bool()>& should_continue, const std::function<void(WalkedFile)>& on_file) {
  Walk walk(fence, skipped, should_continue, on_file);
  UniqueFd start(::open(at.base.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (start && !at.rest.empty()) {
    const auto parent = open_parent(at, false);
    if (!parent) return {};
    const std::string name = base_name(at.rest);
    start = UniqueFd(::openat(parent->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (start) walk.folder(std::move(start), at.path(), 0);
  return walk.end();
}

}  // namespace sb::agent

#include "store/sqlite/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "store/sqlite/lock_holder.hpp"

namespace sb::store::sqlite {
namespace {

constexpr long kPatienceUs = 2'000'000;  // with a holder that is stopped
constexpr std::size_t kNoteBytes = limits::kStoreNameBytes + 64;

std::unexpected<Error> held_too_long(const std::string& path, const std::optional<LockHolder>& holder) {
  return std::unexpected(Error{ErrorCode::kUnavailable,
                               holder ? fmt::format("the store is locked by {}", holder->to_string())
                                      : "another process kept the store locked too long",
                               holder ? holder->remedy() : "Try again.", SourceLocation{path, {}, 0, 0}, true});
}

std::string sum_of(std::string_view line) {
  return sha256_hex(line).substr(0, 16);
}

}  // namespace

void pause_us(long duration_us) {
  const timespec duration{duration_us / 1'000'000, duration_us % 1'000'000 * 1'000};
  nanosleep(&duration, nullptr);
}

std::optional<CommitNote> read_note(const std::string& lock_path) {
  const int descriptor = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  char bytes[kNoteBytes + 64];
  const ssize_t size = ::pread(descriptor, bytes, sizeof bytes, 0);
  ::close(descriptor);
  const std::string_view text(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t end = text.find('\n');
  if (end == text.npos || text.substr(end + 1, 17) != sum_of(text.substr(0, end + 1)) + "\n") return std::nullopt;
  CommitNote note;
  const char* last = text.data() + end;
  const auto position = std::from_chars(text.data(), last, note.position);
  if (position.ec != std::errc() || position.ptr == last) return std::nullopt;
  const auto seq = std::from_chars(position.ptr + 1, last, note.seq);
  if (seq.ec != std::errc() || seq.ptr == last) return std::nullopt;
  note.stream.assign(seq.ptr + 1, last);
  return note;
}

LockFile::~LockFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

LockFile::LockGuard::~LockGuard() {
  if (descriptor_ >= 0) flock(descriptor_, LOCK_UN);
}

Result<LockFile::LockGuard> LockFile::take(int wait_ms) {
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    const bool has_too_many = errno == EMFILE || errno == ENFILE;
    return fail(has_too_many ? ErrorCode::kUnavailable : ErrorCode::kIo,
                fmt::format("cannot open the lock file ({})", std::strerror(errno)),
                has_too_many ? "Allow more open files (ulimit -n 256) and try again."
                             : "Make the directory of the store writable.",
                SourceLocation{path_, {}, 0, 0});
  }
  // Waiting is counted in pauses, so no clock is needed.
  const long limit_us = wait_ms * 1'000L;
  long waited_us = 0;
  long look_at_us = kPatienceUs;
  for (long pause = 50; flock(descriptor_, LOCK_EX | LOCK_NB) != 0; pause = std::min(pause * 2, kLongestPauseUs)) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(ErrorCode::kIo, fmt::format("cannot lock the lock file ({})", std::strerror(errno)),
                  "Keep the store on a file system that supports locks.", SourceLocation{path_, {}, 0, 0});
    }
    if (waited_us >= limit_us) return held_too_long(path_, wait_ms == 0 ? std::nullopt : holder_of_flock(path_));
    if (waited_us >= look_at_us) {
      look_at_us += kPatienceUs;
      const auto holder = holder_of_flock(path_);
      if (holder && holder->is_stopped) return held_too_long(path_, holder);
    }
    pause_us(pause);
    waited_us += pause;
  }
  return LockGuard(descriptor_);
}

void LockFile::write_note(const CommitNote& note) {
  const std::string line = fmt::format("{} {} {}\n", note.position, note.seq, note.stream);
  std::string text = line + sum_of(line) + "\n";
  text.resize(std::max(text.size(), kNoteBytes), '\n');  // over what a longer one left
  if (descriptor_ >= 0) (void)!::pwrite(descriptor_, text.data(), text.size(), 0);
}

void LockFile::clear_note() {
  if (descriptor_ >= 0) (void)!::ftruncate(descriptor_, 0);
}

}  // namespace sb::store::sqlite

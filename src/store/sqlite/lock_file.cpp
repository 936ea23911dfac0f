#include "store/sqlite/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace sb::store::sqlite {

void pause_us(long duration_us) {
  const timespec duration{duration_us / 1'000'000, duration_us % 1'000'000 * 1'000};
  nanosleep(&duration, nullptr);
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
    return fail(ErrorCode::kIo, fmt::format("cannot open the lock file ({})", std::strerror(errno)),
                "Make the directory of the store writable.", SourceLocation{path_, {}, 0, 0});
  }
  // Waiting is counted in pauses, so no clock is needed.
  const long limit_us = wait_ms * 1'000L;
  long waited_us = 0;
  for (long pause = 50; flock(descriptor_, LOCK_EX | LOCK_NB) != 0; pause = std::min(pause * 2, kLongestPauseUs)) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(ErrorCode::kIo, fmt::format("cannot lock the lock file ({})", std::strerror(errno)),
                  "Keep the store on a file system that supports locks.", SourceLocation{path_, {}, 0, 0});
    }
    if (waited_us >= limit_us) {
      return std::unexpected(Error{ErrorCode::kUnavailable, "another process kept the store locked too long",
                                   "Try again.", SourceLocation{path_, {}, 0, 0}, true});
    }
    pause_us(pause);
    waited_us += pause;
  }
  return LockGuard(descriptor_);
}

}  // namespace sb::store::sqlite

// A file used only for locking: writers and checkpoints of one store take turns with it, between processes and between
// stores of one process. The system releases the lock when its holder dies.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sb::store::sqlite {

// Between two attempts to take the lock.
inline constexpr long kLongestPauseUs = 5'000;
void pause_us(long duration_us);

class LockFile {
 public:
  explicit LockFile(std::string path) : path_(std::move(path)) {}
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  // Holds the lock during its lifetime.
  class LockGuard {
   public:
    explicit LockGuard(int descriptor) : descriptor_(descriptor) {}
    LockGuard(LockGuard&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    LockGuard& operator=(LockGuard&&) = delete;
    ~LockGuard();

   private:
    int descriptor_;
  };

  // Creates the file if missing. kUnavailable if others hold the lock for longer than `wait_ms`.
  Result<LockGuard> take(int wait_ms);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sb::store::sqlite

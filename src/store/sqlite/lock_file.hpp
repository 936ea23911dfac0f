// A file whose only use is to be locked: writers and checkpoints of one store take turns by it, between processes and
// between stores of one process. The system releases it when its holder dies.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sb::store::sqlite {

class LockFile {
 public:
  explicit LockFile(std::string path) : path_(std::move(path)) {}
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  // Holds the lock as long as it lives.
  class LockGuard {
   public:
    explicit LockGuard(int descriptor) : descriptor_(descriptor) {}
    LockGuard(LockGuard&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    LockGuard& operator=(LockGuard&&) = delete;
    ~LockGuard();

   private:
    int descriptor_;
  };

  // Makes the file when it is missing. kUnavailable when others hold it for longer than `wait_ms`.
  Result<LockGuard> take(int wait_ms);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sb::store::sqlite

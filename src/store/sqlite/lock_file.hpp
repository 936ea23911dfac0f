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
  class Hold {
   public:
    explicit Hold(int descriptor) : descriptor_(descriptor) {}
    Hold(Hold&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    int descriptor_;
  };

  // Makes the file when it is missing. kUnavailable when others hold it for longer than `wait_ms`.
  Result<Hold> take(int wait_ms);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sb::store::sqlite

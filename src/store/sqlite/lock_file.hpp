// A file used only for locking: writers and checkpoints of one store take turns with it, between processes and between
// stores of one process. The system releases the lock when its holder dies.
//
// The file also holds a note: the last commit that was acknowledged. It is written after that commit is on disk and is
// not synced itself, so it is never ahead of the store; a store that is behind its note has lost commits, also if
// nothing is left of them: a log that was cut short or removed, or an older copy in place of the store.
//
//   POSITION SEQ STREAM\n SUM\n     SUM: the first 16 hex digits of SHA-256 over the first line, its end included
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace sb::store::sqlite {

// The last event of a commit.
struct CommitNote {
  std::int64_t position = 0;
  std::int64_t seq = 0;
  std::string stream;

  bool operator==(const CommitNote&) const = default;
};

// Nothing if there is none, or it is damaged.
std::optional<CommitNote> read_note(const std::string& lock_path);
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

  // Creates the file if missing. kUnavailable if others hold the lock for longer than `wait_ms`, and after two seconds
  // if its holder is stopped; the error names the holder.
  Result<LockGuard> take(int wait_ms);

  // Only with the lock. Best effort: without a note, less damage is noticed.
  void write_note(const CommitNote& note);
  void clear_note();

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sb::store::sqlite

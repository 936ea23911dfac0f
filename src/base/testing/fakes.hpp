// Test seams that behave like the real ones: a clock set by hand, seeded random bytes, an in-memory file system that
// can fill up, and programs answered by a function.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "base/streams.hpp"

namespace sb {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimestampMs start = 1'700'000'000'000) : now_(start) {}
  TimestampMs now_ms() override { return now_; }
  void sleep_ms(std::int64_t duration_ms) override { now_ += duration_ms; }
  void set(TimestampMs now) { now_ = now; }

 private:
  TimestampMs now_;
};

// splitmix64, seeded.
class FakeRandom final : public Random {
 public:
  explicit FakeRandom(std::uint64_t seed = 1) : state_(seed) {}
  void fill(std::span<std::uint8_t> bytes) override;
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

// Maps whole paths to bytes. Directories exist when created or implied by a file.
class FakeFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path, std::size_t max_bytes) const override;
  Result<std::string> read_tail(const std::string& path, std::size_t max_bytes) const override;
  Status write_atomic(const std::string& path, std::string_view bytes, unsigned mode = 0644) override;
  Status append(const std::string& path, std::string_view bytes, unsigned mode = 0644) override;
  Status make_directories(const std::string& path, unsigned mode = 0755) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status remove_tree(const std::string& path) override;
  FileKind kind(const std::string& path) const override;
  FileStatus status(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Result<std::string> canonical(const std::string& path) const override;
  Result<std::shared_ptr<void>> lock(const std::string& path) override;
  Result<std::shared_ptr<void>> try_lock(const std::string& path) override;

  // Writes fail with kIo after this many more bytes.
  void set_space(std::size_t bytes) { space_ = bytes; }
  void set_read_only(bool read_only) { read_only_ = read_only; }
  std::map<std::string, std::string>& contents() { return files_; }

 private:
  Status charge(std::size_t bytes);
  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::set<std::string> directories_;
  std::optional<std::size_t> space_;
  bool read_only_ = false;
};

class FakeProcess final : public Process {
 public:
  using Handler = std::function<Result<ProcessResult>(const Command&)>;
  explicit FakeProcess(Handler handler) : handler_(std::move(handler)) {}
  Result<ProcessResult> run(const Command& command) override { return handler_(command); }

 private:
  Handler handler_;
};

// Reads input from a string; keeps what was written.
class FakeStreams final : public Streams {
 public:
  explicit FakeStreams(std::string input = {}) : input_(std::move(input)) {}
  Result<std::string> read_input(std::size_t max_bytes) override;
  Result<std::optional<std::string>> read_line(std::size_t max_bytes) override;
  void out(std::string_view text) override { output += text; }
  void err(std::string_view text) override { errors += text; }
  Status flush() override { return {}; }
  bool output_closed() const override { return false; }
  bool is_terminal(Stream) const override { return on_terminal; }

  std::string output;
  std::string errors;
  bool on_terminal = false;

 private:
  std::string input_;
};

}  // namespace sb

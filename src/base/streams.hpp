// The three standard streams of a program.
//
// Output is gathered and written when it grows large, on flush, and at once when a terminal reads it. ScopeFilter the
// reader of the output has gone (`signalbox lint … | head`), the rest is dropped without a word: that is no error. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sb {

enum class Stream { kInput = 0, kOutput = 1, kErrors = 2 };

class Streams {
 public:
  virtual ~Streams() = default;

  // Everything up to the end of the input; kLimit when it is longer.
  virtual Result<std::string> read_input(std::size_t max_bytes) = 0;
  // The next line without its line feed; nothing at the end of the input. kLimit when it is longer, kUnavailable when
  // a signal came while waiting.
  virtual Result<std::optional<std::string>> read_line(std::size_t max_bytes) = 0;

  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // Writes what was gathered. kIo when any output so far could not be written (a full disk, a closed descriptor).
  virtual Status flush() = 0;
  // Nobody reads the output any more, so a command that would go on for long may stop.
  virtual bool output_closed() const = 0;

  virtual bool is_terminal(Stream stream) const = 0;
};

// Descriptors 0, 1 and 2. Expects SIGPIPE not to end the process.
class SystemStreams final : public Streams {
 public:
  Result<std::string> read_input(std::size_t max_bytes) override;
  Result<std::optional<std::string>> read_line(std::size_t max_bytes) override;
  void out(std::string_view text) override;
  void err(std::string_view text) override;
  Status flush() override;
  bool output_closed() const override { return reader_gone_; }
  bool is_terminal(Stream stream) const override;

 private:
  std::string unread_;  // of the input, behind the last line given
  bool input_ended_ = false;
  std::string gathered_;
  bool reader_gone_ = false;
  int write_error_ = 0;
};

}  // namespace sb

// The three standard streams of a program.
//
// Output is buffered and written when the buffer grows large, on flush, and immediately if it is a terminal. Once the
// reader of the output is gone (`signalbox lint … | head`), the rest is dropped silently: that is not an error. Not
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

  // Everything up to the end of the input; kLimit if it is longer.
  virtual Result<std::string> read_input(std::size_t max_bytes) = 0;
  // The next line without its line feed; nothing at the end of the input. kLimit if it is longer, kUnavailable if a
  // signal arrived while waiting.
  virtual Result<std::optional<std::string>> read_line(std::size_t max_bytes) = 0;

  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // Writes buffered output. kIo if any output so far could not be written (full disk, closed descriptor).
  virtual Status flush() = 0;
  // The reader of the output is gone, so a long-running command may stop.
  virtual bool output_closed() const = 0;

  virtual bool is_terminal(Stream stream) const = 0;
};

// Descriptors 0, 1 and 2. SIGPIPE must not terminate the process.
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
  std::string unread_;  // input after the last returned line
  bool input_ended_ = false;
  std::string gathered_;
  bool reader_gone_ = false;
  int write_error_ = 0;
};

}  // namespace sb

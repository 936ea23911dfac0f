#include "base/streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.hpp"

namespace sb {
namespace {

constexpr std::size_t kGatherBytes = 64u << 10;

// Returns 0 or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<std::string> SystemStreams::read_input(std::size_t max_bytes) {
  std::string text = std::exchange(unread_, {});
  if (text.size() > max_bytes) {
    return fail(ErrorCode::kLimit, fmt::format("the input is longer than {} bytes", max_bytes));
  }
  if (input_ended_) return text;
  input_ended_ = true;
  auto rest = read_stream(STDIN_FILENO, max_bytes - text.size());
  if (!rest) return std::unexpected(std::move(rest).error());
  return text + *rest;
}

Result<std::optional<std::string>> SystemStreams::read_line(std::size_t max_bytes) {
  std::size_t searched = 0;
  while (true) {
    const auto line_feed = unread_.find('\n', searched);
    if (line_feed != std::string::npos && line_feed <= max_bytes) {
      std::string line = unread_.substr(0, line_feed);
      unread_.erase(0, line_feed + 1);
      return line;
    }
    if (unread_.size() > max_bytes) {
      return fail(ErrorCode::kLimit, fmt::format("a line of the input is longer than {} bytes", max_bytes));
    }
    if (input_ended_) {
      if (unread_.empty()) return std::nullopt;
      return std::exchange(unread_, {});
    }
    searched = unread_.size();
    char buffer[4096];
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      return fail(ErrorCode::kUnavailable, "interrupted by a signal while waiting for input");
    if (count < 0) return fail(ErrorCode::kIo, fmt::format("cannot read the input: {}", std::strerror(errno)));
    if (count == 0) input_ended_ = true;
    unread_.append(buffer, static_cast<std::size_t>(count));
  }
}

void SystemStreams::out(std::string_view text) {
  if (reader_gone_ || write_error_ != 0) return;
  gathered_ += text;
  if (gathered_.size() >= kGatherBytes || is_terminal(Stream::kOutput)) (void)flush();
}

void SystemStreams::err(std::string_view text) {
  (void)flush();  // keeps the two in order when both go to the same file
  (void)write_all(STDERR_FILENO, text);
}

Status SystemStreams::flush() {
  if (!gathered_.empty() && !reader_gone_ && write_error_ == 0) {
    const int error = write_all(STDOUT_FILENO, gathered_);
    if (error == EPIPE) {
      reader_gone_ = true;
    } else {
      write_error_ = error;
    }
  }
  gathered_.clear();
  if (write_error_ != 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot write the output: {}", std::strerror(write_error_)));
  }
  return {};
}

bool SystemStreams::is_terminal(Stream stream) const {
  return ::isatty(static_cast<int>(stream)) == 1;
}

}  // namespace sb

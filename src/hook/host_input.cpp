#include "hook/host_input.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace sb::hook {
namespace {

constexpr std::size_t kReadBytes = 64u << 10;

// Whether there is something to read, including the end of input.
Result<bool> wait_for_input(int descriptor, int wait_ms) {
  pollfd polled{descriptor, POLLIN, 0};
  const int count = ::poll(&polled, 1, wait_ms);
  if (count < 0 && errno != EINTR) {
    return fail(ErrorCode::kIo, fmt::format("cannot wait for the input: {}", std::strerror(errno)));
  }
  return count != 0;
}

}  // namespace

Result<std::string> read_within(int descriptor, std::size_t max_bytes, const ReadTimeouts& patience, Clock& clock) {
  const TimestampMs end = clock.now_ms() + patience.total_ms;
  std::string text;
  bool is_too_long = false;
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const auto left = std::clamp<std::int64_t>(end - clock.now_ms(), 0, patience.idle_ms);
    if (left == 0 || !SB_TRY(wait_for_input(descriptor, static_cast<int>(left)))) {
      return fail(ErrorCode::kUnavailable, "the host did not send the whole event in time");
    }
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return fail(ErrorCode::kIo, fmt::format("cannot read the input: {}", std::strerror(errno)));
    if (count == 0) break;
    is_too_long = is_too_long || text.size() + static_cast<std::size_t>(count) > max_bytes;
    if (!is_too_long) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (is_too_long) return fail(ErrorCode::kLimit, fmt::format("the input is longer than {} bytes", max_bytes));
  return text;
}

Result<std::string> HostStreams::read_input(std::size_t max_bytes) {
  return read_within(STDIN_FILENO, max_bytes, {}, clock_);
}

}  // namespace sb::hook

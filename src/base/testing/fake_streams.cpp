#include <fmt/format.h>

#include <utility>

#include "base/testing/fakes.hpp"

namespace sb {

Result<std::string> FakeStreams::read_input(std::size_t max_bytes) {
  if (input_.size() > max_bytes) {
    return fail(ErrorCode::kLimit, fmt::format("the input is longer than {} bytes", max_bytes));
  }
  return std::exchange(input_, {});
}

Result<std::optional<std::string>> FakeStreams::read_line(std::size_t max_bytes) {
  if (input_.empty()) return std::nullopt;
  const auto line_feed = input_.find('\n');
  std::string line = input_.substr(0, line_feed);
  if (line.size() > max_bytes) {
    return fail(ErrorCode::kLimit, fmt::format("a line of the input is longer than {} bytes", max_bytes));
  }
  input_.erase(0, line_feed == std::string::npos ? line_feed : line_feed + 1);
  return line;
}

}  // namespace sb

// Lines over two file descriptors: the transport of stdio servers.
//
// A line ends with a line feed; a carriage return before it is removed. Empty lines are skipped. Input after the last
// line feed counts as a line. A line longer than the limit is not kept: it is reported once as too long, and reading
// continues after it. Writing never blocks the loop: output that is not read yet is queued, in order. While the queue
// is more than a quarter full, no further line is read; over its limit the stream is closed (kSlow).
//
// Threads: all on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/loop.hpp"

namespace sb::net {

enum class LineStreamEnd { kInputEnded, kOutputBroken, kSlow };

struct LineHandlers {
  std::function<void(std::string_view line)> line;
  std::function<void(std::string_view beginning)> too_long;  // its first kilobyte
  std::function<void(LineStreamEnd)> ended;                  // once; nothing is called after it
};

class LineStream {
 public:
  LineStream(EventLoop& loop, int input, int output, std::size_t line_limit, std::size_t queue_limit,
             LineHandlers handlers);
  ~LineStream();
  LineStream(const LineStream&) = delete;

  void write(std::string_view text);  // \n is added
  // Calls back when everything written was sent, or can no longer be sent.
  void flush(std::function<void()> done);

 private:
  class OwnedFd;
  class LineSplitter;
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::net

// Lines over two file descriptors: what stdio servers speak.
//
// A line ends with \n (a \r before it is taken off); an empty one is skipped; what stands before the end of input
// without \n is a last line. One longer than the limit is not kept: it is told once as too long, and reading goes on
// behind its end. Writing never blocks the loop: what the reader does not take is queued, in order. While a quarter of
// the queue's limit waits, no further line is taken in; beyond the limit the stream is given up (kSlow).
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
  // Calls back when all that was written has left, or cannot leave any more.
  void flush(std::function<void()> done);

 private:
  class OwnedFd;
  class LineSplitter;
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::net

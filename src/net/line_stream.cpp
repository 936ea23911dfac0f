#include "net/line_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace sb::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kLineReadBytes = 64u << 10;
constexpr std::size_t kBeginningBytes = 1u << 10;

}  // namespace

// Our own descriptor for a file that other processes may have open too.
//
// O_NONBLOCK is a property of the open file, not of the descriptor: set on a terminal, it would stay set for the shell
// after we exit, and set on a pipe, it would affect other writers. So reopen what can be reopened. What cannot (a
// socket) is switched, and switched back at the end.
class LineStream::OwnedFd {
 public:
  OwnedFd(int shared, int access) {
    struct stat status = {};
    if (::fstat(shared, &status) != 0) return;
    is_waitable_ = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || ::isatty(shared) == 1;
    if (is_waitable_ && !S_ISSOCK(status.st_mode)) {
      const std::string name = "/proc/self/fd/" + std::to_string(shared);
      fd_ = ::open(name.c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
      if (fd_ >= 0) return;
    }
    fd_ = ::fcntl(shared, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0 || !is_waitable_) return;
    const int flags = ::fcntl(fd_, F_GETFL);
    if ((flags & O_NONBLOCK) != 0) return;
    ::fcntl(fd_, F_SETFL, flags | O_NONBLOCK);
    former_flags_ = flags;
  }
  ~OwnedFd() {
    if (former_flags_) ::fcntl(fd_, F_SETFL, *former_flags_);
    if (fd_ >= 0) ::close(fd_);
  }
  OwnedFd(const OwnedFd&) = delete;

  int fd() const { return fd_; }
  // False for files that are always ready, which epoll therefore rejects: regular files, /dev/null.
  bool is_waitable() const { return is_waitable_; }

 private:
  int fd_ = -1;
  bool is_waitable_ = false;
  std::optional<int> former_flags_;
};

// Splits the input into lines.
class LineStream::LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit) : limit_(limit) {}

  // Space for the next bytes; call added() with the number that arrived.
  std::pair<char*, std::size_t> room() {
    if (begin_ == end_) begin_ = end_ = scanned_ = 0;
    if (begin_ == end_ && buffer_.size() > kKeptBytes) buffer_ = {};
    if (begin_ > 0 && buffer_.size() - end_ < kLineReadBytes) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      scanned_ -= begin_;
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < kLineReadBytes) buffer_.resize(std::max(buffer_.size() * 2, end_ + kLineReadBytes));
    return {buffer_.data() + end_, buffer_.size() - end_};
  }
  void added(std::size_t bytes) { end_ += bytes; }

  struct Piece {
    std::string_view text;  // valid until the next room()
    bool is_too_long = false;
  };
  // The next complete (or too long) line; at the end of input also one without a line feed.
  std::optional<Piece> next(bool is_end) {
    for (;;) {
      char* const data = buffer_.data();
      auto* const found =
          end_ == scanned_ ? nullptr : static_cast<char*>(std::memchr(data + scanned_, '\n', end_ - scanned_));
      if (found == nullptr) return rest(is_end);
      std::string_view line(data + begin_, static_cast<std::size_t>(found - data) - begin_);
      begin_ = scanned_ = static_cast<std::size_t>(found - data) + 1;
      if (std::exchange(is_skipping_, false)) continue;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      if (line.size() > limit_) return Piece{line.substr(0, kBeginningBytes), true};
      return Piece{line};
    }
  }

 private:
  static constexpr std::size_t kKeptBytes = 1u << 20;

  std::optional<Piece> rest(bool is_end) {
    std::string_view line(buffer_.data() + begin_, end_ - begin_);
    scanned_ = end_;
    if (is_skipping_ || is_end) begin_ = end_;
    if (is_skipping_) return {};
    // One byte over the limit may still be a line of exactly the limit, followed by a carriage return.
    if (line.size() > limit_ + 1) {
      is_skipping_ = true;
      begin_ = end_;
      return Piece{line.substr(0, kBeginningBytes), true};
    }
    if (!is_end) return {};
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return {};
    if (line.size() > limit_) return Piece{line.substr(0, kBeginningBytes), true};
    return Piece{line};
  }

  const std::size_t limit_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, scanned_ = 0, end_ = 0;  // [begin_, scanned_) contains no line feed
  bool is_skipping_ = false;                       // the rest of a too long line
};

struct LineStream::Parts : std::enable_shared_from_this<Parts> {
  Parts(EventLoop& loop, int in, int out, std::size_t line_limit, std::size_t most_queued, LineHandlers given)
      : context(*static_cast<asio::io_context*>(loop.native())),
        input(in, O_RDONLY),
        output(out, O_WRONLY),
        cutter(line_limit),
        queue_limit(most_queued),
        handlers(std::move(given)) {
    error_code ignored;
    if (input.is_waitable()) input_wait.assign(input.fd(), ignored);
    if (output.is_waitable()) output_wait.assign(output.fd(), ignored);
  }
  ~Parts() {
    if (input_wait.is_open()) input_wait.release();
    if (output_wait.is_open()) output_wait.release();
  }

  void read_soon();
  void read_now();
  void deliver_lines();
  bool deliver();
  bool is_backed_up() const { return !is_broken && queue.size() - sent > queue_limit / 4; }
  void end(LineStreamEnd how);
  void write(std::string_view text);
  void write_now();
  void resume();
  void give_up_writing();
  void report_flushed();

  asio::io_context& context;
  OwnedFd input, output;
  // Only for waiting; they do not own the descriptors.
  asio::posix::stream_descriptor input_wait{context}, output_wait{context};
  LineSplitter cutter;
  const std::size_t queue_limit;
  LineHandlers handlers;
  std::string queue;
  std::size_t sent = 0;  // of the queue
  bool is_writing = false, is_broken = false, has_ended = false;
  bool is_at_end = false;  // of the input
  bool is_paused = false;  // no reading until the other side has read more of the output
  std::vector<std::function<void()>> flushes;
};

void LineStream::Parts::read_soon() {
  auto read = [self = shared_from_this()](const error_code& error = {}) {
    if (error != asio::error::operation_aborted && !self->has_ended) self->read_now();
  };
  if (input.is_waitable()) {
    input_wait.async_wait(asio::posix::stream_descriptor::wait_read, std::move(read));
  } else {
    asio::post(context, std::move(read));
  }
}

void LineStream::Parts::read_now() {
  const auto keep = shared_from_this();
  const auto [room, size] = cutter.room();
  ssize_t got = 0;
  do {
    got = ::read(input.fd(), room, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return read_soon();
  // A terminal that was hung up returns an error; treat it as the end.
  if (got > 0)
    cutter.added(static_cast<std::size_t>(got));
  else
    is_at_end = true;
  deliver_lines();
}

void LineStream::Parts::deliver_lines() {
  if (!deliver() || has_ended) return;
  if (is_at_end) return end(LineStreamEnd::kInputEnded);
  read_soon();
}

// False if writing must continue later.
bool LineStream::Parts::deliver() {
  while (!has_ended) {
    if (is_backed_up()) {
      is_paused = true;
      return false;
    }
    const auto piece = cutter.next(is_at_end);
    if (!piece) return true;
    const auto& handler = piece->is_too_long ? handlers.too_long : handlers.line;
    if (handler) handler(piece->text);
  }
  return true;
}

void LineStream::Parts::end(LineStreamEnd how) {
  if (std::exchange(has_ended, true)) return;
  error_code ignored;
  if (input_wait.is_open()) input_wait.cancel(ignored);
  if (handlers.ended) handlers.ended(how);
}

void LineStream::Parts::write(std::string_view text) {
  if (is_broken) return;
  queue.append(text);
  queue += '\n';
  if (queue.size() - sent > queue_limit) {
    give_up_writing();
    asio::post(context, [self = shared_from_this()] { self->end(LineStreamEnd::kSlow); });
    return;
  }
  if (std::exchange(is_writing, true)) return;
  // Deferred until the current work is done, so that its writes leave together.
  asio::post(context, [self = shared_from_this()] { self->write_now(); });
}

void LineStream::Parts::write_now() {
  while (!is_broken && sent < queue.size()) {
    const ssize_t wrote = ::write(output.fd(), queue.data() + sent, queue.size() - sent);
    if (wrote >= 0) {
      sent += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (sent >= queue.size() / 2) queue.erase(0, std::exchange(sent, 0));
      resume();
      output_wait.async_wait(asio::posix::stream_descriptor::wait_write,
                             [self = shared_from_this()](const error_code& error) {
                               if (error != asio::error::operation_aborted) self->write_now();
                             });
      return;
    } else if (errno != EINTR) {
      give_up_writing();
      end(LineStreamEnd::kOutputBroken);
      return;
    }
  }
  is_writing = false;
  sent = 0;
  queue.clear();
  if (queue.capacity() > kLineReadBytes) queue.shrink_to_fit();
  report_flushed();
  resume();
}

void LineStream::Parts::resume() {
  if (!is_paused || is_backed_up()) return;
  is_paused = false;
  asio::post(context, [self = shared_from_this()] {
    if (!self->has_ended && !self->is_paused) self->deliver_lines();
  });
}

void LineStream::Parts::give_up_writing() {
  is_broken = true;
  queue = {};
  sent = 0;
  error_code ignored;
  if (output_wait.is_open()) output_wait.cancel(ignored);
  report_flushed();
}

void LineStream::Parts::report_flushed() {
  for (auto& done : std::exchange(flushes, {})) asio::post(context, std::move(done));
}

LineStream::LineStream(EventLoop& loop, int input, int output, std::size_t line_limit, std::size_t queue_limit,
                       LineHandlers handlers)
    : parts_(std::make_shared<Parts>(loop, input, output, line_limit, queue_limit, std::move(handlers))) {
  parts_->read_soon();
}

LineStream::~LineStream() {
  error_code ignored;
  parts_->has_ended = true;
  parts_->give_up_writing();
  if (parts_->input_wait.is_open()) parts_->input_wait.cancel(ignored);
}

void LineStream::write(std::string_view text) {
  parts_->write(text);
}

void LineStream::flush(std::function<void()> done) {
  if (!parts_->is_writing || parts_->is_broken) {
    asio::post(parts_->context, std::move(done));
  } else {
    parts_->flushes.push_back(std::move(done));
  }
}

}  // namespace sb::net

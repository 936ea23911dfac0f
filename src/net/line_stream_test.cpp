#include "net/line_stream.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace sb::net {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLineLimit = 2'000, kQueueLimit = 1u << 20;

// Both ends of a pipe or socket pair; closes what is still open.
struct Ends {
  int near = -1, far = -1;
  static Ends input_pipe() {
    int fds[2] = {};
    EXPECT_EQ(::pipe(fds), 0);
    return {fds[0], fds[1]};
  }
  static Ends output_pipe() {
    int fds[2] = {};
    EXPECT_EQ(::pipe(fds), 0);
    return {fds[1], fds[0]};
  }
  static Ends sockets() {
    int fds[2] = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    return {fds[0], fds[1]};
  }
  void close_far() { ::close(std::exchange(far, -1)); }
  ~Ends() {
    if (near >= 0) ::close(near);
    if (far >= 0) ::close(far);
  }
  Ends(int near_end, int far_end) : near(near_end), far(far_end) {}
  Ends(Ends&& other) : near(std::exchange(other.near, -1)), far(std::exchange(other.far, -1)) {}
};

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    ASSERT_GT(wrote, 0);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string read_all(int fd) {
  std::string out;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(got));
  return out;
}

// What a stream reported: lines, `too long: N` with the length of the shown beginning, and how it ended. Then stops the
// loop.
struct ReceivedLines {
  EventLoop& loop;
  std::vector<std::string> lines;
  LineHandlers handlers() {
    return {
        .line = [this](std::string_view line) { lines.emplace_back(line); },
        .too_long = [this](std::string_view start) { lines.push_back("too long: " + std::to_string(start.size())); },
        .ended =
            [this](LineStreamEnd how) {
              lines.push_back(how == LineStreamEnd::kInputEnded ? "END"
                              : how == LineStreamEnd::kSlow     ? "SLOW"
                                                                : "BROKEN");
              loop.stop();
            }};
  }
};

std::vector<std::string> lines_of(std::string text, bool byte_by_byte) {
  EventLoop loop;
  ReceivedLines received{loop, {}};
  Ends in = Ends::input_pipe(), out = Ends::output_pipe();
  LineStream stream(loop, in.near, out.near, kLineLimit, kQueueLimit, received.handlers());
  std::thread writer([&] {
    if (byte_by_byte) {
      for (const char c : text) put(in.far, {&c, 1});
    } else {
      put(in.far, text);
    }
    in.close_far();
  });
  loop.run();
  writer.join();
  return received.lines;
}

TEST(LineStream, SplitsLinesHoweverBytesArrive) {
  const std::string edge(kLineLimit, 'e'), over(kLineLimit + 1, 'o'), far_over(300'000, 'f');
  for (const bool byte_by_byte : {false, true}) {
    EXPECT_THAT(lines_of("a\nb b\r\n\n\r\n \nlast", byte_by_byte), ElementsAre("a", "b b", " ", "last", "END"));
    EXPECT_THAT(lines_of("", byte_by_byte), ElementsAre("END"));
    EXPECT_THAT(lines_of("half\r", byte_by_byte), ElementsAre("half", "END"));
    EXPECT_THAT(lines_of(edge + "\n" + edge + "\r\n" + over + "\nnext\n" + edge, byte_by_byte),
                ElementsAre(edge, edge, "too long: 1024", "next", edge, "END"));
    EXPECT_THAT(lines_of(over, byte_by_byte), ElementsAre("too long: 1024", "END"));
    EXPECT_THAT(lines_of(over + "\r", byte_by_byte), ElementsAre("too long: 1024", "END"));
  }
  EXPECT_THAT(lines_of(far_over + "\nnext\n" + far_over, false),
              ElementsAre("too long: 1024", "next", "too long: 1024", "END"));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += std::to_string(i) + "\n";
  const auto lines = lines_of(many, false);
  ASSERT_EQ(lines.size(), 100'001u);
  EXPECT_EQ(lines[99'999], "99999");
}

TEST(LineStream, ReadsFilesAndDevNull) {
  const auto path = std::filesystem::temp_directory_path() / ("line_stream_" + std::to_string(::getpid()));
  std::ofstream(path) << "one\ntwo\n";
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {path, {"one", "two", "END"}}, {"/dev/null", {"END"}}}) {
    EventLoop loop;
    ReceivedLines received{loop, {}};
    const int in = ::open(name.c_str(), O_RDONLY);
    const int out = ::open("/dev/null", O_WRONLY);
    LineStream stream(loop, in, out, kLineLimit, kQueueLimit, received.handlers());
    stream.write("to no one");
    loop.run();
    EXPECT_EQ(received.lines, expected) << name;
    ::close(in);
    ::close(out);
  }
  std::filesystem::remove(path);
}

TEST(LineStream, ClosedDescriptorIsTheEnd) {
  EventLoop loop;
  ReceivedLines received{loop, {}};
  LineStream stream(loop, -1, -1, kLineLimit, kQueueLimit, received.handlers());
  loop.run();
  EXPECT_THAT(received.lines, ElementsAre("END"));
}

// Many small writes are sent as one, in order, and a slow reader gets all of it.
void expect_written(Ends out) {
  EventLoop loop;
  ReceivedLines received{loop, {}};
  Ends in = Ends::input_pipe();
  std::string expected, got;
  std::thread reader;
  {
    LineStream stream(loop, in.near, out.near, kLineLimit, 8u << 20, received.handlers());
    for (int i = 0; i < 3; ++i) stream.write("small"), expected += "small\n";
    for (int i = 0; i < 40; ++i) {
      const std::string line(100'000, static_cast<char>('a' + i % 26));
      stream.write(line);
      expected += line + "\n";
    }
    reader = std::thread([&, fd = out.far] { got = read_all(fd); });
    stream.flush([&] { loop.stop(); });
    loop.run();
  }
  loop.post([&] { loop.stop(); });
  loop.run();  // releases the descriptor
  ::close(std::exchange(out.near, -1));
  reader.join();
  EXPECT_EQ(got.size(), expected.size());
  EXPECT_TRUE(got == expected);
  EXPECT_TRUE(received.lines.empty());
}

TEST(LineStream, WritesAllInOrderToASlowReader) {
  expect_written(Ends::output_pipe());
  expect_written(Ends::sockets());
}

TEST(LineStream, WritesOfOneTurnAreSentTogether) {
  EventLoop loop;
  ReceivedLines received{loop, {}};
  Ends in = Ends::input_pipe();
  int fds[2] = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);  // preserves write boundaries
  Ends out(fds[0], fds[1]);
  LineStream stream(loop, in.near, out.near, kLineLimit, kQueueLimit, received.handlers());
  loop.post([&] { stream.write("a"), stream.write("b"), stream.flush([&] { loop.stop(); }); });
  loop.run();
  char buffer[100];
  EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(::read(out.far, buffer, sizeof buffer))), "a\nb\n");
}

TEST(LineStream, ClosesWhenTheReaderDoesNotRead) {
  EventLoop loop;
  ReceivedLines received{loop, {}};
  Ends in = Ends::input_pipe(), out = Ends::output_pipe();
  LineStream stream(loop, in.near, out.near, kLineLimit, kQueueLimit, received.handlers());
  bool is_flushed = false;
  stream.flush([&] {
    for (int i = 0; i < 30; ++i) stream.write(std::string(50'000, 'x'));
    stream.flush([&] { is_flushed = true; });
  });
  loop.run();
  EXPECT_THAT(received.lines, ElementsAre("SLOW"));
  stream.write("more");
  put(in.far, "unheard\n");
  loop.after(20, [&] { loop.stop(); });
  loop.run();
  EXPECT_THAT(received.lines, ElementsAre("SLOW"));
  EXPECT_TRUE(is_flushed);
}

// A client that sends many requests before it reads a response gets all responses.
TEST(LineStream, StopsReadingWhenTheQueueFills) {
  constexpr int kLines = 20'000;
  EventLoop loop;
  ReceivedLines received{loop, {}};
  Ends in = Ends::input_pipe(), out = Ends::output_pipe();
  LineHandlers handlers = received.handlers();
  LineStream* answering = nullptr;
  handlers.line = [&](std::string_view) { answering->write(std::string(1'000, 'a')); };
  handlers.ended = [&](LineStreamEnd how) {
    EXPECT_EQ(how, LineStreamEnd::kInputEnded);
    answering->flush([&] { loop.stop(); });
  };
  LineStream stream(loop, in.near, out.near, kLineLimit, kQueueLimit, handlers);
  answering = &stream;
  std::thread writer([&] {
    for (int i = 0; i < kLines; ++i) put(in.far, "?\n");
    in.close_far();
  });
  std::size_t answers = 0;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    char buffer[65'536];
    while (answers < kLines) {
      const ssize_t got = ::read(out.far, buffer, sizeof buffer);
      if (got <= 0) break;
      answers += static_cast<std::size_t>(std::count(buffer, buffer + got, '\n'));
    }
  });
  loop.run();
  writer.join();
  reader.join();
  EXPECT_EQ(answers, kLines);
}

TEST(LineStream, ReportsABrokenPipe) {
  for (const bool is_socket : {false, true}) {
    EventLoop loop;
    ReceivedLines received{loop, {}};
    Ends in = Ends::input_pipe(), out = is_socket ? Ends::sockets() : Ends::output_pipe();
    LineStream stream(loop, in.near, out.near, kLineLimit, kQueueLimit, received.handlers());
    out.close_far();
    stream.write("to no one");
    loop.run();
    EXPECT_THAT(received.lines, ElementsAre("BROKEN"));
  }
}

TEST(LineStream, StillWritesAfterTheInputEnded) {
  EventLoop loop;
  Ends in = Ends::input_pipe(), out = Ends::output_pipe();
  std::unique_ptr<LineStream> stream;
  LineHandlers handlers{.line = {}, .too_long = {}, .ended = [&](LineStreamEnd) {
                          stream->write("goodbye");
                          stream->flush([&] { loop.stop(); });
                        }};
  stream = std::make_unique<LineStream>(loop, in.near, out.near, kLineLimit, kQueueLimit, handlers);
  in.close_far();
  loop.run();
  char buffer[100];
  EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(::read(out.far, buffer, sizeof buffer))), "goodbye\n");
}

TEST(LineStream, MayBeDestroyedByItsOwnHandler) {
  EventLoop loop;
  Ends in = Ends::input_pipe(), out = Ends::output_pipe();
  std::unique_ptr<LineStream> stream;
  int lines = 0;
  LineHandlers handlers{
      .line = [&](std::string_view) { ++lines, stream.reset(), loop.stop(); }, .too_long = {}, .ended = {}};
  stream = std::make_unique<LineStream>(loop, in.near, out.near, kLineLimit, kQueueLimit, handlers);
  put(in.far, "a\nb\nc\n");
  loop.run();
  EXPECT_EQ(lines, 1);
}

// Other processes have the same terminal or socket open and do not expect EAGAIN.
TEST(LineStream, LeavesSharedFilesBlocking) {
  int master = -1, slave = -1;
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  Ends terminal(slave, master), pipe = Ends::output_pipe(), socket = Ends::sockets();
  const auto is_blocking = [](int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; };
  {
    EventLoop loop;
    ReceivedLines received{loop, {}};
    LineStream on_terminal(loop, terminal.near, pipe.near, kLineLimit, kQueueLimit, received.handlers());
    LineStream on_socket(loop, socket.near, socket.near, kLineLimit, kQueueLimit, {});
    put(terminal.far, "typed\n");
    on_terminal.write("x");
    loop.after(20, [&] { loop.stop(); });
    loop.run();
    EXPECT_THAT(received.lines, ElementsAre("typed"));
    EXPECT_TRUE(is_blocking(terminal.near));
    EXPECT_TRUE(is_blocking(pipe.near));
  }
  EXPECT_TRUE(is_blocking(socket.near));
}

}  // namespace
}  // namespace sb::net

#include "base/streams.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/testing/fakes.hpp"

namespace sb {
namespace {

// Replaces one of the test's own standard streams by `fd`, for the lifetime of the object.
class Redirected {
 public:
  Redirected(int standard, int fd) : standard_(standard), kept_(::dup(standard)) { ::dup2(fd, standard); }
  ~Redirected() {
    ::dup2(kept_, standard_);
    ::close(kept_);
  }

 private:
  int standard_;
  int kept_;
};

struct InputOf {
  explicit InputOf(std::string_view text) {
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
  }
  ~InputOf() { ::close(ends[0]); }
  int ends[2];
};

TEST(Streams, LinesThenTheRest) {
  const InputOf input("one\n\ntwo\nthree\nfour");
  const Redirected redirected(0, input.ends[0]);
  SystemStreams streams;
  EXPECT_EQ(streams.read_line(10).value(), "one");
  EXPECT_EQ(streams.read_line(10).value(), "");
  EXPECT_EQ(streams.read_line(10).value(), "two");
  EXPECT_EQ(streams.read_input(100).value(), "three\nfour");
  EXPECT_EQ(streams.read_line(10).value(), std::nullopt);
  EXPECT_EQ(streams.read_input(10).value(), "");
}

TEST(Streams, LastLineNeedsNoLineFeed) {
  const InputOf input("a\nb");
  const Redirected redirected(0, input.ends[0]);
  SystemStreams streams;
  EXPECT_EQ(streams.read_line(10).value(), "a");
  EXPECT_EQ(streams.read_line(10).value(), "b");
  EXPECT_EQ(streams.read_line(10).value(), std::nullopt);
}

TEST(Streams, LimitsAreExact) {
  {
    const InputOf input("12345\n123456\n");
    const Redirected redirected(0, input.ends[0]);
    SystemStreams streams;
    EXPECT_EQ(streams.read_line(5).value(), "12345");
    EXPECT_EQ(streams.read_line(5).error().code, ErrorCode::kLimit);
  }
  for (const std::size_t limit : {5u, 6u}) {
    const InputOf input("123456");
    const Redirected redirected(0, input.ends[0]);
    SystemStreams streams;
    EXPECT_EQ(streams.read_input(limit).has_value(), limit == 6);
  }
}

TEST(Streams, ClosedReaderIsNotAnError) {
  struct sigaction quiet{};
  struct sigaction before{};
  quiet.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &quiet, &before);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  {
    const Redirected redirected(1, ends[1]);
    SystemStreams streams;
    streams.out("no one reads this");
    EXPECT_FALSE(streams.output_closed());
    EXPECT_TRUE(streams.flush());
    EXPECT_TRUE(streams.output_closed());
    streams.out("nor this");
    EXPECT_TRUE(streams.flush());
  }
  ::close(ends[1]);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST(Streams, FakeReadsLikeTheRealOne) {
  FakeStreams streams("one\n\nlast");
  EXPECT_EQ(streams.read_line(10).value(), "one");
  EXPECT_EQ(streams.read_line(10).value(), "");
  EXPECT_EQ(streams.read_line(10).value(), "last");
  EXPECT_EQ(streams.read_line(10).value(), std::nullopt);
  EXPECT_EQ(FakeStreams("123456").read_line(5).error().code, ErrorCode::kLimit);
  EXPECT_EQ(FakeStreams("123456").read_input(5).error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace sb

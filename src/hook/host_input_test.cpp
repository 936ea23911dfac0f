#include "hook/host_input.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/testing/fakes.hpp"

namespace sb::hook {
namespace {

using testing::HasSubstr;

class HostInput : public testing::Test {
 protected:
  HostInput() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~HostInput() override {
    ::close(ends_[0]);
    end();
  }
  void send(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  Result<std::string> read(std::size_t max_bytes = 100) { return read_within(ends_[0], max_bytes, {20, 40}, clock_); }

  int ends_[2] = {-1, -1};
  SystemClock clock_;
};

TEST_F(HostInput, IsReadToItsEnd) {
  send("{}");
  end();
  EXPECT_EQ(read().value(), "{}");
}

TEST_F(HostInput, TimesOutWhenTheHostSendsNothing) {
  EXPECT_EQ(read().error().code, ErrorCode::kUnavailable);
}

TEST_F(HostInput, TimesOutWhenTheHostStopsHalfway) {
  send("{\"a\":");
  EXPECT_EQ(read().error().code, ErrorCode::kUnavailable);
}

TEST_F(HostInput, OversizedInputIsStillDrained) {
  send(std::string(5'000, 'x'));
  end();
  EXPECT_THAT(read().error().to_string(), HasSubstr("longer than 100 bytes"));
  EXPECT_EQ(read().value(), "");
}

}  // namespace
}  // namespace sb::hook

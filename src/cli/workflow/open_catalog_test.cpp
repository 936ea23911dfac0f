// The progress line: only on a terminal, only after a second, and erased at the end.
#include "cli/workflow/open_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"

namespace sb::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class ProgressTest : public testing::Test {
 protected:
  // Reads a file every 400 ms, four times.
  void check_files() {
    ProgressLine progress(context, "files read");
    for (int count = 1; count <= 4; ++count) {
      clock.sleep_ms(400);
      progress.at(count);
    }
  }

  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return ProcessResult{}; }};
  Environment environment;
  FakeStreams streams;
  Context context{Seams{files, clock, random, process, environment, streams}, {}, false, {}};
};

TEST_F(ProgressTest, IsShownAfterASecondAndErasedAtTheEnd) {
  streams.on_terminal = true;
  check_files();
  EXPECT_THAT(streams.errors, HasSubstr("3 files read"));
  EXPECT_THAT(streams.errors, Not(HasSubstr("2 files read")));
  EXPECT_THAT(streams.errors, EndsWith("\r\x1b[K"));
  EXPECT_EQ(streams.output, "");
}

TEST_F(ProgressTest, IsNotShownWithoutATerminal) {
  check_files();
  EXPECT_EQ(streams.errors, "");
}

TEST_F(ProgressTest, AWorkspaceMustBeAFolder) {
  files.contents()["/p/file"] = "";
  EXPECT_EQ(*workspace_of(context, "/p"), "/p");
  EXPECT_EQ(workspace_of(context, "/p/file").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(workspace_of(context, "/nowhere").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sb::cli

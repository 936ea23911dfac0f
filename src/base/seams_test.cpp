// The real seams: files, processes, clock formats, home folders.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/testing/fakes.hpp"
#include "base/text/pattern.hpp"

namespace sb {
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    char name[] = "/tmp/sb-files-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~FilesTest() override {
    [[maybe_unused]] const int code = std::system(("chmod -R u+w " + folder_ + "; rm -rf " + folder_).c_str());
  }
  std::string path(std::string_view name) const { return join_path(folder_, name); }

  std::string folder_;
  SystemFiles files_;
};

TEST_F(FilesTest, RemovesEmptyFoldersAndWholeTreesWithoutFollowingLinks) {
  ASSERT_TRUE(files_.make_directories(path("a/b")));
  ASSERT_TRUE(files_.make_directories(path("kept")));
  ASSERT_TRUE(files_.write_atomic(path("kept/file"), "one"));
  ASSERT_EQ(::symlink(path("kept").c_str(), path("a/b/link").c_str()), 0);
  EXPECT_FALSE(files_.remove_directory(path("a/b")));
  EXPECT_EQ(files_.remove_directory(path("missing")).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(files_.remove_tree(path("a")));
  EXPECT_EQ(files_.kind(path("a")), FileKind::kMissing);
  EXPECT_EQ(*files_.read(path("kept/file"), 100), "one");
  EXPECT_TRUE(files_.remove_tree(path("a")));
  ASSERT_TRUE(files_.remove_tree(path("kept/file")));
  EXPECT_TRUE(files_.remove_directory(path("kept")));
}

TEST_F(FilesTest, WritesAtomically) {
  ASSERT_TRUE(files_.write_atomic(path("a"), "one", 0600));
  ASSERT_TRUE(files_.write_atomic(path("a"), "two"));
  EXPECT_EQ(*files_.read(path("a"), 100), "two");
  struct stat status{};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(files_.list(folder_)->size(), 1u);  // no temporary file left
}

TEST_F(FilesTest, FailedWriteKeepsOnlyTheOldFile) {
  ASSERT_TRUE(files_.write_atomic(path("a"), "one"));
  ASSERT_TRUE(files_.make_directories(path("dir")));
  EXPECT_FALSE(files_.write_atomic(path("dir"), "x"));
  EXPECT_FALSE(files_.write_atomic(path("missing/a"), "x"));
  const auto full = files_.append("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().to_string().find("Free some space"), std::string::npos) << full.error().to_string();
  EXPECT_EQ(*files_.read(path("a"), 100), "one");
}

TEST_F(FilesTest, StatusDetectsChangedFilesAndLinks) {
  EXPECT_EQ(files_.status(path("a")), FileStatus{});
  ASSERT_TRUE(files_.write_atomic(path("a"), "one"));
  const FileStatus before = files_.status(path("a"));
  EXPECT_EQ(before.kind, FileKind::kFile);
  EXPECT_EQ(before.size, 3u);
  EXPECT_FALSE(before.is_link);
  EXPECT_EQ(files_.status(path("a")), before);
  ASSERT_TRUE(files_.write_atomic(path("a"), "two"));
  EXPECT_NE(files_.status(path("a")), before);
  ASSERT_EQ(::symlink(path("a").c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(files_.status(path("link")).is_link);
  EXPECT_EQ(files_.status(path("link")).kind, FileKind::kFile);
  ASSERT_EQ(::symlink("nowhere", path("dangling").c_str()), 0);
  EXPECT_TRUE(files_.status(path("dangling")).is_link);
  EXPECT_EQ(files_.status(path("dangling")).kind, FileKind::kMissing);
  EXPECT_EQ(files_.status(folder_).kind, FileKind::kDirectory);
}

TEST_F(FilesTest, FollowsALinkInsteadOfReplacingIt) {
  ASSERT_TRUE(files_.write_atomic(path("real"), "one"));
  ASSERT_EQ(::symlink(path("real").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(files_.write_atomic(path("link"), "two"));
  EXPECT_EQ(*files_.read(path("real"), 100), "two");
}

TEST_F(FilesTest, ReadsWithinLimitsAndReportsErrors) {
  ASSERT_TRUE(files_.write_atomic(path("a"), "12345"));
  EXPECT_EQ(files_.read(path("a"), 4).error().code, ErrorCode::kLimit);
  EXPECT_EQ(files_.read(path("b"), 4).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.read(folder_, 4).error().code, ErrorCode::kInvalid);
}

TEST_F(FilesTest, LocksExcludeOthers) {
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        const auto held = files_.lock(path("lock"));
        ASSERT_TRUE(held);
        const int seen = counter;
        std::this_thread::yield();
        counter = seen + 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter, 400);
}

TEST(Process, ReturnsOutputErrorsAndCode) {
  SystemProcess process;
  const auto exit =
      process.run({.argv = {"sh", "-c", "cat; echo err >&2; exit 3"}, .input = std::string(200'000, 'x')});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(exit->output.size(), 200'000u);
  EXPECT_EQ(exit->errors, "err\n");
}

TEST(Process, KillsProgramsThatHangFloodOrFork) {
  SystemProcess process;
  const auto hung = process.run({.argv = {"sh", "-c", "sleep 60 & sleep 60"}, .timeout_ms = 100});
  ASSERT_TRUE(hung);
  EXPECT_TRUE(hung->timed_out);
  const auto flood = process.run({.argv = {"sh", "-c", "head -c 5000000 /dev/zero"}, .max_output_bytes = 1000});
  ASSERT_TRUE(flood);
  EXPECT_TRUE(flood->output_truncated);
  EXPECT_EQ(flood->output.size(), 1000u);
  EXPECT_EQ(process.run({.argv = {"/no/such/program"}})->code, 127);
}

TEST(Process, IsKilledWhenCancelled) {
  for (const bool kill_descendants : {false, true}) {
    int asked = 0;
    const auto ended = SystemProcess().run({.argv = {"sh", "-c", "echo began; sleep 60"},
                                            .kill_descendants = kill_descendants,
                                            .should_continue = [&] { return ++asked < 2; }});
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->was_cancelled);
    EXPECT_FALSE(ended->timed_out);
    EXPECT_EQ(ended->output, "began\n");
    EXPECT_EQ(asked, 2);
  }
}

TEST(Process, WaitsForTheProgramNotForOtherHoldersOfItsOutput) {
  SystemProcess process;
  const auto exit = process.run({.argv = {"sh", "-c", "sleep 20 & echo $!"}, .timeout_ms = 10'000});
  ASSERT_TRUE(exit);
  EXPECT_FALSE(exit->timed_out);
  EXPECT_EQ(::kill(std::stoi(exit->output), SIGKILL), 0);
  const auto all = process.run({.argv = {"sh", "-c", "setsid sleep 20 & echo $!"}, .kill_descendants = true});
  ASSERT_TRUE(all);
  EXPECT_NE(::kill(std::stoi(all->output), 0), 0);
}

TEST(Process, KeepsBothEndsOfLongOutputWhenAsked) {
  SystemProcess process;
  const std::string script = "printf 'begin'; head -c 1000000 /dev/zero; printf 'end' >&2";
  const auto exit =
      process.run({.argv = {"sh", "-c", script}, .max_output_bytes = 20, .merge_stderr = true, .keep_tail = true});
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->output_truncated);
  EXPECT_TRUE(exit->output.starts_with("begin"));
  EXPECT_TRUE(exit->output.ends_with("end"));
  EXPECT_NE(exit->output.find("999988 bytes left out"), std::string::npos) << exit->output;
  EXPECT_EQ(exit->errors, "");
}

TEST(Process, InheritsNoOpenFile) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  SystemProcess process;
  const auto exit = process.run({.argv = {"sh", "-c", "ls /proc/self/fd | wc -l"}});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "4\n");  // its three streams and the folder it lists
  ::close(leaked);
}

TEST(Clock, TimesAndDurations) {
  EXPECT_EQ(to_rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(*parse_rfc3339("2026-11-15T08:03:00Z"), 1794729780000);
  EXPECT_EQ(*parse_rfc3339("2026-11-15T10:03:00.5+02:00"), 1794729780500);
  for (const char* bad : {"", "2026-13-01T00:00:00Z", "2026-11-15", "2026-11-15T08:03:00", "2026-02-30T00:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(bad)) << bad;
  }
  EXPECT_EQ(*parse_duration_ms("1h30m"), 5'400'000);
  EXPECT_EQ(*parse_duration_ms("250ms"), 250);
  for (const char* bad : {"", "5", "h", "-1h", "1w", "1h 2m", "99999999999999999999h"})
    EXPECT_FALSE(parse_duration_ms(bad)) << bad;
}

TEST(Homes, FollowTheEnvironment) {
  using Map = std::map<std::string, std::string, std::less<>>;
  EXPECT_EQ(homes(Environment(Map{{"SIGNALBOX_HOME", "/x"}, {"HOME", "/h"}}))->data, "/x");
  const auto xdg = homes(Environment(Map{{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_DATA_HOME", "relative"}}));
  EXPECT_EQ(xdg->config, "/c/signalbox");
  EXPECT_EQ(xdg->data, "/h/.local/share/signalbox");
  EXPECT_FALSE(homes(Environment(Map{})));
}

TEST(Pattern, IsUnicodeAwareAndBounded) {
  const auto word = Pattern::compile("\\bда\\b", Pattern::kIgnoreCase);
  ASSERT_TRUE(word);
  EXPECT_TRUE(*word->matches("ну, ДА!"));
  EXPECT_FALSE(*word->matches("дача"));
  const auto explosive = Pattern::compile("(a+)+$");
  ASSERT_TRUE(explosive);
  EXPECT_EQ(explosive->matches(std::string(50'000, 'a') + "b").error().code, ErrorCode::kLimit);
  const auto deep = Pattern::compile("(((a|b)*c)*d)*e");
  EXPECT_NO_FATAL_FAILURE((void)deep->matches(std::string(100'000, 'a')));
  EXPECT_FALSE(Pattern::compile("(unclosed"));
  EXPECT_FALSE(Pattern::compile(std::string(100'000, '(')));
}

TEST(FakeFiles, BehavesLikeADisk) {
  FakeFiles files;
  ASSERT_TRUE(files.make_directories("/a/b"));
  ASSERT_TRUE(files.write_atomic("/a/b/c", "12345"));
  files.set_space(3);
  EXPECT_FALSE(files.write_atomic("/a/b/c", "123456"));
  EXPECT_EQ(*files.read("/a/b/c", 100), "12345");
  EXPECT_EQ(*files.list("/a"), std::vector<std::string>{"b"});
  EXPECT_EQ(files.kind("/a/b"), FileKind::kDirectory);
  EXPECT_FALSE(files.remove_directory("/a/b"));
  EXPECT_TRUE(files.remove("/a/b/c"));
  EXPECT_TRUE(files.remove_directory("/a/b"));
  EXPECT_EQ(files.kind("/a/b"), FileKind::kMissing);
  EXPECT_TRUE(files.remove_tree("/a"));
  EXPECT_EQ(files.kind("/a"), FileKind::kMissing);
}

}  // namespace
}  // namespace sb

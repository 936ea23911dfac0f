// Real commands in the real sandbox, and without one.
#include "engine/command/command_runner.hpp"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/crypto.hpp"
#include "base/testing/fakes.hpp"
#include "base/text/unicode.hpp"
#include "inbox/operators/trust.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using workflow::SourceKind;

std::string read_all(const std::string& path) {
  // A process that ends meanwhile cannot be read any more.
  return SystemFiles().read(path, 1u << 20).value_or("");
}

// Whether a process is running with this word among its arguments.
bool is_process_running(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || std::stoi(name) == ::getpid()) continue;
    if (read_all(entry.path() / "cmdline").find(word) != std::string::npos) return true;
  }
  return false;
}

// Killing is quick, but not finished when kill() returns.
bool ends_soon(const std::string& word) {
  for (int i = 0; i < 500; ++i) {
    if (!is_process_running(word)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A folder that contains a home and a workspace. `with_sandbox` false: no bwrap in PATH.
class Place {
 public:
  explicit Place(bool with_sandbox = true, CommandLimits limits = {.time_ms = 20'000, .output_bytes = 4'000}) {
    std::string pattern = "/var/tmp/sb-command-XXXXXX";  // not in /tmp: commands get a private one
    directory = std::filesystem::canonical(::mkdtemp(pattern.data()));
    workspace = directory + "/work";
    homes = {directory + "/home/.sb", directory + "/home/.sb", directory + "/home/.sb"};
    for (const char* name : {"/work", "/home/.sb", "/home/.ssh", "/bin"}) {
      std::filesystem::create_directories(directory + name);
    }
    write("home/.sb/signalbox.db", "ours");
    write("home/.ssh/id", "secret");
    write("home/.netrc", "secret");
    write("home/notes", "unseen");
    for (const char* name : {"sh", "sleep", "setsid", "cat", "head", "yes", "env", "true", "ls"}) {
      for (const std::string folder : {"/usr/bin/", "/bin/"}) {
        if (!std::filesystem::exists(folder + name) || std::filesystem::exists(directory + "/bin/" + name)) continue;
        std::filesystem::create_symlink(folder + name, directory + "/bin/" + name);
      }
    }
    environment = Environment({{"PATH", with_sandbox ? "/usr/bin:/bin" : directory + "/bin"},
                               {"HOME", directory + "/home"},
                               {"LANG", "C.UTF-8"},
                               {"SECRET_TOKEN", "abc"}});
    commands = std::make_unique<SandboxedCommandRunner>(seams, homes, operators, limits);
    marker = std::to_string(7'000'000 + std::hash<std::string>{}(directory) % 1'000'000);
  }
  ~Place() { std::filesystem::remove_all(directory); }

  CommandRun run(const std::string& command) { return commands->run(command, workspace, {}, {}); }
  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(directory + "/" + name).parent_path());
    std::ofstream(directory + "/" + name) << text;
  }

  std::string directory, workspace;
  std::string marker;  // a unique number of seconds to sleep
  HomeDirectories homes;
  Environment environment;
  SystemFiles files;
  SystemClock clock;
  FakeRandom random;
  SystemProcess process;
  FakeStreams streams;
  inbox::Operators operators;
  Seams seams{files, clock, random, process, environment, streams};
  std::unique_ptr<SandboxedCommandRunner> commands;
};

bool sandbox_works() {
  Place place;
  return sandbox::find_sandbox(place.seams).works();
}

TEST(CommandRunner, ReportsOutputAndExitCode) {
  Place place;
  const CommandRun run = place.run("echo out; echo err >&2; pwd; exit 3");
  EXPECT_EQ(run.not_run_reason, "");
  EXPECT_EQ(run.exit, 3);
  EXPECT_EQ(run.output, "out\nerr\n" + place.workspace + "\n");
  EXPECT_FALSE(run.timed_out);
  EXPECT_FALSE(run.output_truncated);
  EXPECT_THAT(run.sandbox, StartsWith(sandbox_works() ? "bubblewrap" : "none: "));
  EXPECT_GE(run.duration_ms, 0);
}

TEST(CommandRunner, OnlyTheWorkspaceIsWritable) {
  if (!sandbox_works()) GTEST_SKIP() << "bubblewrap does not work here";
  Place place;
  EXPECT_EQ(place.run("echo x > made && mkdir -p a/b && rm -r a").exit, 0);
  EXPECT_EQ(read_all(place.workspace + "/made"), "x\n");
  (void)place.run("echo x > ../outside");
  EXPECT_FALSE(std::filesystem::exists(place.directory + "/outside"));
  EXPECT_NE(place.run("echo x > /etc/sb-outside").exit, 0);
  EXPECT_NE(place.run("echo x > /usr/sb-outside").exit, 0);
  EXPECT_EQ(place.run("echo x > $HOME/notes; echo x > /var/tmp/sb-outside").exit, 0) << "in folders of its own";
  EXPECT_EQ(read_all(place.homes.config + "/../notes"), "unseen");
  EXPECT_FALSE(std::filesystem::exists("/var/tmp/sb-outside"));
  EXPECT_EQ(place.run("echo x > /tmp/sb-private && cat /tmp/sb-private").output, "x\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/sb-private"));
}

TEST(CommandRunner, DotGitIsReadOnly) {
  if (!sandbox_works()) GTEST_SKIP() << "bubblewrap does not work here";
  Place place;
  ASSERT_EQ(SystemProcess().run({.argv = {"git", "init", "--quiet", place.workspace}})->code, 0);
  const std::string before = read_all(place.workspace + "/.git/config");
  EXPECT_NE(place.run("echo x > .git/config").exit, 0);
  EXPECT_NE(place.run("mv .git away").exit, 0);
  EXPECT_NE(place.run("rm -r .git").exit, 0);
  EXPECT_EQ(read_all(place.workspace + "/.git/config"), before);
}

TEST(CommandRunner, OurHomeAndTheUsersKeysAreHidden) {
  if (!sandbox_works()) GTEST_SKIP() << "bubblewrap does not work here";
  Place place;
  EXPECT_EQ(place.run("ls -A $HOME").output, "");
  EXPECT_NE(place.run("umount $HOME && cat $HOME/.ssh/id").exit, 0);
  EXPECT_EQ(place.run("ls -A /run | grep -v current-system").output, "signalbox\n");
  EXPECT_EQ(place.run("ls -A /run/signalbox").output, "inside\n");
}

TEST(CommandRunner, AHomeInsideTheWorkspaceIsHiddenAndAWorkspaceInsideASecretFolderIsNot) {
  if (!sandbox_works()) GTEST_SKIP() << "bubblewrap does not work here";
  Place place;
  place.workspace = place.directory + "/home";
  EXPECT_EQ(place.run("cat notes; ls -A .sb .ssh | grep -v :").output, "unseen\n");
  place.write("home/.config/project/file", "there");
  place.write("home/.config/other/file", "secret");
  place.workspace = place.directory + "/home/.config/project";
  EXPECT_EQ(place.run("cat file; ls ..").output, "thereproject\n");
}

TEST(CommandRunner, AWorkspaceInTmpIsVisibleAndItsNeighboursAreNot) {
  if (!sandbox_works()) GTEST_SKIP() << "bubblewrap does not work here";
  Place place;
  std::string pattern = "/tmp/sb-work-XXXXXX";
  place.workspace = ::mkdtemp(pattern.data());
  EXPECT_EQ(place.run("echo x > made; ls -d /tmp/*").output, place.workspace + "\n");
  EXPECT_EQ(read_all(place.workspace + "/made"), "x\n");
  std::filesystem::remove_all(place.workspace);
}

TEST(CommandRunner, ThereIsNoNetworkAndNoExtraVariable) {
  Place place;
  const std::string variables = place.run("env | cut -d= -f1 | sort").output;
  if (sandbox_works()) {
    EXPECT_EQ(variables, "HOME\nLANG\nPATH\nPWD\n");
    EXPECT_THAT(place.run("cat /proc/net/dev | grep -c :").output, "1\n");  // only loopback
  }
  EXPECT_THAT(variables, Not(HasSubstr("SECRET")));
}

class EveryWay : public testing::TestWithParam<bool> {
 protected:
  Place place_{GetParam(), {.time_ms = 20'000, .output_bytes = 4'000}};
  Place hasty_{GetParam(), {.time_ms = 300, .output_bytes = 4'000}};
};

TEST_P(EveryWay, OneThatHangsIsEnded) {
  const CommandRun run = hasty_.run("echo before; sleep " + hasty_.marker);
  EXPECT_TRUE(run.timed_out);
  EXPECT_NE(run.exit, 0);
  EXPECT_EQ(run.output, "before\n");
  EXPECT_TRUE(ends_soon(hasty_.marker));
}

TEST_P(EveryWay, OneThatIgnoresSignalsIsEnded) {
  const CommandRun run = hasty_.run("trap '' TERM INT HUP; sleep " + hasty_.marker + " & wait; sleep " + hasty_.marker);
  EXPECT_TRUE(run.timed_out);
  EXPECT_TRUE(ends_soon(hasty_.marker));
}

TEST_P(EveryWay, OneThatFloodsKeepsTheStartAndEndOfItsOutput) {
  const CommandRun run = place_.run("echo first; yes | head -c 30000000; echo last");
  EXPECT_EQ(run.exit, 0);
  EXPECT_TRUE(run.output_truncated);
  EXPECT_THAT(run.output, StartsWith("first\ny\n"));
  EXPECT_TRUE(run.output.ends_with("y\nlast\n"));
  EXPECT_THAT(run.output, HasSubstr("[… 29996011 bytes left out …]"));
  EXPECT_LT(run.output.size(), 4'100u);
}

TEST_P(EveryWay, OneThatFloodsForeverIsEnded) {
  const CommandRun run = hasty_.run("yes " + hasty_.marker);
  EXPECT_TRUE(run.timed_out);
  EXPECT_TRUE(run.output_truncated);
  EXPECT_TRUE(ends_soon(hasty_.marker));
}

// The shell exits immediately; the process it left behind keeps the pipe open, so waiting for it would take hours.
TEST_P(EveryWay, OneThatLeavesAProcessBehindDoesNotDelayUs) {
  const CommandRun run = place_.run("sleep " + place_.marker + " & echo done");
  EXPECT_FALSE(run.timed_out);
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.output, "done\n");
  EXPECT_TRUE(ends_soon(place_.marker));
}

TEST_P(EveryWay, OneThatDoubleForksIntoItsOwnSessionIsEnded) {
  const CommandRun run =
      place_.run("setsid sh -c 'setsid sleep " + place_.marker + " & sleep " + place_.marker + "' & echo done");
  EXPECT_FALSE(run.timed_out);
  EXPECT_EQ(run.output, "done\n");
  EXPECT_TRUE(ends_soon(place_.marker));
  const CommandRun late = hasty_.run("(setsid sh -c 'sleep " + hasty_.marker + " & wait' &) ; sleep " + hasty_.marker);
  EXPECT_TRUE(late.timed_out);
  EXPECT_TRUE(ends_soon(hasty_.marker));
}

TEST_P(EveryWay, OneThatKeepsForkingIsEnded) {
  const CommandRun run = hasty_.run("while :; do sleep " + hasty_.marker + " & sleep 0.01; done");
  EXPECT_TRUE(run.timed_out);
  EXPECT_TRUE(ends_soon(hasty_.marker));
}

TEST_P(EveryWay, OneThatKillsItselfIsAFailure) {
  EXPECT_EQ(place_.run("echo x; kill -9 $$").exit, 137);
  const CommandRun group = place_.run("sleep " + place_.marker + " & kill -9 0");
  EXPECT_NE(group.exit, 0);
  EXPECT_FALSE(group.timed_out);
  EXPECT_TRUE(ends_soon(place_.marker));
  EXPECT_NE(place_.run("kill -15 0; sleep 1").exit, 0);
}

TEST_P(EveryWay, OneThatReadsItsInputGetsEndOfFile) {
  const CommandRun run = place_.run("cat; echo end");
  EXPECT_EQ(run.output, "end\n");
}

TEST_P(EveryWay, BytesThatAreNotTextDoNotReachTheRecord) {
  const CommandRun run = place_.run("printf 'a\\377b\\303\\050 \\303\\251\\n'");
  EXPECT_TRUE(is_utf8(run.output));
  EXPECT_EQ(run.output, "a?b?( é\n");
}

TEST_P(EveryWay, TheSandboxUsedIsRecorded) {
  const std::string sandbox = place_.run("true").sandbox;
  if (!GetParam()) {
    EXPECT_EQ(sandbox, "none: bubblewrap is not installed");
  } else {
    EXPECT_THAT(sandbox, StartsWith(sandbox_works() ? "bubblewrap" : "none: "));
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, EveryWay, testing::Bool(),
                         [](const auto& each) { return each.param ? "Sandboxed" : "Without"; });

TEST(CommandRunner, ABwrapInTheWorkspaceIsNotUsed) {
  Place place;
  place.write("work/bwrap", "#!/bin/sh\necho fooled\n");
  ASSERT_EQ(::chmod((place.workspace + "/bwrap").c_str(), 0755), 0);
  place.environment = Environment({{"PATH", ".::" + place.directory + "/bin"}, {"HOME", place.directory + "/home"}});
  EXPECT_EQ(place.run("echo x").output, "x\n");
}

TEST(CommandRunner, ABrokenSandboxIsReportedWithItsReason) {
  Place place;
  FakeProcess process([](const Command& command) -> Result<ProcessResult> {
    ProcessResult exit;
    if (command.argv[0] == "/bin/sh") return exit;
    exit.code = 1;
    exit.errors = "bwrap: No permissions to create new namespace\nmore\n";
    return exit;
  });
  FakeFiles files;
  ASSERT_TRUE(files.write_atomic("/usr/bin/bwrap", ""));
  ASSERT_TRUE(files.make_directories("/work"));
  const Seams seams{files, place.clock, place.random, process, place.environment, place.streams};
  SandboxedCommandRunner commands(seams, place.homes, place.operators);
  EXPECT_EQ(commands.run("true", "/work", {}, {}).sandbox, "none: bwrap: No permissions to create new namespace");
}

TEST(CommandRunner, AMissingWorkspaceIsReported) {
  Place place;
  EXPECT_THAT(place.commands->run("true", place.directory + "/gone", {}, {}).not_run_reason,
              HasSubstr("is not a folder"));
  EXPECT_THAT(place.commands->run(std::string("a\0b", 3), place.workspace, {}, {}).not_run_reason, HasSubstr("NUL"));
}

// A project with a workflow file, with its origin as the catalog reports it.
class Project : public testing::Test {
 protected:
  Project() {
    place_.write("work/.signalbox/workflows/a.yaml", kText);
    origin_ = {SourceKind::kProject, place_.workspace + "/.signalbox/workflows",
               place_.workspace + "/.signalbox/workflows/a.yaml", sha256_hex(kText)};
  }
  void trust() {
    const auto policy = inbox::policy_files(place_.files, place_.workspace);
    ASSERT_TRUE(policy);
    inbox::TrustedFolders folders(place_.files, place_.homes, place_.operators);
    ASSERT_TRUE(folders.trust(place_.workspace, policy->hash, 1, std::nullopt));
  }
  CommandRun run() { return place_.commands->run("echo ran > ran; echo ran", place_.workspace, {&origin_, 1}, {}); }

  static constexpr const char* kText = "id: a\n";
  Place place_;
  workflow::Origin origin_;
};

TEST_F(Project, ItsCommandsDoNotRunBeforeItIsTrusted) {
  const CommandRun run = this->run();
  EXPECT_THAT(run.not_run_reason, HasSubstr("signalbox trust " + place_.workspace));
  EXPECT_EQ(run.output, "");
  EXPECT_FALSE(std::filesystem::exists(place_.workspace + "/ran"));
}

TEST_F(Project, ItsCommandsRunWhileItIsTrusted) {
  trust();
  EXPECT_EQ(run().not_run_reason, "");
  EXPECT_EQ(run().output, "ran\n");
  place_.write("work/.signalbox/other", "new");
  EXPECT_THAT(run().not_run_reason, HasSubstr("signalbox trust"));
  trust();
  EXPECT_EQ(run().not_run_reason, "");
}

// Trusting the file's current content does not mean trusting what the session pinned before.
TEST_F(Project, AFileChangedSinceTheSessionStartedIsNotRun) {
  place_.write("work/.signalbox/workflows/a.yaml", "id: b\n");
  trust();
  EXPECT_THAT(run().not_run_reason, HasSubstr("has changed since the session started"));
  std::filesystem::remove(origin_.file);
  EXPECT_THAT(run().not_run_reason, HasSubstr("has changed since the session started"));
  EXPECT_FALSE(std::filesystem::exists(place_.workspace + "/ran"));
}

TEST_F(Project, AnEditedFileStillCoversACommandItContains) {
  place_.write("work/.signalbox/workflows/a.yaml",
               "id: b\nsteps: [{verification: {command: echo ran > ran; echo ran}}]\n");
  EXPECT_THAT(run().not_run_reason, HasSubstr("not trusted"));
  trust();
  EXPECT_EQ(run().output, "ran\n");
}

TEST_F(Project, AnyFolderOfWorkflowsIsCoveredByTheProjectsTrust) {
  for (const std::string folder : {".workrail/workflows", "workflows", ".signalbox/workflows/deeper"}) {
    place_.write("work/" + folder + "/b.yaml", kText);
    origin_.folder = place_.workspace + "/" + folder;
    if (folder.ends_with("/deeper")) origin_.folder = parent_path(origin_.folder);
    origin_.file = place_.workspace + "/" + folder + "/b.yaml";
    EXPECT_TRUE(run().not_run_reason.ends_with("signalbox trust " + place_.workspace)) << run().not_run_reason;
    trust();
    EXPECT_EQ(run().not_run_reason, "") << folder;
  }
}

TEST_F(Project, OtherSourcesNeedNoTrust) {
  for (const SourceKind kind : {SourceKind::kBundled, SourceKind::kUser, SourceKind::kManaged, SourceKind::kNamed}) {
    origin_.kind = kind;
    EXPECT_EQ(run().not_run_reason, "");
  }
}

TEST_F(Project, AFolderWithSpacesIsQuoted) {
  place_.write("it's mine/.workrail/workflows/a.json", kText);
  const std::string folder = place_.directory + "/it's mine";
  origin_.folder = folder + "/.workrail/workflows";
  origin_.file = origin_.folder + "/a.json";
  EXPECT_THAT(run().not_run_reason, HasSubstr("signalbox trust '" + place_.directory + "/it'\\''s mine'"));
}

}  // namespace
}  // namespace sb::engine

#include <fmt/format.h>

#include <filesystem>

#include "agent/limits.hpp"
#include "agent/tools/testing.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string input(const std::string& command) {
  return to_json(Value::object({{"command", command}}));
}

ToolResult bash(WorkTreeFixture& room, const std::string& command) {
  return room.call("Bash", input(command).c_str());
}

TEST(Bash, ReturnsOutputAndExitCode) {
  WorkTreeFixture room;
  EXPECT_EQ(bash(room, "echo hello; pwd").text, "hello\n" + room.root + "\n");
  EXPECT_EQ(bash(room, "true").text, "[no output]");
  const ToolResult failed = bash(room, "echo out; echo err >&2; exit 3");
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(failed.text, "out\n[stderr]\nerr\n[exit 3]");
  const ToolResult none = bash(room, "grep -r needle . ; exit 1");
  EXPECT_FALSE(none.is_error);
  EXPECT_THAT(none.text, HasSubstr("no match, not a failure"));
  EXPECT_THAT(bash(room, "echo x >&2; exit 1").text, HasSubstr("[exit 1]"));
  EXPECT_EQ(bash(room, "cat").text, "[no output]") << "stdin is empty";
  EXPECT_EQ(bash(room, "[[ a == a* ]] && echo bash").text, "bash\n");
  room.write("work/sub/x", "");
  EXPECT_EQ(room.call("Bash", R"({"command": "ls", "cwd": "sub"})").text, "x\n");
  EXPECT_NE(room.call("Bash", R"({"command": "ls", "cwd": "../elsewhere"})").refused, "");
}

TEST(Bash, KeepsBothEndsOfLongOutputAndReportsTheCut) {
  WorkTreeFixture room;
  const ToolResult result = bash(room, "echo first; yes middle | head -c 300000; echo last");
  EXPECT_LE(result.text.size(), limits::kToolResultBytes);
  EXPECT_THAT(result.text, testing::StartsWith("first\n"));
  EXPECT_THAT(result.text, HasSubstr("bytes left out"));
  EXPECT_THAT(result.text, testing::EndsWith("last\n"));
  EXPECT_THAT(bash(room, "printf 'a\\xffb'").text, HasSubstr("a\xEF\xBF\xBD"
                                                             "b"));
}

TEST(Bash, KillsEverythingItStartedAtTheTimeLimit) {
  WorkTreeFixture room;
  const ToolResult result =
      room.call("Bash", R"({"command": "echo begun; setsid sleep 7000123 & sleep 60", "timeout_s": 1})");
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text, HasSubstr("begun"));
  EXPECT_THAT(result.text, HasSubstr("[killed: time limit of 1 s]"));
  bool still_runs = true;
  for (int i = 0; i < 500 && still_runs; ++i) {
    still_runs = std::system("pgrep -f 'sleep 700012[3]' >/dev/null") == 0;
    if (still_runs) ::usleep(10'000);
  }
  EXPECT_FALSE(still_runs);
  EXPECT_TRUE(room.call("Bash", R"({"command": "true", "timeout_s": 301})").is_error) << "one past the limit";
}

TEST(Bash, StopsWhenTheSessionIsStopped) {
  WorkTreeFixture room;
  Tools tools = make_work_tools(room.place());
  std::string seen;
  ToolRun run;
  run.should_continue = [&] { return seen.empty(); };
  run.on_output = [&](std::string_view bytes) { seen += bytes; };
  EXPECT_THAT(room.call(tools, "Bash", R"({"command": "echo alive; sleep 60"})", run).text, HasSubstr("was stopped"));
  EXPECT_EQ(seen, "alive\n");
}

// The redaction would be written in place of the secret.
TEST(Bash, DoesNotRunACommandWithARedactionInIt) {
  WorkTreeFixture room;
  const ToolResult denied = bash(room, "echo [redacted: secret] > made.txt; echo done");
  EXPECT_TRUE(denied.is_error);
  EXPECT_THAT(denied.refused, HasSubstr("was removed from it"));
  EXPECT_FALSE(std::filesystem::exists(room.root + "/made.txt"));
}

TEST(Bash, GetsNoSecretsInItsEnvironment) {
  WorkTreeFixture room;
  const std::string text = bash(room, "env; cat /proc/self/environ | tr '\\0' '\\n'").text;
  EXPECT_THAT(text, Not(HasSubstr("the-model-key")));
  EXPECT_THAT(text, Not(HasSubstr("MODEL_KEY")));
  EXPECT_THAT(text, HasSubstr("HOME="));
}

class Sandboxed : public testing::Test {
 protected:
  void SetUp() override {
    if (!room.sandbox.works()) GTEST_SKIP() << room.sandbox.name();
    room.with_git();
  }
  WorkTreeFixture room;
};

TEST_F(Sandboxed, WritesOnlyTheWorkTree) {
  EXPECT_FALSE(bash(room, "echo x > made.txt && echo y > /tmp/y && cat /tmp/y").is_error);
  EXPECT_EQ(room.read("work/made.txt"), "x\n");
  EXPECT_NE(bash(room, fmt::format("echo x > {}/elsewhere/made.txt", room.directory)).refused, "");
  EXPECT_NE(bash(room, "cd ..; cp work/a.txt elsewhere/made.txt").text, "[no output]");
  EXPECT_EQ(bash(room, "echo x > /dev/null; echo x 2>/dev/null >/tmp/x").refused, "");
  EXPECT_TRUE(bash(room, "python3 -c \"open('../elsewhere/made.txt','w')\"").is_error);
  EXPECT_FALSE(room.has("elsewhere/made.txt"));
  EXPECT_TRUE(bash(room, "ln ../elsewhere/secret.txt hard.txt").is_error) << "a hard link would point outside";
  EXPECT_FALSE(room.has("work/hard.txt"));
  bash(room, "ln -s ../elsewhere/secret.txt soft.txt");
  EXPECT_NE(room.call("Read", R"({"file_path": "soft.txt"})").refused, "");
}

TEST_F(Sandboxed, CannotReadKeysOrTheLog) {
  for (const char* path : {"home/.ssh/id", "home/.sb/signalbox.db"}) {
    const ToolResult named = bash(room, fmt::format("cat {}/{}", room.directory, path));
    EXPECT_NE(named.refused, "") << "refused and logged when named";
    // Built so that the command text does not reveal the path.
    const ToolResult built = bash(room, fmt::format("cd {}; f={}; cat $f; echo gone > $f", room.directory, path));
    EXPECT_THAT(built.text, Not(HasSubstr("the-private-key")));
    EXPECT_THAT(built.text, Not(HasSubstr("the-log")));
  }
  EXPECT_EQ(room.read("home/.ssh/id"), "the-private-key");
  EXPECT_EQ(room.read("home/.sb/signalbox.db"), "the-log");
  for (const char* command : {"cat ~/.ssh/id", "cat $HOME/.ssh/id", "cat ${HOME}/.sb/signalbox.db"}) {
    EXPECT_NE(bash(room, command).refused, "") << command;
  }
}

TEST_F(Sandboxed, HasNoNetworkUnlessGranted) {
  EXPECT_TRUE(
      bash(room, "exec 3<>/dev/tcp/127.0.0.1/1 2>/dev/null && echo connected; test $(ls /sys/class/net | wc -l) = 9")
          .text.find("connected") == std::string::npos);
  EXPECT_THAT(bash(room, "cat /proc/net/dev | tail -n +3 | cut -d: -f1").text, Not(HasSubstr("eth")));
}

TEST_F(Sandboxed, ReadsGitButCannotChangeIt) {
  room.write("work/a.txt", "two\n");
  EXPECT_THAT(bash(room, "git status --short").text, HasSubstr("M a.txt"));
  EXPECT_THAT(bash(room, "git diff").text, HasSubstr("+two"));
  EXPECT_THAT(bash(room, "git log --oneline").text, HasSubstr("one"));
  for (const char* command :
       {"git commit -am two", "git push", "git push origin HEAD:main", "git add -A", "bash -c 'git commit -am x'",
        "git -C . commit -am x", "gh pr create --fill", "git config core.hooksPath /tmp/x"}) {
    EXPECT_NE(bash(room, command).refused, "") << command;
  }
  // Where the command text does not reveal git, the command fails.
  bash(room,
       "g=git; $g -c user.name=x -c user.email=x@x commit -qam two; $g config core.fsmonitor /tmp/x; "
       "echo x > .git; rm -f .git; mv .git x; mkdir -p .git/hooks");
  EXPECT_NE(room.shell("cd work && git log --oneline | grep two"), 0);
  EXPECT_NE(room.shell("grep -r fsmonitor repository/.git/config"), 0);
  EXPECT_THAT(room.read("work/.git"), HasSubstr("gitdir:"));
  bash(room,
       fmt::format("echo x > {0}/repository/.git/hooks/pre-commit; echo x > {0}/repository/a.txt", room.directory));
  EXPECT_FALSE(room.has("repository/.git/hooks/pre-commit"));
  EXPECT_EQ(room.read("repository/a.txt"), "one\n");
}

TEST_F(Sandboxed, AGitFolderInsideTheWorkTreeIsReadOnlyToo) {
  room.root = room.directory + "/repository";
  EXPECT_THAT(bash(room, "git log --oneline").text, HasSubstr("one"));
  bash(room, "echo x > .git/hooks/pre-commit; echo x > .git/config; rm -rf .git");
  EXPECT_FALSE(room.has("repository/.git/hooks/pre-commit"));
  EXPECT_EQ(room.shell("cd repository && git log"), 0);
  EXPECT_FALSE(bash(room, "echo fine > b.txt").is_error);
}

TEST_F(Sandboxed, AReadOnlyWorkTreeIsNotChanged) {
  WorkTreeAccess place = room.place();
  place.is_writable = false;
  Tools tools = make_work_tools(place);
  EXPECT_EQ(tools.size(), 4u);
  EXPECT_THAT(room.call(tools, "Bash", R"({"command": "cat a.txt; echo x > a.txt"})").text, HasSubstr("one"));
  EXPECT_EQ(room.read("work/a.txt"), "one\n");
}

TEST_F(Sandboxed, ARestrictedRoleCannotSeeEarlierPhases) {
  room.write("work/.signalbox/discovery.md", "the-prior-result");
  room.write("repository/.signalbox/current-pitch.md", "the-prior-result");
  room.write("work/src/a.txt", "fine");
  WorkTreeAccess place = room.place();
  place.only = restricted_paths();
  Tools tools = make_work_tools(place);
  EXPECT_EQ(room.call(tools, "Bash", R"({"command": "cat src/a.txt"})").text, "fine\n");
  for (const char* input :
       {R"({"command": "cat .signalbox/discovery.md"})", R"({"command": "grep -rn prior . ../repository"})",
        R"({"command": "d=.sig*; ls $d; cat $d/*; cat /proc/1/root/$PWD/.signalbox/*"})"}) {
    EXPECT_THAT(room.call(tools, "Bash", input).text, Not(HasSubstr("the-prior-result"))) << input;
  }
  EXPECT_NE(room.call(tools, "Read", R"({"file_path": ".signalbox/discovery.md"})").refused, "");
  EXPECT_EQ(room.call(tools, "Grep", R"({"pattern": "prior"})").text, "No match.\n");
  EXPECT_TRUE(room.call(tools, "Bash", R"({"command": "echo x > src/a.txt"})").is_error);
  // Where the exclusions cannot be expressed as folders to hide, there is no shell.
  place.only = {"**", "!**/*.md"};
  for (const auto& tool : make_work_tools(place)) EXPECT_NE(tool->declaration().name, "Bash");
}

TEST(Bash, AgentsMayNotRunSignalbox) {
  WorkTreeFixture room;
  for (const char* command :
       {"signalbox inbox answer dec_1 approve", "/opt/signalbox inbox answer dec_1 approve",
        "cd sub; signalbox session continue", "sh -c 'signalbox runs list'", "env X=1 signalbox session kill x"}) {
    EXPECT_THAT(bash(room, command).refused, HasSubstr("Agents may not run signalbox")) << command;
  }
  for (const char* command : {"grep signalbox README.md", "./build/signalbox --version", "ls signalbox"}) {
    EXPECT_EQ(bash(room, command).refused, "") << command;
  }
}

TEST(Bash, ReadOnlyRolesGetNoShellWithoutASandbox) {
  WorkTreeFixture room;
  WorkTreeAccess place = room.place();
  place.sandbox = {.program = {}, .missing = "bubblewrap is not installed"};
  EXPECT_EQ(make_work_tools(place).size(), 6u);
  place.is_writable = false;
  for (const auto& tool : make_work_tools(place)) EXPECT_NE(tool->declaration().name, "Bash");
  place.is_writable = true;
  place.only = {"**"};
  for (const auto& tool : make_work_tools(place)) EXPECT_NE(tool->declaration().name, "Bash");
}

TEST(Bash, EnforcesTheInterlock) {
  WorkTreeFixture room;
  WorkTreeAccess place = room.place();
  guard::OpenStep step;
  step.workspace = room.root;
  step.workflow = "wr.discovery";
  step.title = "Look around";
  step.commands_read_only = true;
  step.writes.emplace();
  place.steps = [&] { return guard::OpenStepChain{step}; };
  Tools tools = make_work_tools(place);
  EXPECT_FALSE(room.call(tools, "Bash", R"({"command": "ls -la"})").is_error);
  EXPECT_THAT(room.call(tools, "Bash", R"({"command": "echo x > a"})").refused, HasSubstr("Look around"));
  EXPECT_FALSE(room.has("work/a"));
}

TEST(Bash, OnlyAllowedToolsAreCreated) {
  WorkTreeFixture room;
  const Tools tools = make_work_tools(room.place(), {"Read", "Grep", "nonsense"});
  ASSERT_EQ(tools.size(), 2u);
  EXPECT_EQ(tools[0]->declaration().name, "Read");
}

TEST(Bash, TheSummaryOfACallHasNoSecrets) {
  WorkTreeFixture room;
  Tools tools = make_work_tools(room.place());
  const std::string token = std::string("ghp") + "_" + "aB3dE5gH7jK9mN2pQ4sT6vW8xZaB3dE5gH7jK9";
  const ToolCall call{"id", "Bash", Value::object({{"command", "curl -H x:" + token + "\nls"}})};
  EXPECT_EQ(tools[0]->what(call), "curl -H x:[redacted: github token] ls");
  EXPECT_TRUE(tools[0]->only_reads({"id", "Bash", Value::object({{"command", "ls | head"}})}));
  EXPECT_FALSE(tools[0]->only_reads({"id", "Bash", Value::object({{"command", "make"}})}));
}

}  // namespace
}  // namespace sb::agent

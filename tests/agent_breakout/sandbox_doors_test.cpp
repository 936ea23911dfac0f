// Agents of real runs try the doors of their sandbox: what they reach on this machine besides their work tree. Each
// test is one way out. The agent is a shell script that the run starts as an agent program; what it could do is in the
// reason of its phase, because it ends with an error and the run keeps the last output.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "started/sandbox.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A socket of the machine that someone could reach.
class OpenSocket {
 public:
  OpenSocket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(descriptor_, 8), 0);
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  explicit OpenSocket(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(descriptor_, 8), 0);
  }
  ~OpenSocket() { ::close(descriptor_); }
  int port() const { return port_; }

 private:
  int descriptor_, port_ = 0;
};

class BreakoutDoors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = test_program::why_no_sandbox(); !why.empty()) GTEST_SKIP() << why;
  }

  // What a program worker printed before it ended.
  std::string said_by_agent(const std::string& script, const std::vector<std::string>& environment = {}) {
    place.commit("probe.sh", "{\n" + script + "\n} >&2\nexit 7\n", true);
    place.configure("models: {script: {provider: scripted, script: " + place.root() +
                    "/script.jsonl}, probe: {provider: command, command: [/bin/bash, probe.sh], upstream: script}}\n"
                    "roles: {" +
                    roles + "}\n" + settings);
    place.script(Line("discovery").text("Hello.").repeat());
    const ProgramResult ended =
        place.run(Start{.arguments = {"run", "Make the check pass", "--workspace", place.repository(), "--json"},
                        .environment = environment});
    std::string said;
    for (const Value& event : place.events("phase_ended")) said += event["payload"].string_at("reason").value_or("");
    EXPECT_THAT(said, HasSubstr("ended with code ")) << ended.output << ended.errors;
    return said;
  }

  RunFixture place{SB_PROGRAM};
  std::string settings, roles = "default: probe";
};

TEST_F(BreakoutDoors, AProgramReachesItsOwnHostAndNoOtherServer) {
  const OpenSocket other;
  const std::string said = said_by_agent(
      fmt::format("(exec 3<>/dev/tcp/127.0.0.1/{}) 2>/dev/null && echo REACHED-OTHER\n"
                  "own=${{SIGNALBOX_MCP_URL#http://127.0.0.1:}}; own=${{own%%/*}}\n"
                  "(exec 3<>/dev/tcp/127.0.0.1/$own) 2>/dev/null && echo REACHED-OWN\n"
                  "curl -s -o /dev/null -w 'code %{{http_code}}\\n' $SIGNALBOX_PROXY_URL/v1/models -H \"x-api-key: "
                  "$SIGNALBOX_PLACE_TOKEN\"\n"
                  "grep -c : /proc/net/dev",
                  other.port()));
  EXPECT_THAT(said, Not(HasSubstr("REACHED-OTHER")));
  EXPECT_THAT(said, HasSubstr("REACHED-OWN"));
  EXPECT_THAT(said, HasSubstr("code 200"));
}

TEST_F(BreakoutDoors, AServerThatTheUserNamedIsReachedThroughTheProxyOnly) {
  const OpenSocket named, other;
  settings = fmt::format("sandbox: {{network: [\"127.0.0.1:{}\"]}}", named.port());
  const std::string said =
      said_by_agent(fmt::format("ask() {{ exec 3<>/dev/tcp/127.0.0.1/${{https_proxy##*:}}; printf 'CONNECT "
                                "127.0.0.1:%s HTTP/1.1\\r\\n\\r\\n' $1 >&3; "
                                "head -n 1 <&3; }}\nask {}; ask {}",
                                named.port(), other.port()));
  EXPECT_THAT(said, HasSubstr("200 Connection established"));
  EXPECT_THAT(said, HasSubstr("403 Forbidden"));
}

TEST_F(BreakoutDoors, KernelSettingsAndTheSystemAreReadOnlyAlsoAsRoot) {
  const std::string said = said_by_agent(
      "cat /proc/sys/kernel/core_pattern 2>/dev/null > /proc/sys/kernel/core_pattern && echo WROTE-SYS\n"
      "for f in /sb /etc/sb /usr/sb /dev/sb /run/sb /sys/sb /proc/sb; do echo x 2>/dev/null > $f && echo WROTE $f; "
      "done\n"
      "grep -q . /etc/shadow 2>/dev/null && echo READ-SHADOW\n"
      "[ $(id -u) = 0 ] && echo IS-ROOT\n"
      "unshare --user true 2>/dev/null && echo NESTED\n"
      "echo x > made && echo tree-is-there; [ -O made ] && echo and-mine");
  for (const char* door : {"WROTE", "READ-SHADOW", "IS-ROOT", "NESTED"}) EXPECT_THAT(said, Not(HasSubstr(door)));
  EXPECT_THAT(said, HasSubstr("tree-is-there"));
  EXPECT_THAT(said, HasSubstr("and-mine"));
}

TEST_F(BreakoutDoors, TheHomeAndItsSocketsAreAbsent) {
  for (const char* name : {"user/.env", "user/.mysql_history", "user/.authinfo", "user/.Xauthority", "user/.viminfo",
                           "user/.fly/config", "user/.cf/config", "user/project/notes", "repo/.env"}) {
    place.write(name, "SECRET-MARK");
  }
  place.write("user/.colima/default/x", "");
  const OpenSocket docker(place.root() + "/user/.colima/default/docker.sock");
  const std::string said =
      said_by_agent(fmt::format("grep -rs SECRET-MAR[K] {0} ~ /tmp /home /root /mnt /srv | head -n 3\n"
                                "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); "
                                "s.connect(\"{0}/user/.colima/default/docker.sock\"); "
                                "print(\"REACHED-SOCKET\")' 2>/dev/null\necho done",
                                place.root()));
  EXPECT_THAT(said, Not(HasSubstr("SECRET-MARK")));
  EXPECT_THAT(said, Not(HasSubstr("REACHED-SOCKET")));
  EXPECT_THAT(said, HasSubstr("done"));
}

// Its home is a new folder, and rustup and others look for themselves in the home.
TEST_F(BreakoutDoors, AProgramFindsTheUsersToolChainsInItsOwnHome) {
  place.write("user/.rustup/settings.toml", "CHAIN-MARK");
  const std::string said =
      said_by_agent("cat ~/.rustup/settings.toml; echo x 2>/dev/null > ~/.rustup/made && echo WROTE; echo x > ~/own");
  EXPECT_THAT(said, HasSubstr("CHAIN-MARK"));
  EXPECT_THAT(said, Not(HasSubstr("WROTE")));
  EXPECT_EQ(place.read("user/.rustup/settings.toml"), "CHAIN-MARK");
}

TEST_F(BreakoutDoors, LimitsHold) {
  settings = "sandbox: {limits: {memory_mb: 64, shm_mb: 1, open_files: 100}}";
  const std::string said = said_by_agent(
      "ulimit -n; head -c 3000000 /dev/zero 2>/dev/null > /dev/shm/x && echo FILLED\n"
      "python3 -c 'x = bytearray(400_000_000)\nimport time; time.sleep(30); print(\"SURVIVED\")'");
  EXPECT_THAT(said, HasSubstr("100\n"));
  EXPECT_THAT(said, HasSubstr("limit of memory was reached"));
  EXPECT_THAT(said, Not(HasSubstr("FILLED")));
  EXPECT_THAT(said, Not(HasSubstr("SURVIVED")));
}

// In a linked work tree, `.git` only names a folder elsewhere.
TEST_F(BreakoutDoors, GitWorksAndCannotBeChanged) {
  place.commit("answer.txt", "committed-line\n");
  const std::string said = said_by_agent(
      "git log --oneline -- answer.txt; git blame answer.txt; echo more-line >> answer.txt; git diff; git status -s\n"
      "common=$(git rev-parse --git-common-dir); own=$(git rev-parse --git-dir)\n"
      "for f in $common/config $common/hooks/post-checkout $common/objects/x $common/refs/heads/x $own/HEAD .git; do\n"
      "  echo x 2>/dev/null >> $f && echo WROTE-GIT $f\ndone\n"
      "git commit -qam x 2>/dev/null && echo COMMITTED; git branch x 2>/dev/null && echo BRANCHED; echo done");
  for (const char* part : {"Add answer.txt", ") committed-line", "+more-line", " M answer.txt", "done"}) {
    EXPECT_THAT(said, HasSubstr(part));
  }
  for (const char* door : {"WROTE-GIT", "COMMITTED", "BRANCHED"}) EXPECT_THAT(said, Not(HasSubstr(door)));
}

// Other runs leave branches and objects in the same repository, and earlier phases notes in the work tree.
TEST_F(BreakoutDoors, ARestrictedProgramSeesNeitherGitNorEarlierPhases) {
  place.commit(".signalbox/notes.md", "EARLIER-MARK\n");
  place.git(place.repository(), {"checkout", "-q", "-b", "other-run"});
  place.commit("other.txt", "OTHER-MARK\n");
  place.git(place.repository(), {"checkout", "-q", "main"});
  place.write("flows/discovery.yaml",
              "id: small.discovery\nname: Doubt\ndescription: Doubts.\nversion: 1.0.0\nrole: challenger\n"
              "steps:\n  - {id: doubt, title: Doubt, prompt: Doubt it.}\n");
  roles = "default: script, challenger: probe";
  const std::string said = said_by_agent(
      fmt::format("git log --all -p 2>&1; git show other-run:other.txt 2>&1; cat .git .signalbox/* 2>&1\n"
                  "ls {0}/repo/.git {0}/home/work-trees 2>&1; grep -rs -e OTHER-MAR[K] -e EARLIER-MAR[K] . {0}\n"
                  "echo x 2>/dev/null > planted && echo PLANTED; cat README.md",
                  place.root()));
  for (const char* mark : {"OTHER-MARK", "EARLIER-MARK", "other-run:", "Add other", "objects", "PLANTED"}) {
    EXPECT_THAT(said, Not(HasSubstr(mark)));
  }
  EXPECT_THAT(said, HasSubstr("A place to try things."));
}

// No step of the workflow may write elsewhere, so the sandbox does not wait for a hook to refuse it.
TEST_F(BreakoutDoors, AProgramWritesOnlyWhereItsStepsMay) {
  place.write("flows/discovery.yaml",
              "id: small.discovery\nname: Look\ndescription: Looks.\nversion: 1.0.0\nsteps:\n"
              "  - {id: look, title: Look, prompt: Look., writes: none}\n"
              "  - {id: note, title: Note, prompt: Note., writes: [.signalbox/notes.md]}\n");
  const std::string said = said_by_agent(
      "for f in planted answer.txt README.md src/a; do echo x 2>/dev/null > $f && echo PLANTED $f; done\n"
      "python3 -c 'open(\"planted\", \"w\")' 2>/dev/null && echo PLANTED-IT\n"
      "echo x > .signalbox/notes.md && echo noted; echo x > /tmp/x && echo temporary");
  EXPECT_THAT(said, Not(HasSubstr("PLANTED")));
  EXPECT_THAT(said, HasSubstr("noted"));
  EXPECT_THAT(said, HasSubstr("temporary"));
}

// The agent's attributes name a filter of the user, whose command runs outside of the sandbox.
TEST_F(BreakoutDoors, AFilterOfTheUserDoesNotRunForAnAgent) {
  const std::string marker = place.root() + "/filtered";
  place.git(place.repository(), {"config", "filter.mine.clean", "touch " + marker + "; cat"});
  place.git(place.repository(), {"config", "filter.mine.smudge", "touch " + marker + "; cat"});
  const auto file = [](const std::string& name, const std::string& text) {
    return Value::object({{"file_path", name}, {"content", text}});
  };
  place.script(
      lines({discovered(), shaped(),
             Line("coding")
                 .step("build")
                 .call("Write", file(".gitattributes", "*.txt filter=mine\n"))
                 .call("Write", file("answer.txt", "right\n")),
             Line("coding").step("build").complete(long_notes()),
             Line("coding").step("hand-off").complete(long_notes(), {coding_handoff({"answer.txt", ".gitattributes"})}),
             reviewed()}));
  place.configure();
  const ProgramResult ended = place.run_goal("Make the check pass");
  std::string steps;
  for (const Value& event : place.events("delivered")) steps += to_json(event["payload"]) + "\n";
  EXPECT_THAT(steps, HasSubstr("commit")) << ended.output << ended.errors;
  EXPECT_FALSE(place.exists("filtered"));
}

TEST_F(BreakoutDoors, ACheckoutThatNeedsAFilterIsNotWorkedIn) {
  place.git(place.repository(), {"config", "filter.mine.clean", "cat"});
  place.commit(".gitattributes", "*.txt filter=mine\n");
  place.commit("letters.txt", "abc\n");
  place.script(clean_run());
  place.configure("branch: {strategy: none}");
  const ProgramResult refused = place.run_goal("Make the check pass");
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.output + refused.errors,
              HasSubstr("has files that the git filter mine rewrites, and runs do not run filters"));
  EXPECT_EQ(place.git(place.repository(), {"symbolic-ref", "--short", "HEAD"}), "main");
}

TEST_F(BreakoutDoors, RootIsWarned) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is warned";
  const std::string warning = "running as root: an agent that gets out of its sandbox is root on this machine";
  place.script(clean_run());
  place.configure();
  EXPECT_THAT(place.run_goal("Make the check pass").errors, HasSubstr("Warning: " + warning));
  EXPECT_THAT(place.run({"doctor"}).output, HasSubstr(warning));
}

TEST_F(BreakoutDoors, TheDoctorShowsTheLimits) {
  place.configure("sandbox: {limits: {memory_mb: 77, processes: 55, open_files: 333, shm_mb: 11, cpu_s: 99}}");
  const std::string shown = place.run({"doctor"}).output;
  EXPECT_THAT(shown, HasSubstr("limits: "));
  for (const char* number : {"77", "55", "333", "11", "99"}) EXPECT_THAT(shown, HasSubstr(number));
}

// A PATH with everything but bubblewrap, or with one that does not work.
std::string path_without_bubblewrap(const RunFixture& place, const std::string& instead = {}) {
  const std::filesystem::path folder = place.root() + "/bin";
  std::filesystem::create_directories(folder);
  for (const char* from : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    std::error_code ignored;
    for (const auto& program : std::filesystem::directory_iterator(from, ignored)) {
      const std::filesystem::path name = program.path().filename();
      if (name != "bwrap") std::filesystem::create_symlink(program.path(), folder / name, ignored);
    }
  }
  if (!instead.empty()) place.write("bin/bwrap", instead, true);
  return "PATH=" + folder.string();
}

TEST(BreakoutWithoutASandbox, TheDemoSaysSoAndRunsInAHomeOfItsOwn) {
  for (const std::string& bubblewrap :
       {std::string(), std::string("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")}) {
    RunFixture place(SB_PROGRAM);
    const std::string before = place.read("home/config.yaml");
    const std::string folder = place.root() + "/demo";
    const ProgramResult ended = place.run(
        Start{.arguments = {"demo", "--dir", folder}, .environment = {path_without_bubblewrap(place, bubblewrap)}});
    EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
    const std::string why =
        bubblewrap.empty() ? "bubblewrap is not installed" : "No permissions to create new namespace";
    EXPECT_THAT(ended.output, HasSubstr(why));
    EXPECT_THAT(ended.output, HasSubstr("so home/config.yaml says sandbox: {mode: none}"));
    EXPECT_THAT(place.read("demo/home/config.yaml"), HasSubstr("\nsandbox: {mode: none}\n"));
    EXPECT_EQ(place.read("home/config.yaml"), before) << "the user's own settings are not touched";
  }
}

TEST(BreakoutWithoutASandbox, ARunIsRefusedUnlessTheUserSaysNone) {
  RunFixture place(SB_PROGRAM);
  place.configure("sandbox: {mode: required}");
  place.script(discovered() + shaped() + coded() + reviewed());
  const Start start{.arguments = {"run", "Make the check pass", "--workspace", place.repository(), "--json"},
                    .environment = {path_without_bubblewrap(place)}};
  const ProgramResult refused = place.run(start);
  EXPECT_EQ(refused.code, 2) << refused.output;
  for (const char* part : {"bubblewrap is not installed", "sandbox: {mode: none}"}) {
    EXPECT_THAT(refused.output + refused.errors, HasSubstr(part));
  }
  EXPECT_EQ(place.run_id(), "") << "nothing was started";
  place.configure("sandbox: {mode: none}");
  const ProgramResult ended = place.run(start);
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.events("opened").at(0)["payload"].string_at("sandbox").value_or(""),
            "none: turned off by sandbox: {mode: none} in config.yaml");
}

TEST(BreakoutWithoutASandbox, KeysAreNotInTheEnvironmentOfAnyProcess) {
  RunFixture place(SB_PROGRAM);
  place.configure("sandbox: {mode: none}");
  const std::string look =
      "for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' 2>/dev/null < $f; done | grep -c SB_MARK_KEY= ";
  place.script(
      lines({discovered(), Line("shaping").call("Bash", Value::object({{"command", look + "> found; cat found"}})),
             Line("shaping").complete(long_notes(), {shaping_handoff()}), coded(), reviewed()}));
  const ProgramResult ended =
      place.run(Start{.arguments = {"run", "Make the check pass", "--workspace", place.repository(), "--json"},
                      .environment = {"SB_MARK_KEY=key-of-a-model"}});
  const std::vector<std::string> trees = place.work_trees();
  std::string found = "?";
  for (const std::string& tree : trees) {
    std::ifstream file(tree + "/found");
    if (file) std::getline(file, found);
  }
  if (found == "?") found = place.delivered("found");
  EXPECT_EQ(found.substr(0, 1), "0") << ended.output << ended.errors;
}

}  // namespace
}  // namespace sb::pipeline_tests

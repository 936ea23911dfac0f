// What commands reach in the real sandbox; each test is one door that must stay closed, or one that must be open.
#include "sandbox/sandbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sandbox/inside.hpp"
#include "sandbox/relay.hpp"
#include "sandbox/testing.hpp"

namespace sb::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Doors, KernelSettingsAreReadOnlyAlsoForRoot) {
  const std::string before = room.read("/proc/sys/kernel/core_pattern");
  closed("cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern");
  closed("echo 1 > /proc/sys/vm/drop_caches");
  closed("echo h > /proc/sysrq-trigger");
  closed("mount -o remount,rw /proc || umount /proc");
  closed("ls /sys/kernel || ls /sys/fs");
  EXPECT_EQ(room.read("/proc/sys/kernel/core_pattern"), before);
}

TEST_F(Doors, TheCommandIsNotRootInside) {
  EXPECT_NE(room.run("id -u").output, "0\n");
  EXPECT_THAT(room.output("cat /proc/self/status"), HasSubstr("CapEff:\t0000000000000000"));
  open("echo x > made && test -O made");
  EXPECT_TRUE(std::filesystem::exists(room.workspace + "/made"));
}

TEST_F(Doors, FilesThatOnlyRootMayReadAreHidden) {
  closed("grep -q . /etc/shadow");
  closed("grep -q . /etc/gshadow");
  if (::geteuid() != 0) return;
  const std::string top = "/opt/sb-test-" + std::to_string(::getpid()), deep = top + "/1/2/3/4/5/6/7/8";
  ASSERT_EQ(room.shell("mkdir -p " + deep + " && echo x > " + deep + "/key && chmod 600 " + deep + "/key"), 0);
  closed("grep -q . " + deep + "/key");
  std::filesystem::remove_all(top);
}

TEST_F(Doors, NothingOutsideOfTheTreeIsWritable) {
  for (const char* folder : {"/", "/etc", "/usr", "/dev", "/run", "/run/signalbox", "/var", "/opt", "/proc/self"}) {
    closed(std::string("echo x > ") + folder + "/sb-made");
  }
  closed("mknod /tmp/disk b 254 0");
  closed("cat /dev/vda /dev/sda /dev/mem /dev/kmsg | head -c 1 | grep -q .");
}

// Root owns them, and a change of a mode would be everyone's. The mode is what it is already.
TEST_F(Doors, TheDevicesOfTheMachineCannotBeChanged) {
  for (const char* device : {"null", "zero", "full", "random", "urandom", "tty"}) {
    closed(std::string("chmod 666 /dev/") + device);
  }
  closed("chmod 666 /etc/shadow");
  open("echo x > /dev/null && head -c 1 /dev/zero > /dev/null && head -c 1 /dev/urandom");
}

TEST_F(Doors, TheHomeIsAbsentExceptForToolsAndWhatIsNamed) {
  for (const char* name : {".env", ".ssh/id", ".mysql_history", ".authinfo", ".Xauthority", ".viminfo", ".fly/token",
                           ".cf/config.json", "notes.txt", ".config/gh/hosts.yml", "other/.env"}) {
    room.write(std::string("user/") + name, "SECRET-MARK");
  }
  room.write("user/.cargo/bin/cargo-x", "tool");
  room.write("user/.cargo/credentials.toml", "SECRET-MARK");
  EXPECT_THAT(room.output("cd; find . -type f; grep -r SECRET-MARK ."), Not(HasSubstr("SECRET-MARK")));
  EXPECT_EQ(room.run("cat ~/.cargo/bin/cargo-x").output, "tool");
  closed("ls ../other || ls /home || ls /root || ls /mnt || ls /srv");
  room.settings.read = {"~/notes.txt", room.directory + "/user/other"};
  EXPECT_EQ(room.run("cat ~/notes.txt").output, "SECRET-MARK");
  EXPECT_EQ(room.run("cat ~/other/.env").output, "SECRET-MARK");
  closed("echo x > ~/other/.env");
  closed("cat ~/.env");
  open("mkdir -p ~/.cache/x && echo x > ~/.cache/x/y");
  EXPECT_FALSE(std::filesystem::exists(room.directory + "/user/.cache"));
}

// ccache fails where it cannot write, and with it every compiler.
TEST_F(Doors, CachesThatAreNoUseReadOnlyAreNewOnes) {
  for (const char* name : {".cache/ccache", ".ccache"}) {
    room.write(std::string("user/") + name + "/CACHEDIR.TAG", "tag");
    open(std::string("mkdir -p ~/") + name + "/tmp && echo x > ~/" + name + "/tmp/x");
    EXPECT_FALSE(std::filesystem::exists(room.directory + "/user/" + name + "/tmp"));
  }
}

TEST_F(Doors, FoldersOfPathAreVisibleWithTheirLibraries) {
  room.write("tools/bin/tool", "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/part\"\n");
  room.write("tools/lib/part", "works");
  room.write("tools/private", "SECRET-MARK");
  ASSERT_EQ(room.shell("chmod 755 tools/bin/tool"), 0);
  room.set_environment("/usr/bin:/bin:" + room.directory + "/tools/bin");
  EXPECT_EQ(room.run("tool").output, "works");
  closed("cat " + room.directory + "/tools/private");
}

TEST_F(Doors, UnixSocketsOfTheMachineAreNotReachable) {
  const std::string script =
      "python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(\"REACHED\")' ";
  const std::string in_home = room.directory + "/user/.colima/docker.sock";
  const std::string in_tree = room.workspace + "/dev.sock";
  const std::string in_named = room.directory + "/named/x.sock";
  for (const char* folder : {"user/.colima", "named"}) {
    std::filesystem::create_directories(room.directory + "/" + folder);
  }
  const Socket one = listen_at_path(in_home), two = listen_at_path(in_tree), three = listen_at_path(in_named);
  ASSERT_TRUE(one.is_open() && two.is_open() && three.is_open());
  room.settings.read = {room.directory + "/named"};
  for (const std::string& path : {in_home, in_tree, in_named}) {
    EXPECT_THAT(room.output(script + path), Not(HasSubstr("REACHED"))) << path;
  }
  // An abstract one belongs to the network namespace.
  const int abstract = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Socket closes(abstract);
  const std::string bind = "\\0sb-" + std::to_string(::getpid());
  EXPECT_THAT(room.output("python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"" + bind +
                          "\"); print(\"REACHED\")'"),
              Not(HasSubstr("REACHED")));
}

// A program that listens on loopback and answers with one line.
class Echo {
 public:
  Echo() {
    for (port_ = 20'000 + ::getpid() % 10'000; !listener_.is_open(); ++port_) listener_ = listen_on_loopback(port_);
    --port_;
    thread_ = std::thread([this] {
      while (true) {
        const Socket client(::accept(listener_.get(), nullptr, nullptr));
        if (!client.is_open()) return;
        std::string head, rest;
        if (read_head(client.get(), head, rest, 5'000)) {
          send_all(client.get(), "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nREACHED");
        }
      }
    });
  }
  ~Echo() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return port_; }

 private:
  int port_ = 0;
  Socket listener_;
  std::thread thread_;
};

constexpr const char* kFetch =
    "fetch() { exec 3<>/dev/tcp/127.0.0.1/$1 || return 1; printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat "
    "<&3; }; ";

TEST_F(Doors, NoPortOfTheMachineIsReachable) {
  const Echo server;
  EXPECT_THAT(room.output(kFetch + std::string("fetch ") + std::to_string(server.port())), Not(HasSubstr("REACHED")));
  EXPECT_EQ(room.run("grep -c : /proc/net/dev").output, "1\n") << "only loopback";
}

TEST_F(Doors, OnlyTheGrantedPortIsReachableAndAtTheSameNumber) {
  const Echo granted, other;
  Place place{.workspace = room.workspace};
  place.host_ports = {granted.port()};
  const std::string fetch = kFetch + std::string("fetch ");
  EXPECT_THAT(room.run(fetch + std::to_string(granted.port()), place).output, HasSubstr("REACHED"));
  EXPECT_THAT(room.run(fetch + std::to_string(other.port()), place).output, Not(HasSubstr("REACHED")));
  // Asking the door itself for another port does not help.
  const std::string ask =
      "python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(\"/run/signalbox/door\"); "
      "s.sendall(b\"CONNECT 127.0.0.1:" +
      std::to_string(other.port()) + " HTTP/1.1\\r\\n\\r\\n\"); print(s.recv(999).decode())'";
  EXPECT_THAT(room.run(ask, place).output, HasSubstr("403 Forbidden"));
  EXPECT_TRUE(room.files.list(room.homes.state + "/doors")->empty()) << "the socket is gone afterwards";
}

TEST_F(Doors, ServersThatTheUserNamedAreReachedThroughTheProxy) {
  const Echo server;
  const std::string endpoint = "127.0.0.1:" + std::to_string(server.port());
  room.settings.network = {endpoint};
  const std::string tunnel =
      "python3 -c 'import os,socket,sys; p=os.environ[\"https_proxy\"].rsplit(\":\",1)[1]; "
      "s=socket.create_connection((\"127.0.0.1\",int(p))); "
      "s.sendall((\"CONNECT \"+sys.argv[1]+\" HTTP/1.1\\r\\n\\r\\n\").encode()); print(s.recv(999).decode()); "
      "s.sendall(b\"GET / HTTP/1.1\\r\\n\\r\\n\"); print(s.recv(999).decode())' ";
  EXPECT_THAT(room.output(tunnel + endpoint), HasSubstr("REACHED"));
  EXPECT_THAT(room.output(tunnel + "example.com:443"), HasSubstr("sandbox: {network: [\"example.com:443\"]}"));
}

TEST_F(Doors, AProgramWithItsOwnLoginReachesItsProviderAndNoOtherServer) {
  const Echo provider, other;
  Place place{.workspace = room.workspace};
  place.servers = {"127.0.0.1:" + std::to_string(provider.port())};
  const std::string ask =
      "ask() { exec 3<>/dev/tcp/127.0.0.1/${https_proxy##*:}; printf 'CONNECT 127.0.0.1:%s HTTP/1.1\\r\\n\\r\\n' $1 "
      ">&3; "
      "head -n 1 <&3; }; ask ";
  EXPECT_THAT(room.run(ask + std::to_string(provider.port()), place).output, HasSubstr("200 "));
  EXPECT_THAT(room.run(ask + std::to_string(other.port()), place).output, HasSubstr("403 "));
}

// What was sent to it fills every buffer on the way, and the command is over.
TEST_F(Doors, AServerThatNeverReadsDoesNotHoldUpTheEnd) {
  Socket silent;
  int port = 30'000 + ::getpid() % 10'000;
  for (; !silent.is_open(); ++port) silent = listen_on_loopback(port);
  const std::string endpoint = "127.0.0.1:" + std::to_string(--port);
  room.settings.network = {endpoint};
  std::atomic<bool> is_over = false, had_to_help = false;
  std::thread helper([&] {
    for (int i = 0; i < 300 && !is_over; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    had_to_help = !is_over;
    ::shutdown(silent.get(), SHUT_RDWR);
  });
  const ProcessResult result = room.run(
      "python3 -c 'import os,socket,sys; p=os.environ[\"https_proxy\"].rsplit(\":\",1)[1]; "
      "s=socket.create_connection((\"127.0.0.1\",int(p))); "
      "s.sendall((\"CONNECT \"+sys.argv[1]+\" HTTP/1.1\\r\\n\\r\\n\").encode()); s.recv(999); s.settimeout(1)\n"
      "try:\n  while True: s.send(b\"x\"*65536)\nexcept TimeoutError: print(\"full\")' " +
      endpoint);
  is_over = true;
  helper.join();
  EXPECT_EQ(result.output, "full\n") << result.errors;
  EXPECT_FALSE(had_to_help);
}

TEST_F(Doors, NoFurtherUserNamespacesKeyringsAndForeignSockets) {
  closed("unshare --user true");
  const std::string call =
      "python3 -c 'import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); "
      "r=l.syscall(*[int(x) for x in sys.argv[1:]]); sys.exit(0 if r>=0 else 1)' ";
  closed(call + "272 268435456");         // unshare(CLONE_NEWUSER)
  closed(call + "56 268435473 0 0 0 0");  // clone(CLONE_NEWUSER | SIGCHLD)
  closed(call + "250 0 -3 0");            // keyctl(GET_KEYRING_ID, session)
  closed(call + "425 8 0");               // io_uring_setup
  closed(call + "41 40 1 0");             // socket(AF_VSOCK)
  closed(call + "41 38 5 0");             // socket(AF_ALG)
  open(call + "41 1 1 0");                // socket(AF_UNIX)
  open(call + "39");                      // getpid
}

TEST_F(Doors, EveryProcessInTheSandboxIsFiltered) {
  const Echo server;
  Place place{.workspace = room.workspace};
  place.host_ports = {server.port()};
  EXPECT_EQ(room.run("cat /proc/[0-9]*/status | grep '^Seccomp:' | grep -vc 2", place).output, "0\n");
}

TEST_F(Doors, NoSetUserIdFiles) {
  closed("cp /bin/true own && chmod u+s own");
  closed("cp /bin/true own2 && chmod g+s own2");
  closed("python3 -c 'import os; os.close(os.open(\"made\", os.O_CREAT | os.O_WRONLY, 0o4755))'");
  open(
      "python3 -c 'import os; os.close(os.open(\"plain\", os.O_CREAT | os.O_WRONLY, 0o755)); os.chmod(\"plain\", "
      "0o700)'");
  for (const auto& entry : std::filesystem::directory_iterator(room.workspace)) {
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms::set_uid, std::filesystem::perms::none);
  }
}

// The next command would mount it, and bubblewrap follows links outside.
TEST_F(Doors, ALinkPlantedWhereSomethingIsSealedDoesNotOpenItsTarget) {
  room.write("user/secret/id", "SECRET-MARK");
  open("ln -s " + room.directory + "/user/secret sealed");
  Place place{.workspace = room.workspace};
  place.sealed = {room.workspace + "/sealed"};
  place.hidden = {room.workspace + "/sealed"};
  const ProcessResult result = room.run("cat sealed/id " + room.directory + "/user/secret/id; echo still here", place);
  EXPECT_THAT(result.output, Not(HasSubstr("SECRET-MARK")));
  EXPECT_THAT(result.output, HasSubstr("still here"));
}

TEST_F(Doors, NothingIsInheritedButTheStreams) {
  EXPECT_EQ(room.run("ls /proc/self/fd | tr '\\n' ' '").output, "0 1 2 3 ") << "3 is the folder that ls reads";
}

TEST_F(Doors, AWorkspaceThatIsTheHomeHidesPrivateFiles) {
  room.workspace = room.directory + "/user";
  room.write("user/.env", "SECRET-MARK");
  room.write("user/.colima/default/key", "SECRET-MARK");
  room.write("user/visible", "fine");
  EXPECT_EQ(room.run("cat visible").output, "fine");
  EXPECT_THAT(room.output("cat .env .colima/default/key"), Not(HasSubstr("SECRET-MARK")));
}

TEST_F(Doors, ALinkInTheTreeDoesNotLeadOut) {
  room.write("user/secret", "SECRET-MARK");
  ASSERT_EQ(room.shell("ln -s ../secret user/project/link; ln -s /etc/shadow user/project/shadow"), 0);
  EXPECT_THAT(room.output("cat link shadow /proc/1/root" + room.directory + "/user/secret"),
              Not(HasSubstr("SECRET-MARK")));
}

TEST_F(Doors, AHomeThatIsTheRootFolderIsNotShown) {
  room.environment = Environment({{"PATH", "/usr/bin:/bin"}, {"HOME", "/"}});
  EXPECT_EQ(room.run("echo fine").output, "fine\n");
  closed("ls " + room.directory + "/user/.sb");
}

TEST(Sandbox, ModeNoneIsRecordedAndNotRefused) {
  SandboxFixture room;
  room.settings.mode = Mode::kNone;
  const Sandbox none = room.found();
  EXPECT_EQ(none.name(), "none: turned off by sandbox: {mode: none} in config.yaml");
  EXPECT_FALSE(none.is_refused());
  EXPECT_EQ(room.run("pwd").output, room.workspace + "\n");
}

// As where the processor is one that our filter does not know.
TEST(Sandbox, WithoutTheFilterOfSystemCallsRunsAreRefused) {
  SandboxFixture room;
  room.write("bin/bwrap",
             "#!/bin/sh\necho 'signalbox: cannot filter system calls: only done on x86-64 and arm64' >&2\n"
             "exit 126\n");
  ASSERT_EQ(room.shell("chmod 755 bin/bwrap"), 0);
  room.set_environment(room.directory + "/bin");
  EXPECT_TRUE(room.found().is_refused());
  EXPECT_THAT(refusal(room.found()).to_string(), HasSubstr("only done on x86-64 and arm64"));
}

TEST(Sandbox, WithoutBubblewrapRunsAreRefusedWithWhatToDo) {
  SandboxFixture room;
  room.set_environment(room.directory);
  const Sandbox missing = room.found();
  EXPECT_TRUE(missing.is_refused());
  const std::string said = refusal(missing).to_string();
  for (const char* part : {"bubblewrap is not installed", "Install bubblewrap", "sandbox: {mode: none}"}) {
    EXPECT_THAT(said, HasSubstr(part));
  }
}

}  // namespace
}  // namespace sb::sandbox

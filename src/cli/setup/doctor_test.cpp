// The parts of doctor; tests/scenarios/doctor.yaml runs the whole program.
#include "cli/setup/doctor.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/testing/fakes.hpp"
#include "cli/server/local_server.hpp"
#include "cli/setup/disk_facts.hpp"

namespace sb::cli {
namespace {

using testing::HasSubstr;
using Owner = LocalServer::Owner;

TEST(LocalServer, IsRecognizedByItsHealthResponse) {
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
  const LocalServer ours = parse_health_response(start + R"({"name":"signalbox","version":"1.2"})");
  EXPECT_EQ(ours.who, Owner::kSignalbox);
  EXPECT_EQ(ours.version, "1.2");
  for (const std::string& other : {std::string(), std::string("SSH-2.0-x\r\n\r\n{}"), start, start + "{",
                                   start + R"({"name":"nginx"})", start + R"([{"name":"signalbox"}])" + "}",
                                   start + "}{", std::string("HTTP/1.1 404\r\n{\"name\":\"signalbox\"}")}) {
    EXPECT_EQ(parse_health_response(other).who, Owner::kOther) << other;
  }
}

// A listener on a free port that answers every connection with the same bytes.
class Listener {
 public:
  explicit Listener(std::string answer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int peer = ::accept(socket_, nullptr, nullptr);
      if (peer < 0) return;
      char request[4096];
      EXPECT_GT(::recv(peer, request, sizeof(request), 0), 0);
      EXPECT_EQ(::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
      ::close(peer);
    });
  }
  ~Listener() {
    thread_.join();
    ::close(socket_);
  }
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
  std::thread thread_;
};

class Doctor : public testing::Test {
 protected:
  Diagnoses check(Diagnoses (*what)(const DoctorInput&), int port = 1) {
    return what({seams_, std::nullopt, "/p", "/opt/signalbox", "0.1.0", port});
  }

  void set(std::map<std::string, std::string, std::less<>> variables) {
    environment_ = Environment(std::move(variables));
  }

  FakeFiles files_;
  FakeClock clock_;
  FakeRandom random_;
  FakeProcess process_{[this](const Command& command) { return run_(command); }};
  std::function<Result<ProcessResult>(const Command&)> run_ = [](const Command&) { return ProcessResult{}; };
  Environment environment_;
  FakeStreams streams_;
  Seams seams_{files_, clock_, random_, process_, environment_, streams_};
};

TEST_F(Doctor, ThePortIsFreeOursOrUsedByAnother) {
  int free_port = 0;
  {
    const Listener ours("HTTP/1.1 200 OK\r\n\r\n{\"name\":\"signalbox\",\"version\":\"0.1.0\"}");
    EXPECT_EQ(check(check_server, ours.port()).at(0).health, Health::kOk);
    free_port = ours.port();
  }
  EXPECT_THAT(check(check_server, free_port).at(0).what, HasSubstr("is free"));
  {
    const Listener older("HTTP/1.1 200 OK\r\n\r\n{\"name\":\"signalbox\",\"version\":\"0.0.9\"}");
    EXPECT_THAT(check(check_server, older.port()).at(0).what, HasSubstr("signalbox 0.0.9 serves"));
  }
  const Listener other("220 mail\r\n");
  EXPECT_THAT(check(check_server, other.port()).at(0).what, HasSubstr("used by another program"));
}

TEST_F(Doctor, ABrokenSandboxIsReportedWithTheSysctlThatFixesIt) {
  set({{"PATH", "/usr/bin"}});
  EXPECT_EQ(check(check_sandbox).at(0).remedy, "Install bubblewrap");
  files_.contents()["/usr/bin/bwrap"] = "";
  run_ = [](const Command&) { return ProcessResult{.code = 1, .output = {}, .errors = "bwrap: No permissions\n"}; };
  EXPECT_THAT(check(check_sandbox).at(0).what, HasSubstr("bwrap: No permissions"));
  files_.contents()["/proc/sys/user/max_user_namespaces"] = "0\n";
  EXPECT_EQ(check(check_sandbox).at(0).remedy, "sysctl user.max_user_namespaces=10000");
  run_ = [](const Command&) { return ProcessResult{}; };
  EXPECT_EQ(check(check_sandbox).at(0).health, Health::kOk);
}

TEST_F(Doctor, TheFirstLocaleVariableThatIsSetIsUsed) {
  set({{"LANG", "de_DE.utf8"}});
  EXPECT_EQ(check(check_terminal).at(0).health, Health::kOk);
  set({{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}});
  EXPECT_EQ(check(check_terminal).at(0).health, Health::kWarning);
  set({});
  EXPECT_EQ(check(check_terminal).at(0).health, Health::kWarning);
}

TEST_F(Doctor, MissingOrBrokenGitIsAWarning) {
  set({{"PATH", "bin::/usr/bin"}});
  EXPECT_EQ(check(check_git).at(0).health, Health::kWarning);
  files_.contents()["/usr/bin/git"] = "";
  run_ = [](const Command&) { return ProcessResult{.code = 0, .output = "git version 2.39\n", .errors = {}}; };
  EXPECT_EQ(check(check_git).at(0).what, "git version 2.39");
  run_ = [](const Command&) { return ProcessResult{.code = 127, .output = {}, .errors = {}}; };
  EXPECT_EQ(check(check_git).at(0).health, Health::kWarning);
}

TEST(DiskFacts, SizesAndKinds) {
  EXPECT_EQ(readable_size(0), "0 KB");
  EXPECT_EQ(readable_size(1), "1 KB");
  EXPECT_EQ(readable_size(1'500'000), "1.5 MB");
  EXPECT_EQ(readable_size(67'800'000'000), "67.8 GB");
  EXPECT_EQ(disk_facts("/proc").disk, DiskKind::kKernel);
  EXPECT_EQ(disk_facts("/nowhere/at/all").kind, FileKind::kMissing);
}

}  // namespace
}  // namespace sb::cli

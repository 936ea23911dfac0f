#include "sandbox/inside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/limits.hpp"
#include "sandbox/relay.hpp"

namespace sb::sandbox {
namespace {

constexpr int kCannotRun = 126;

struct ListeningPort {
  int port = 0;
  bool is_proxy = false;
  Socket socket = {};
};

struct InsideRequest {
  std::vector<ListeningPort> ports;
  rlim_t files = 0, processes = 0, cpu_s = 0;  // 0: as they are
  char** command = nullptr;
};

int complain(std::string_view what) {
  const std::string text = fmt::format("signalbox: {}\n", what);
  [[maybe_unused]] const ssize_t count = ::write(2, text.data(), text.size());
  return kCannotRun;
}

std::optional<InsideRequest> read_request(int argc, char** argv) {
  InsideRequest request;
  for (int at = 2; at < argc; at += 2) {
    const std::string_view word = argv[at];
    if (word == "--") {
      if (at + 1 >= argc) return std::nullopt;
      request.command = argv + at + 1;
      return request;
    }
    if (at + 1 >= argc) return std::nullopt;
    const unsigned long number = std::strtoul(argv[at + 1], nullptr, 10);
    if (word == "--forward" || word == "--proxy") {
      request.ports.push_back({.port = static_cast<int>(number), .is_proxy = word == "--proxy"});
    } else if (word == "--files") {
      request.files = number;
    } else if (word == "--processes") {
      request.processes = number;
    } else if (word == "--cpu") {
      request.cpu_s = number;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void carry(Socket client, int port, bool is_proxy) {
  const Socket door = connect_to_path(std::string(kInsideDoor));
  if (!door.is_open()) return;
  if (!is_proxy) {
    std::string head, rest;
    if (!send_all(door.get(), fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", port))) return;
    if (!read_head(door.get(), head, rest, limits::kDoorConnectMs) || !head.starts_with("HTTP/1.1 200")) return;
    if (!send_all(client.get(), rest)) return;
  }
  relay(client.get(), door.get(), -1);
}

[[noreturn]] void forward_all(std::vector<ListeningPort>& ports) {
  std::vector<pollfd> fds;
  for (const ListeningPort& each : ports) fds.push_back({each.socket.get(), POLLIN, 0});
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) ::_exit(1);
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      Socket client(::accept4(fds[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) continue;
      std::thread([port = ports[i].port, is_proxy = ports[i].is_proxy, socket = std::move(client)]() mutable {
        carry(std::move(socket), port, is_proxy);
      }).detach();
    }
  }
}

bool start_forwarding(std::vector<ListeningPort>& ports) {
  for (ListeningPort& each : ports) {
    each.socket = listen_on_loopback(each.port);
    if (!each.socket.is_open()) return false;
  }
  const pid_t forwarder = ports.empty() ? 1 : ::fork();
  if (forwarder == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int stream = 0; stream < 3; ++stream) ::dup2(nothing, stream);
    ::signal(SIGPIPE, SIG_IGN);
    forward_all(ports);
  }
  ports.clear();
  return forwarder > 0;
}

bool set_limit(__rlimit_resource what, rlim_t value) {
  rlimit now{};
  if (value == 0 || ::getrlimit(what, &now) != 0) return value == 0;
  const rlim_t wanted = std::min(value, now.rlim_max);
  const rlimit limit{wanted, wanted};
  return ::setrlimit(what, &limit) == 0;
}

int become(char** command) {
  ::execvp(command[0], command);
  const int error = errno;
  complain(fmt::format("{}: {}", command[0], std::strerror(error)));
  return error == ENOENT ? 127 : kCannotRun;
}

// As the first process of its namespace: adopts every orphan, and all of them end with it.
int wait_for(pid_t program) {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) return kCannotRun;
    if (ended == program) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

}  // namespace

std::optional<int> run_if_inside(int argc, char** argv) {
  if (argc < 2 || argv[1] != kInsideWord) return std::nullopt;
  auto request = read_request(argc, argv);
  if (!request) return complain("inside-sandbox is for Signalbox's own use");
  // First, so that no process in the sandbox is without it: one that is could be made to act for the others by ptrace.
  if (!install_call_filter()) {
    const std::string why = errno == ENOTSUP ? "only done on x86-64 and arm64" : std::strerror(errno);
    return complain(fmt::format("cannot filter system calls: {}", why));
  }
  if (!start_forwarding(request->ports)) {
    return complain(fmt::format("cannot forward connections out of the sandbox: {}", std::strerror(errno)));
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const bool is_limited = set_limit(RLIMIT_NOFILE, request->files) && set_limit(RLIMIT_NPROC, request->processes) &&
                          set_limit(RLIMIT_CPU, request->cpu_s);
  if (!is_limited) return complain(fmt::format("cannot limit the command: {}", std::strerror(errno)));
  const pid_t program = ::fork();
  if (program < 0) return complain(fmt::format("cannot start the command: {}", std::strerror(errno)));
  if (program == 0) ::_exit(become(request->command));
  return wait_for(program);
}

}  // namespace sb::sandbox

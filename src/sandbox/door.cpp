#include "sandbox/door.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>

#include "base/text.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/relay.hpp"
#include "sandbox/settings.hpp"

namespace sb::sandbox {
namespace {

constexpr std::string_view kFolderName = "door-";

// Sockets of processes that were killed.
void remove_abandoned(const Seams& seams, const std::string& folder) {
  const auto names = seams.files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kFolderName)) continue;
    const int owner = std::atoi(name.c_str() + kFolderName.size());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) (void)seams.files.remove_tree(join_path(folder, name));
  }
}

void refuse(int client, std::string_view status, std::string_view why) {
  send_all(client, fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n"
                               "\r\n{}",
                               status, why.size(), why));
}

class OpenDoor final : public Door {
 public:
  OpenDoor(Files& files, std::string folder, std::vector<std::string> allowed)
      : files_(files),
        folder_(std::move(folder)),
        socket_path_(join_path(folder_, "s")),
        allowed_(std::move(allowed)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {}

  ~OpenDoor() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t count = ::write(stop_.get(), &one, sizeof one);
    if (accepting_.joinable()) accepting_.join();
    for (Connection& each : connections_) each.thread.join();
    (void)files_.remove_tree(folder_);
  }

  Status start() {
    // A path of any length, although an address has room for 107 bytes only.
    const Socket directory(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    listener_ = listen_at_path(fmt::format("/proc/self/fd/{}/s", directory.get()));
    if (!listener_.is_open() || !stop_.is_open()) {
      return fail(ErrorCode::kIo, fmt::format("cannot open a socket in {}: {}", folder_, std::strerror(errno)));
    }
    accepting_ = std::thread([this] { accept_all(); });
    return {};
  }

  const std::string& socket() const override { return socket_path_; }

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> is_over = false;
  };

  void accept_all() {
    while (true) {
      pollfd fds[2] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) return;
      if (fds[1].revents != 0) return;
      if (fds[0].revents == 0) continue;
      Socket client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) continue;
      connections_.remove_if([](Connection& each) {
        if (each.is_over) each.thread.join();
        return each.is_over.load();
      });
      if (connections_.size() >= limits::kDoorConnections) continue;
      Connection& made = connections_.emplace_back();
      made.thread = std::thread([this, &made, socket = std::move(client)]() mutable {
        serve(std::move(socket));
        made.is_over = true;
      });
    }
  }

  void serve(Socket client) {
    std::string head, rest;
    if (!read_head(client.get(), head, rest, limits::kDoorHeadMs)) return;
    const ProxyRequest request = read_proxy_request(head);
    if (request.endpoint.empty()) return refuse(client.get(), "400 Bad Request", "Use CONNECT, or http://host/path\n");
    if (std::ranges::find(allowed_, request.endpoint) == allowed_.end()) {
      return refuse(client.get(), "403 Forbidden",
                    fmt::format("{} is not reachable from this sandbox. The user can allow it in config.yaml: "
                                "sandbox: {{network: [\"{}\"]}}\n",
                                request.endpoint, request.endpoint));
    }
    const std::size_t colon = request.endpoint.rfind(':');
    const Socket server = connect_to_host(request.endpoint.substr(0, colon),
                                          std::atoi(request.endpoint.c_str() + colon + 1), limits::kDoorConnectMs);
    if (!server.is_open()) {
      return refuse(client.get(), "502 Bad Gateway", fmt::format("{} cannot be reached\n", request.endpoint));
    }
    const bool is_tunnel = request.forwarded.empty();
    const bool is_sent = is_tunnel ? send_all(client.get(), "HTTP/1.1 200 Connection established\r\n\r\n")
                                   : send_all(server.get(), request.forwarded);
    if (is_sent && send_all(server.get(), rest)) relay(client.get(), server.get(), stop_.get());
  }

  Files& files_;
  const std::string folder_, socket_path_;
  const std::vector<std::string> allowed_;
  Socket stop_, listener_;
  std::list<Connection> connections_;  // of the accepting thread
  std::thread accepting_;
};

}  // namespace

ProxyRequest read_proxy_request(std::string_view head) {
  const auto words = split(first_line(head), ' ');
  if (words.size() != 3 || !trimmed_end(words[2]).starts_with("HTTP/1.")) return {};
  if (words[0] == "CONNECT") {
    return {.endpoint = read_endpoint(words[1]).value_or(""), .forwarded = {}};
  }
  constexpr std::string_view kScheme = "http://";
  if (!words[1].starts_with(kScheme)) return {};
  const std::string_view target = words[1].substr(kScheme.size());
  const std::size_t slash = std::min(target.find_first_of("/?"), target.size());
  std::string place(target.substr(0, slash));
  if (place.find(':') == std::string::npos) place += ":80";
  const auto endpoint = read_endpoint(place);
  if (!endpoint) return {};
  std::string path(target.substr(slash));
  if (!path.starts_with('/')) path.insert(0, "/");
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", words[0], path);
  const std::size_t behind = std::min(head.find("\r\n") + 2, head.size());
  for (std::string_view line : split(head.substr(behind), '\n')) {
    line = trimmed_end(line);
    const std::string name = to_lower(line.substr(0, line.find(':')));
    if (line.empty() || name == "connection" || name.starts_with("proxy-")) continue;
    text += fmt::format("{}\r\n", line);
  }
  return {.endpoint = *endpoint, .forwarded = text + "Connection: close\r\n\r\n"};
}

Result<std::unique_ptr<Door>> Door::open(const Seams& seams, const std::string& folder,
                                         std::vector<std::string> allowed) {
  SB_TRY(seams.files.make_directories(folder, 0700));
  remove_abandoned(seams, folder);
  std::string own = join_path(folder, fmt::format("{}{}-XXXXXX", kFolderName, ::getpid()));
  if (::mkdtemp(own.data()) == nullptr) {
    return fail(ErrorCode::kIo, fmt::format("cannot create a folder in {}: {}", folder, std::strerror(errno)));
  }
  auto door = std::make_unique<OpenDoor>(seams.files, std::move(own), std::move(allowed));
  SB_TRY(door->start());
  return door;
}

}  // namespace sb::sandbox

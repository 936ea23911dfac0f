#include "sandbox/relay.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "sandbox/limits.hpp"

namespace sb::sandbox {
namespace {

using RelayClock = std::chrono::steady_clock;

std::int64_t left_of(RelayClock::time_point end) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(end - RelayClock::now()).count();
}

bool path_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

bool connect_within(int socket, const addrinfo& to, std::int64_t timeout_ms) {
  ::fcntl(socket, F_SETFL, O_NONBLOCK);
  if (::connect(socket, to.ai_addr, to.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return false;
    pollfd ready{socket, POLLOUT, 0};
    if (::poll(&ready, 1, static_cast<int>(timeout_ms)) <= 0) return false;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return false;
  }
  ::fcntl(socket, F_SETFL, 0);
  return true;
}

// As send_all, but gives up when `stop` becomes readable: the other side may never read.
bool send_until(int socket, std::string_view bytes, int stop) {
  while (!bytes.empty()) {
    pollfd fds[2] = {{socket, POLLOUT, 0}, {stop, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) return false;
    if (fds[1].revents != 0) return false;
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// One direction: reads when `from` is readable, ends when it ends. False: nothing more will come.
bool pass_on(int from, int to, int stop) {
  char buffer[65536];
  const ssize_t count = ::recv(from, buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count > 0 && send_until(to, {buffer, static_cast<std::size_t>(count)}, stop)) return true;
  ::shutdown(to, SHUT_WR);
  if (count > 0) ::shutdown(from, SHUT_RD);
  return false;
}

}  // namespace

Socket listen_at_path(const std::string& path) {
  sockaddr_un address;
  Socket made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_open = made.is_open() && path_address(path, address) &&
                       ::bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       ::listen(made.get(), SOMAXCONN) == 0;
  return is_open ? std::move(made) : Socket();
}

Socket listen_on_loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_open = made.is_open() &&
                       ::bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       ::listen(made.get(), SOMAXCONN) == 0;
  return is_open ? std::move(made) : Socket();
}

Socket connect_to_path(const std::string& path) {
  sockaddr_un address;
  Socket made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_open = made.is_open() && path_address(path, address) &&
                       ::connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  return is_open ? std::move(made) : Socket();
}

Socket connect_to_host(const std::string& host, int port, std::int64_t timeout_ms) {
  const auto end = RelayClock::now() + std::chrono::milliseconds(timeout_ms);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return {};
  Socket made;
  for (const addrinfo* each = found; each != nullptr && !made.is_open() && left_of(end) > 0; each = each->ai_next) {
    Socket tried(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (tried.is_open() && connect_within(tried.get(), *each, left_of(end))) made = std::move(tried);
  }
  ::freeaddrinfo(found);
  return made;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool read_head(int socket, std::string& head, std::string& rest, std::int64_t timeout_ms) {
  const auto end = RelayClock::now() + std::chrono::milliseconds(timeout_ms);
  std::string bytes;
  while (bytes.size() < limits::kDoorHeadBytes && left_of(end) > 0) {
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left_of(end))) < 0 && errno != EINTR) return false;
    char buffer[4096];
    const ssize_t count = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return false;
    bytes.append(buffer, static_cast<std::size_t>(count));
    const std::size_t at = bytes.find("\r\n\r\n");
    if (at == std::string::npos) continue;
    rest = bytes.substr(at + 4);
    bytes.resize(at + 4);
    head = std::move(bytes);
    return true;
  }
  return false;
}

void relay(int one, int other, int stop) {
  bool one_sends = true, other_sends = true;
  while (one_sends || other_sends) {
    pollfd fds[3] = {{one_sends ? one : -1, POLLIN, 0}, {other_sends ? other : -1, POLLIN, 0}, {stop, POLLIN, 0}};
    if (::poll(fds, 3, -1) < 0 && errno != EINTR) return;
    if (fds[2].revents != 0) return;
    if (fds[0].revents != 0) one_sends = pass_on(one, other, stop);
    if (fds[1].revents != 0) other_sends = pass_on(other, one, stop);
  }
}

}  // namespace sb::sandbox

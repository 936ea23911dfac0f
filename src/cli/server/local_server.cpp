#include "cli/server/local_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/document/document.hpp"

namespace sb::cli {
namespace {

constexpr int kWaitMs = 1'000;
constexpr std::size_t kAnswerBytes = 16 << 10;
constexpr int kMostReads = 16;

class Socket {
 public:
  Socket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }
  bool waits_for(short events) const {
    pollfd entry{descriptor_, events, 0};
    return ::poll(&entry, 1, kWaitMs) == 1;
  }

 private:
  int descriptor_;
};

bool connects(const Socket& socket, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
  if (errno != EINPROGRESS || !socket.waits_for(POLLOUT)) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

std::string ask(const Socket& socket, int port) {
  const std::string request =
      fmt::format("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", port);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return {};
  }
  std::string answer;
  char part[4096];
  for (int i = 0; i < kMostReads && answer.size() < kAnswerBytes && socket.waits_for(POLLIN); ++i) {
    const ssize_t count = ::recv(socket.get(), part, sizeof(part), 0);
    if (count <= 0) break;
    answer.append(part, static_cast<std::size_t>(count));
    if (parse_health_response(answer).who == LocalServer::Owner::kSignalbox) break;
  }
  return answer;
}

}  // namespace

LocalServer parse_health_response(const std::string& response) {
  const std::size_t body = response.find("\r\n\r\n");
  const std::size_t open = body == std::string::npos ? body : response.find('{', body);
  const std::size_t close = response.rfind('}');
  if (!response.starts_with("HTTP/1.") || open == std::string::npos || close == std::string::npos || close < open) {
    return {LocalServer::Owner::kOther};
  }
  const auto health = parse_json(response.substr(open, close - open + 1));
  if (!health || health->string_at("name") != "signalbox") return {LocalServer::Owner::kOther};
  return {LocalServer::Owner::kSignalbox, health->string_at("version").value_or("")};
}

LocalServer probe_port(int port) {
  const Socket socket;
  if (socket.get() < 0 || !connects(socket, port)) return {};
  return parse_health_response(ask(socket, port));
}

}  // namespace sb::cli

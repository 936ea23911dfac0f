// For tests: a loopback server that behaves as no proper server does. Each connection has its own thread; the answering
// function writes raw bytes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sb::net {

class RawServer {
 public:
  struct Request {
    std::string head, body;
    int number = 0;  // counts all requests to this server, from 1
  };
  class Peer {
   public:
    Peer(int fd, const std::atomic<bool>& is_over) : fd_(fd), is_over_(is_over) {}
    bool put(std::string_view bytes) {
      while (!bytes.empty()) {
        const ssize_t wrote = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (wrote <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
      }
      return true;
    }
    // A normal response, with its length.
    bool answer(int status, std::string_view body, std::string_view headers = {}) {
      return put("HTTP/1.1 " + std::to_string(status) + " Word\r\nContent-Length: " + std::to_string(body.size()) +
                 "\r\n" + std::string(headers) + "\r\n" + std::string(body));
    }
    // Sends nothing until the server stops or the client disconnects.
    void be_silent() {
      char byte = 0;
      while (!is_over_ && ::recv(fd_, &byte, 1, 0) > 0) {
      }
    }
    // Sends a reset instead of closing normally.
    void will_reset() {
      const linger hard{1, 0};
      ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }

   private:
    int fd_;
    const std::atomic<bool>& is_over_;
  };
  // True: keep the connection for another request.
  using Answer = std::function<bool(Peer& peer, const Request& request)>;

  explicit RawServer(Answer answer) : answer_(std::move(answer)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where = {};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&where), size);
    ::listen(listening_, 64);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~RawServer() {
    is_over_ = true;
    ::shutdown(listening_, SHUT_RDWR);
    accepting_.join();
    ::close(listening_);
    {
      const std::scoped_lock lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }
  RawServer(const RawServer&) = delete;

  int port() const { return port_; }
  std::string url(std::string_view path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  std::vector<Request> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  int connections() const { return connections_; }

 private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::scoped_lock lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    Peer peer(fd, is_over_);
    std::string got;
    for (Request request; read_request(fd, got, request);) {
      {
        const std::scoped_lock lock(mutex_);
        request.number = static_cast<int>(requests_.size()) + 1;
        requests_.push_back(request);
      }
      if (!answer_(peer, request)) break;
    }
    const std::scoped_lock lock(mutex_);
    open_.remove(fd);
    ::close(fd);
  }
  static bool read_request(int fd, std::string& got, Request& request) {
    std::size_t end = 0;
    while ((end = got.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more(fd, got)) return false;
    }
    request = {got.substr(0, end + 4), {}, 0};
    got.erase(0, end + 4);
    const std::size_t at = request.head.find("Content-Length: ");
    const std::size_t size = at == std::string::npos ? 0 : std::stoull(request.head.substr(at + 16));
    while (got.size() < size) {
      if (!read_more(fd, got)) return false;
    }
    request.body = got.substr(0, size);
    got.erase(0, size);
    return true;
  }
  static bool read_more(int fd, std::string& got) {
    char buffer[65536];
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
    if (count > 0) got.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }

  Answer answer_;
  int listening_ = -1, port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::list<int> open_;
  std::vector<Request> requests_;
  std::list<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace sb::net

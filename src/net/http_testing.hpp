// For tests of the HTTP listener: a listener that runs on its own thread, and a blocking client that writes raw
// bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "net/http_listener.hpp"

namespace sb::net {

// Echoes the request.
inline void echo(const HttpRequest& request, const ExchangePtr& exchange) {
  std::string text = request.method + " [" + request.path + "] [" + request.query + "]";
  for (const auto& [name, value] : request.headers) text += " " + name + "=" + value;
  text += " [" + (request.body.size() > 100 ? std::to_string(request.body.size()) : request.body) + "] " + request.peer;
  if (request.is_loopback) text += " local";
  exchange->respond({200, {{"Content-Type", "text/plain"}}, std::move(text)});
}

class TestServer {
 public:
  TestServer(HttpLimits bounds, HttpHandler handler, std::string address = "127.0.0.1") {
    listener_ = std::make_unique<HttpListener>(loop_, HttpSettings{std::move(address), 0, bounds}, std::move(handler));
    const Status opened = listener_->open();
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().to_string());
    port_ = listener_->port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~TestServer() {
    drop_listener();
    loop_.stop();
    thread_.join();
  }

  void drop_listener() {
    run([this] { listener_.reset(); });
  }
  int port() const { return port_; }
  EventLoop& loop() { return loop_; }
  HttpListener& listener() { return *listener_; }
  // Runs on the loop's thread; waits for it.
  template <class Work>
  void run(Work work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  std::size_t connections() {
    std::size_t count = 0;
    run([&] { count = listener_->connections(); });
    return count;
  }
  template <class Condition>
  bool wait_until(Condition condition) {
    for (int i = 0; i < 2'000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  EventLoop loop_;
  std::unique_ptr<HttpListener> listener_;
  int port_ = 0;
  std::thread thread_;
};

struct TestResponse {
  int status = 0;    // 0: the connection ended before a response
  std::string head;  // with the status line
  std::string body;  // chunks decoded
};

class TestClient {
 public:
  explicit TestClient(int port, const char* address = "127.0.0.1") {
    sockaddr_in6 v6 = {};
    sockaddr_in v4 = {};
    const bool is_v6 = std::string_view(address).contains(':');
    v6.sin6_family = AF_INET6;
    v4.sin_family = AF_INET;
    v6.sin6_port = v4.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(is_v6 ? AF_INET6 : AF_INET, address, is_v6 ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr);
    fd_ = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto* where = is_v6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
    EXPECT_EQ(::connect(fd_, where, is_v6 ? sizeof v6 : sizeof v4), 0) << errno;
  }
  static TestClient of(int connected) {
    TestClient client;
    client.fd_ = connected;
    return client;
  }
  ~TestClient() { close(); }
  TestClient(TestClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), got_(std::move(other.got_)) {}

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Sends a reset instead of closing normally.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void half_close() { ::shutdown(fd_, SHUT_WR); }

  // False if the server no longer reads.
  bool put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (wrote <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
  }
  void put_slowly(std::string_view bytes) {
    for (const char c : bytes) put({&c, 1});
  }

  // Reads one response with its body. `is_to_head`: it has no body.
  TestResponse answer(bool is_to_head = false) {
    TestResponse answer;
    if (!read_past("\r\n\r\n", answer.head)) return answer;
    std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
    if (answer.status == 100 || answer.status == 204 || is_to_head) return answer;
    if (answer.head.contains("Transfer-Encoding: chunked")) {
      while (read_piece(answer.body)) {
      }
    } else if (const auto at = answer.head.find("Content-Length: "); at != std::string::npos) {
      read_bytes(static_cast<std::size_t>(std::atoll(answer.head.c_str() + at + 16)), answer.body);
    } else {
      answer.body = rest();
    }
    return answer;
  }
  // The next chunk; false at the last one and at the end.
  bool read_piece(std::string& out) {
    std::string line, piece, ending;
    if (!read_past("\r\n", line)) return false;
    const std::size_t size = std::strtoull(line.c_str(), nullptr, 16);
    const bool is_there = read_bytes(size, piece) && read_bytes(2, ending);
    EXPECT_TRUE(!is_there || ending == "\r\n") << line;
    out += piece;
    return is_there && size > 0;
  }
  // Everything until the server closes.
  std::string rest() {
    while (read_more()) {
    }
    return std::exchange(got_, {});
  }
  bool is_ended() { return got_.empty() && !read_more(); }

 private:
  TestClient() = default;

  bool read_more() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, 20'000) != 1) {
      ADD_FAILURE() << "the server sends nothing";
      return false;
    }
    char buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) got_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }
  bool read_past(std::string_view mark, std::string& out) {
    std::size_t at = 0;
    while ((at = got_.find(mark)) == std::string::npos) {
      if (!read_more()) return false;
    }
    out = got_.substr(0, at + mark.size());
    got_.erase(0, at + mark.size());
    return true;
  }
  bool read_bytes(std::size_t count, std::string& out) {
    while (got_.size() < count) {
      if (!read_more()) return false;
    }
    out = got_.substr(0, count);
    got_.erase(0, count);
    return true;
  }

  int fd_ = -1;
  std::string got_;
};

}  // namespace sb::net

#include "net/http_client.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "net/http_testing.hpp"
#include "net/limits.hpp"
#include "net/raw_server.hpp"

namespace sb::net {
namespace {

using Kind = ClientFailure::Kind;

class HttpClientTest : public testing::Test {
 protected:
  std::string error_text(const HttpResult& sent) {
    return sent ? "answered " + std::to_string(sent->status) : sent.error().error.to_string();
  }
  std::unique_ptr<HttpClient> client = make_http_client();
};

TEST_F(HttpClientTest, SendsARequestAndCollectsTheResponse) {
  TestServer server({}, echo);
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/a%20b?c=d";
  const HttpResult sent =
      client->send({.method = "POST", .url = url, .headers = {{"X-One", "1"}, {"X-None", ""}}, .body = "hello"});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(sent->status, 200);
  EXPECT_EQ(sent->header("content-type"), "text/plain");
  EXPECT_TRUE(sent->body.starts_with("POST [/a b] [c=d]")) << sent->body;
  EXPECT_TRUE(sent->body.contains("X-One=1 X-None= ")) << sent->body;
  EXPECT_TRUE(sent->body.contains("[hello]")) << sent->body;
  EXPECT_FALSE(sent->body.contains("Content-Type=")) << sent->body;
}

TEST_F(HttpClientTest, SupportsAllMethods) {
  RawServer server([](auto& peer, const auto& request) {
    const bool is_head = request.head.starts_with("HEAD");
    return peer.put("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + std::string(is_head ? "" : "ok"));
  });
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}) {
    for (const char* body : {"", "x"}) {
      if (*body && std::string_view(method) == "HEAD") continue;
      const HttpResult sent = client->send({.method = method, .url = server.url(), .body = body});
      ASSERT_TRUE(sent) << method << error_text(sent);
      const auto last = server.requests().back();
      EXPECT_TRUE(last.head.starts_with(std::string(method) + " / HTTP/1.1\r\n")) << last.head;
      EXPECT_EQ(last.body, body) << last.head;
    }
  }
}

TEST_F(HttpClientTest, SendsALargeBodyWhole) {
  RawServer server(
      [](auto& peer, const auto& request) { return peer.answer(200, std::to_string(request.body.size())); });
  const HttpResult sent = client->send({.method = "POST", .url = server.url(), .body = std::string(9u << 20, 'x')});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(sent->body, std::to_string(9u << 20));
}

TEST_F(HttpClientTest, StreamsPiecesAsTheyArrive) {
  std::promise<void> first_seen;
  RawServer server([&](auto& peer, const auto&) {
    peer.put("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    first_seen.get_future().wait();
    return peer.put("6\r\nsecond\r\n0\r\n\r\n");
  });
  std::vector<std::string> pieces;
  const HttpResult sent = client->send({.url = server.url(), .on_piece = [&](std::string_view piece) {
                                          if (pieces.empty()) first_seen.set_value();
                                          pieces.emplace_back(piece);
                                          return true;
                                        }});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(pieces, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(sent->body, "");
}

TEST_F(HttpClientTest, CollectsTheBodyOfAnErrorEvenWhenStreaming) {
  RawServer server([](auto& peer, const auto&) { return peer.answer(429, "slow down", "Retry-After: 7\r\n"); });
  const HttpResult sent = client->send({.url = server.url(), .on_piece = [](auto) -> bool { throw "never"; }});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(sent->status, 429);
  EXPECT_EQ(sent->body, "slow down");
  EXPECT_EQ(sent->header("retry-after"), "7");
}

TEST_F(HttpClientTest, KeepsAConnectionForTheNextRequest) {
  RawServer server([](auto& peer, const auto&) { return peer.answer(200, "ok"); });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client->send({.method = "POST", .url = server.url(), .body = "x"}));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, NeverResendsARequestThatMayHaveTakenEffect) {
  for (const char* body : {"", "y"}) {
    // The second request arrives, over the kept connection or not, and gets no response.
    RawServer server([](auto& peer, const auto& request) { return request.number == 1 && peer.answer(200, "ok"); });
    ASSERT_TRUE(client->send({.method = "POST", .url = server.url(), .body = "x"}));
    const HttpResult sent = client->send({.method = "DELETE", .url = server.url(), .body = body});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().kind, Kind::kLost) << error_text(sent);
    EXPECT_EQ(server.requests().size(), 2u) << body;
  }
}

TEST_F(HttpClientTest, DoesNotFollowRedirects) {
  RawServer elsewhere([](auto& peer, const auto&) { return peer.answer(200, "stolen"); });
  RawServer server(
      [&](auto& peer, const auto&) { return peer.answer(302, "", "Location: " + elsewhere.url() + "\r\n"); });
  const HttpResult sent = client->send({.url = server.url(), .headers = {{"Authorization", "Bearer secret"}}});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(sent->status, 302);
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST_F(HttpClientTest, ReportsAnUnreachableServer) {
  int port = 0;
  {
    RawServer gone([](auto&, const auto&) { return false; });
    port = gone.port();
  }
  const HttpResult sent = client->send({.url = "http://127.0.0.1:" + std::to_string(port) + "/?key=secret"});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, Kind::kUnreachable);
  EXPECT_TRUE(sent.error().error.message.contains("127.0.0.1")) << error_text(sent);
  EXPECT_FALSE(error_text(sent).contains("secret"));
  const HttpResult unknown = client->send({.url = "http://no-such-host.invalid/"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, Kind::kUnreachable) << error_text(unknown);
}

TEST_F(HttpClientTest, FailsTlsWithAPlainTextServer) {
  RawServer server([](auto& peer, const auto&) { return peer.answer(200, "plain"); });
  const HttpResult sent =
      client->send({.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/", .total_ms = 500});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, Kind::kUnreachable) << error_text(sent);
}

// A TLS server with an untrusted certificate, run by the openssl program.
class SelfSigned {
 public:
  explicit SelfSigned(int port) {
    char pattern[] = "/tmp/sb-tls-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    const std::string make = "cd " + directory_ +
                             " && openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 2 " +
                             "-subj /CN=localhost -addext subjectAltName=DNS:localhost >/dev/null 2>&1";
    is_there_ = std::system(make.c_str()) == 0;
    if (!is_there_ || (pid_ = ::fork()) != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    const std::string accept = std::to_string(port);
    ::execlp("openssl", "openssl", "s_server", "-accept", accept.c_str(), "-www", "-key", (directory_ + "/k").c_str(),
             "-cert", (directory_ + "/c").c_str(), nullptr);
    ::_exit(127);
  }
  ~SelfSigned() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove_all(directory_);
  }
  bool is_there() const { return is_there_; }

 private:
  std::string directory_;
  pid_t pid_ = 0;
  bool is_there_ = false;
};

TEST_F(HttpClientTest, RejectsUntrustedCertificates) {
  int port = 0;
  {
    RawServer free_port([](auto&, const auto&) { return false; });
    port = free_port.port();
  }
  const SelfSigned server(port);
  if (!server.is_there()) GTEST_SKIP() << "the openssl program is not installed";
  const std::string url = "https://localhost:" + std::to_string(port) + "/";
  HttpResult sent = client->send({.url = url});
  for (int i = 0; i < 200 && !sent && error_text(sent).contains("connect"); ++i) {  // until it listens
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sent = client->send({.url = url, .headers = {{"Authorization", "Bearer secret"}}});
  }
  ASSERT_FALSE(sent) << "answered " << sent->status;
  EXPECT_EQ(sent.error().kind, Kind::kUnreachable);
  EXPECT_TRUE(error_text(sent).contains("certificate")) << error_text(sent);
}

TEST_F(HttpClientTest, TimesOutOnASilentServer) {
  RawServer server([](auto& peer, const auto& request) {
    if (request.number == 2) peer.put("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    return peer.be_silent(), false;
  });
  for (int i = 0; i < 2; ++i) {
    const HttpResult sent = client->send({.url = server.url(), .idle_ms = 200});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().kind, Kind::kTimeout) << error_text(sent);
  }
}

TEST_F(HttpClientTest, TimesOutOnAServerThatDripsForever) {
  RawServer server([](auto& peer, const auto&) {
    peer.put("HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n");
    while (peer.put("x")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return false;
  });
  const HttpResult sent = client->send({.url = server.url(), .idle_ms = 60'000, .total_ms = 400});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, Kind::kTimeout) << error_text(sent);
}

TEST_F(HttpClientTest, DetectsTruncatedResponses) {
  for (const bool is_reset : {false, true}) {
    for (const char* part : {"", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"}) {
      RawServer server([&](auto& peer, const auto&) {
        peer.put(part);
        if (is_reset) peer.will_reset();
        return false;
      });
      const HttpResult sent = client->send({.method = "POST", .url = server.url(), .body = "x"});
      ASSERT_FALSE(sent) << part;
      EXPECT_EQ(sent.error().kind, Kind::kLost) << part << error_text(sent);
      EXPECT_TRUE(sent.error().error.is_retryable);
    }
  }
}

TEST_F(HttpClientTest, AcceptsAResponseUpToTheLimitAndNotOneByteMore) {
  RawServer server([](auto& peer, const auto& request) {
    return peer.answer(request.head.contains("/bad") ? 500 : 200,
                       std::string(request.head.contains("more") ? 1001 : 1000, 'x'));
  });
  for (const char* path : {"/", "/bad"}) {
    const HttpResult whole = client->send({.url = server.url(path), .max_bytes = 1000});
    ASSERT_TRUE(whole) << error_text(whole);
    EXPECT_EQ(whole->body.size(), 1000u);
    const HttpResult larger = client->send({.url = server.url(std::string(path) + "more"), .max_bytes = 1000});
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().kind, Kind::kTooLarge) << error_text(larger);
  }
}

TEST_F(HttpClientTest, StopsAtTheLimitOfEndlessBodiesAndHeaders) {
  RawServer server([](auto& peer, const auto& request) {
    peer.put("HTTP/1.1 200 OK\r\n");
    if (request.head.contains("/body")) peer.put("Transfer-Encoding: chunked\r\n\r\n");
    const std::string body = "1000\r\n" + std::string(4096, 'x') + "\r\n";
    const std::string header = "X-Long: " + std::string(1000, 'y') + "\r\n";
    while (peer.put(request.head.contains("/body") ? body : header)) {
    }
    return false;
  });
  for (const char* path : {"/body", "/headers"}) {
    const HttpResult sent = client->send({.url = server.url(path), .max_bytes = 1u << 20});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().kind, Kind::kTooLarge) << path << error_text(sent);
  }
}

TEST_F(HttpClientTest, AcceptsHeadersUpToTheLimit) {
  RawServer server([](auto& peer, const auto& request) {
    const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
    std::size_t left = limits::kResponseHeaderBytes - start.size() - 2 + (request.head.contains("more") ? 1 : 0);
    std::string all = start;
    for (; left > 60'000; left -= 50'000) all += "X-A: " + std::string(50'000 - 7, 'y') + "\r\n";
    all += "X-B: " + std::string(left - 7, 'z') + "\r\n\r\n";
    return peer.put(all);
  });
  const HttpResult whole = client->send({.url = server.url()});
  EXPECT_TRUE(whole) << error_text(whole);
  const HttpResult more = client->send({.url = server.url("/more")});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, Kind::kTooLarge) << error_text(more);
}

TEST_F(HttpClientTest, RejectsResponsesThatAreNotHttp) {
  for (const char* bytes : {"hello\r\n\r\n", "SSH-2.0-x\r\n", "\r\n\r\n\r\n", "HTTP/9.9 999\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"}) {
    RawServer server([&](auto& peer, const auto&) { return peer.put(bytes), false; });
    const HttpResult sent = client->send({.url = server.url()});
    ASSERT_FALSE(sent) << bytes << sent->status << sent->body;
    EXPECT_EQ(sent.error().kind, Kind::kLost) << bytes << error_text(sent);
  }
}

TEST_F(HttpClientTest, SkipsInterimResponses) {
  RawServer server([](auto& peer, const auto&) {
    return peer.put(
        "HTTP/1.1 103 Early\r\nX-A: early\r\n\r\nHTTP/1.1 201 Made\r\nX-A: late\r\nContent-Length: 2\r\n\r\nok");
  });
  const HttpResult sent = client->send({.url = server.url()});
  ASSERT_TRUE(sent) << error_text(sent);
  EXPECT_EQ(sent->status, 201);
  EXPECT_EQ(sent->header("x-a"), "late");
  EXPECT_EQ(sent->body, "ok");
}

TEST_F(HttpClientTest, RejectsRequestsThatSmuggle) {
  RawServer server([](auto& peer, const auto&) { return peer.answer(200, "ok"); });
  const auto kind = [&](ClientRequest request) {
    const HttpResult sent = client->send(request);
    EXPECT_FALSE(sent);
    EXPECT_FALSE(error_text(sent).contains("secret")) << error_text(sent);
    return sent ? Kind::kLost : sent.error().kind;
  };
  EXPECT_EQ(kind({.url = server.url(), .headers = {{"X", "a\r\nY: secret"}}}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url(), .headers = {{"X", "secret\n"}}}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url(), .headers = {{"X", std::string("secret\0", 7)}}}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url(), .headers = {{"X: y\r\nZ", "secret"}}}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url(), .headers = {{"", "secret"}}}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url("/a\r\nX: y")}), Kind::kRequest);
  EXPECT_EQ(kind({.url = server.url("/a b")}), Kind::kRequest);
  EXPECT_EQ(kind({.method = "GET /\r\n", .url = server.url()}), Kind::kRequest);
  EXPECT_EQ(kind({.method = "", .url = server.url()}), Kind::kRequest);
  for (const char* url : {"", "x", "file:///etc/passwd", "ftp://127.0.0.1/", "http://", "http://u:secret@127.0.0.1/",
                          "https:///x", "HTTP:/127.0.0.1"}) {
    EXPECT_EQ(kind({.url = url}), Kind::kRequest) << url;
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpClientTest, AbortsWhenTheCallerCancels) {
  RawServer server([](auto& peer, const auto& request) {
    if (request.head.contains("/pieces")) {
      peer.put("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      while (peer.put("1\r\nx\r\n")) {
      }
    }
    return peer.be_silent(), false;
  });
  int looks = 0;
  const HttpResult silent = client->send({.url = server.url(), .should_continue = [&] { return ++looks < 3; }});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().kind, Kind::kStopped) << error_text(silent);
  EXPECT_EQ(looks, 3);
  int pieces = 0;
  const HttpResult flood = client->send({.url = server.url("/pieces"), .on_piece = [&](auto) { return ++pieces < 2; }});
  ASSERT_FALSE(flood);
  EXPECT_EQ(flood.error().kind, Kind::kStopped) << error_text(flood);
  EXPECT_EQ(pieces, 2);
  const HttpResult looked = client->send({.url = server.url("/pieces"),
                                          .max_bytes = std::size_t{1} << 40,
                                          .on_piece = [](auto) { return true; },
                                          .should_continue = [] { return false; }});
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().kind, Kind::kStopped) << error_text(looked);
}

TEST_F(HttpClientTest, ServesManyThreadsConcurrently) {
  RawServer server([](auto& peer, const auto& request) { return peer.answer(200, request.body); });
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        const std::string body = std::to_string(i * 100 + k);
        const HttpResult sent = client->send({.method = "POST", .url = server.url(), .body = body});
        right += sent && sent->body == body;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 240);
}

TEST_F(HttpClientTest, UsesNoProxyForLoopback) {
  RawServer proxy([](auto& peer, const auto&) { return peer.answer(200, "from the proxy"); });
  RawServer server([](auto& peer, const auto&) { return peer.answer(200, "straight"); });
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  const HttpResult near = client->send({.url = server.url()});
  const HttpResult far = client->send({.url = "http://far.invalid/x"});
  ::unsetenv("http_proxy");
  ASSERT_TRUE(near) << error_text(near);
  EXPECT_EQ(near->body, "straight");
  ASSERT_TRUE(far) << error_text(far);
  EXPECT_EQ(far->body, "from the proxy");
}

}  // namespace
}  // namespace sb::net

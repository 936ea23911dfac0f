// The whole server on real sockets. endpoint_test.cpp tests what needs a clock or a limit.
#include "mcp/http/http_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/testing/fakes.hpp"
#include "mcp/http/testing.hpp"
#include "net/http_testing.hpp"

namespace sb::mcp {
namespace {

using net::TestClient;
using net::TestResponse;

class Server {
 public:
  explicit Server(HttpOptions options = {}) {
    ServerParts parts{.facts = {.info = Value::object({{"name", "tiny"}, {"version", "1"}})},
                      .make_service = [record = record] { return std::make_unique<StubService>(record); },
                      .seal_key = [] { return std::string("key"); },
                      .is_first_use = [](std::string_view, TimestampMs) { return true; },
                      .clock = clock_,
                      .random = random_};
    server_ = std::make_unique<HttpServer>(loop_, std::move(parts), std::move(options));
    opened = server_->open();
    if (!opened) return;
    port = server_->port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Server() {
    if (thread_.joinable()) close();
  }
  void close() {
    loop_.post([this] { server_->close([this] { loop_.stop(); }); });
    thread_.join();
  }
  void begin_closing() {
    loop_.post([this] { server_->close([this] { loop_.stop(); }); });
  }
  void join() { thread_.join(); }

  std::shared_ptr<StubRecord> record = std::make_shared<StubRecord>();
  Status opened;
  int port = 0;

 private:
  SystemClock clock_;
  SystemRandom random_;
  net::EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

std::string request(const std::string& method, const std::string& headers, const std::string& body = {},
                    const std::string& path = "/mcp") {
  return fmt::format("{} {} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}", method, path, headers, body.size(), body);
}
const std::string kPost =
    "Host: localhost\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\n";
const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"t","version":"1"}}})";

std::string stateless_call(const std::string& tool) {
  const std::string body = fmt::format(
      R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{{}},"_meta":{{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
      tool);
  const std::string more =
      fmt::format("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n", tool);
  return request("POST", kPost + more, body);
}

TestResponse ask(TestClient& client, const std::string& bytes) {
  client.put(bytes);
  return client.answer();
}
TestResponse ask(int port, const std::string& bytes) {
  TestClient client(port);
  return ask(client, bytes);
}

std::string header_of(const TestResponse& answer, const std::string& name) {
  const auto at = answer.head.find(name + ": ");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return answer.head.substr(begin, answer.head.find("\r\n", begin) - begin);
}

template <class Condition>
bool holds_soon(Condition condition) {
  for (int i = 0; i < 4'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

TEST(HttpServer, RunsASessionOverOneConnection) {
  Server server;
  ASSERT_TRUE(server.opened);
  TestClient client(server.port);
  const TestResponse opened = ask(client, request("POST", kPost, kInitialize));
  EXPECT_EQ(opened.status, 200);
  const std::string in = kPost + "Mcp-Session-Id: " + header_of(opened, "Mcp-Session-Id") + "\r\n";
  EXPECT_EQ(ask(client, request("POST", in, R"({"jsonrpc":"2.0","method":"notifications/initialized"})")).status, 202);
  const TestResponse called =
      ask(client, request("POST", in,
                          R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"noisy",)"
                          R"("arguments":{},"_meta":{"progressToken":1}}})"));
  EXPECT_EQ(header_of(called, "Content-Type"), "text/event-stream");
  EXPECT_EQ(events_of(called.body).size(), 4u) << called.body;
  TestClient listener(server.port);
  listener.put(request("GET", in));
  EXPECT_EQ(ask(client, request("DELETE", in)).status, 204);
  EXPECT_EQ(ask(client, request("POST", in, R"({"jsonrpc":"2.0","id":2,"method":"ping"})")).status, 404);
}

TEST(HttpServer, AcceptsOnlyItsOwnNames) {
  Server server({.hosts = {"box.example"}});
  const auto status = [&](const std::string& headers) {
    return ask(server.port, request("POST", headers, kInitialize)).status;
  };
  EXPECT_EQ(status(kPost), 200);
  const std::string rest = kPost.substr(kPost.find("\r\n") + 2);
  EXPECT_EQ(status("Host: box.example:8080\r\n" + rest), 200);
  EXPECT_EQ(status("Host: evil.example.com\r\n" + rest), 403);
  EXPECT_EQ(status(kPost + "Origin: http://evil.example.com\r\n"), 403);
  EXPECT_EQ(status(kPost + "Origin: null\r\n"), 403);
  EXPECT_EQ(status(kPost + "Origin: http://localhost:5173\r\n"), 200);
  const std::string preflight = "Host: localhost\r\nAccess-Control-Request-Method: POST\r\nOrigin: ";
  EXPECT_EQ(ask(server.port, request("OPTIONS", preflight + "http://evil.example\r\n")).status, 403);
  const TestResponse allowed = ask(server.port, request("OPTIONS", preflight + "http://localhost:5173\r\n"));
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Origin"), "http://localhost:5173");
  EXPECT_EQ(header_of(ask(server.port, request("POST", kPost, kInitialize)), "Access-Control-Allow-Origin"), "");
}

TEST(HttpServer, DoesNotListenBeyondLoopbackWithoutTokens) {
  Server server({.address = "0.0.0.0"});
  ASSERT_FALSE(server.opened);
  EXPECT_EQ(server.opened.error().code, ErrorCode::kForbidden);
}

TEST(HttpServer, RequiresAToken) {
  const auto bearer = [](std::string_view token) {
    return token == "secret" ? std::optional(Caller{.principal = "ada"}) : std::nullopt;
  };
  Server server({.bearer = bearer});
  ASSERT_TRUE(server.opened);
  const TestResponse refused = ask(server.port, request("POST", kPost, kInitialize));
  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(header_of(refused, "WWW-Authenticate").starts_with("Bearer"));
  EXPECT_EQ(ask(server.port, request("POST", kPost + "Authorization: Bearer secret\r\n", kInitialize)).status, 200);
  EXPECT_EQ(ask(server.port, request("GET", "Host: localhost\r\n", {}, "/healthz")).status, 200);
  EXPECT_EQ(ask(server.port, request("GET", "Host: localhost\r\n", {}, "/other")).status, 404);
}

TEST(HttpServer, ReportsItsNameAndForwardsOtherPaths) {
  Server server({.fallback = [](net::HttpRequest given, net::ExchangePtr exchange) {
    exchange->respond({.status = 200, .headers = {}, .body = "at " + given.path});
  }});
  EXPECT_EQ(ask(server.port, request("GET", "Host: localhost\r\n", {}, "/healthz")).body,
            R"({"name":"tiny","version":"1"})");
  EXPECT_EQ(ask(server.port, request("POST", "Host: localhost\r\n", {}, "/hook")).body, "at /hook");
  Server plain;
  EXPECT_EQ(ask(plain.port, request("POST", "Host: localhost\r\n", {}, "/hook")).status, 404);
}

TEST(HttpServer, CancelsAStatelessCallWhenItsClientDisconnects) {
  Server server;
  TestClient client(server.port);
  client.put(stateless_call("wait"));
  ASSERT_TRUE(holds_soon([&] { return server.record->waiting == 1; }));
  client.close();
  EXPECT_TRUE(holds_soon([&] { return server.record->cancelled == 1; }));
}

TEST(HttpServer, FinishesRunningCallsBeforeItStops) {
  Server server;
  TestClient client(server.port), idle(server.port), listener(server.port);
  const std::string session = header_of(ask(listener, request("POST", kPost, kInitialize)), "Mcp-Session-Id");
  listener.put(request("GET", kPost + "Mcp-Session-Id: " + session + "\r\n"));
  client.put(stateless_call("wait"));
  ASSERT_TRUE(holds_soon([&] { return server.record->waiting == 1; }));
  server.begin_closing();
  EXPECT_EQ(listener.answer().status, 200) << "a stream that ends, not one that is cut off";
  server.record->is_released = true;
  const TestResponse answer = client.answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find("waited"), std::string::npos);
  server.join();
  EXPECT_EQ(server.record->cancelled, 0);
}

TEST(HttpServer, ServesManyClientsConcurrently) {
  Server server;
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&] {
      TestClient client(server.port);
      for (int k = 0; k < 50; ++k) {
        const TestResponse answer = ask(client, stateless_call("echo"));
        if (answer.status == 200 && answer.body.find("nothing") != std::string::npos) ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 16 * 50);
}

}  // namespace
}  // namespace sb::mcp

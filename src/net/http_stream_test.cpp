// Long responses: streams, clients that disconnect, slow readers, many at the same time, closing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <vector>

#include "net/http_listener.hpp"
#include "net/http_testing.hpp"

namespace sb::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

// Keeps all exchanges, begun as streams if requested, and counts disconnected clients. On the loop's thread.
struct OpenExchanges {
  std::vector<ExchangePtr> open;
  int gone = 0;
  HttpHandler handler(bool begins = true) {
    return [this, begins](const HttpRequest&, const ExchangePtr& exchange) {
      exchange->on_disconnect([this] { ++gone; });
      if (begins) exchange->begin(200, {{"Content-Type", "text/event-stream"}});
      open.push_back(exchange);
    };
  }
};

template <class T>
T on_loop(TestServer& server, std::function<T()> work) {
  T result = {};
  server.run([&] { result = work(); });
  return result;
}

bool waits_for_open(TestServer& server, OpenExchanges& keeper, std::size_t count) {
  return server.wait_until([&] { return on_loop<std::size_t>(server, [&] { return keeper.open.size(); }) == count; });
}

bool waits_for_gone(TestServer& server, OpenExchanges& keeper, int count) {
  return server.wait_until([&] { return on_loop<int>(server, [&] { return keeper.gone; }) == count; });
}

TEST(HttpStream, PiecesAreSentImmediately) {
  OpenExchanges keeper;
  TestServer server({}, keeper.handler());
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  for (const char* text : {"one", "two"}) {
    server.run([&] { EXPECT_TRUE(keeper.open[0]->send(text)); });
    std::string piece;
    if (std::string_view(text) == "one") {
      // The head arrives with or before the first piece.
      const TestResponse head = client.answer(true);
      EXPECT_THAT(head.head, HasSubstr("Transfer-Encoding: chunked\r\n"));
    }
    EXPECT_TRUE(client.read_piece(piece));
    EXPECT_EQ(piece, text);
  }
  client.put(kGet);  // waits until the stream ends
  server.run([&] {
    EXPECT_TRUE(keeper.open[0]->send(""));
    keeper.open[0]->end();
    EXPECT_FALSE(keeper.open[0]->send("late"));
  });
  std::string nothing;
  EXPECT_FALSE(client.read_piece(nothing));
  EXPECT_EQ(nothing, "");
  ASSERT_TRUE(waits_for_open(server, keeper, 2));
  EXPECT_EQ(keeper.gone, 0);
  server.run([&] { keeper.open.clear(); });
}

TEST(HttpStream, DetectsClientDisconnect) {
  for (const bool begins : {true, false}) {
    for (const bool is_reset : {true, false}) {
      OpenExchanges keeper;
      TestServer server({}, keeper.handler(begins));
      TestClient client(server.port());
      client.put(std::string(kGet) + "GET /pipelined");
      ASSERT_TRUE(waits_for_open(server, keeper, 1));
      is_reset ? client.reset() : client.close();
      EXPECT_TRUE(waits_for_gone(server, keeper, 1)) << begins << is_reset;
      server.run([&] {
        EXPECT_FALSE(keeper.open[0]->send("unread"));
        keeper.open[0]->respond({200, {}, "unread"});
        keeper.open.clear();
      });
      EXPECT_TRUE(server.wait_until([&] { return server.connections() == 0; }));
      EXPECT_EQ(keeper.gone, 1);
    }
  }
}

TEST(HttpStream, DisconnectIsNotReportedAfterTheResponse) {
  OpenExchanges keeper;
  TestServer server({}, keeper.handler(false));
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  server.run([&] { keeper.open[0]->respond({200, {}, "done"}); });
  EXPECT_EQ(client.answer().body, "done");
  client.close();
  EXPECT_TRUE(server.wait_until([&] { return server.connections() == 0; }));
  EXPECT_EQ(keeper.gone, 0);
  server.run([&] { keeper.open.clear(); });
}

TEST(HttpStream, SlowReaderIsDisconnected) {
  OpenExchanges keeper;
  TestServer server({.unsent_bytes = 1u << 20}, keeper.handler());
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  const std::string piece(100'000, 'x');
  int sent = 0;
  server.run([&] {
    while (sent < 1'000 && keeper.open[0]->send(piece)) ++sent;
  });
  EXPECT_GE(sent, 10);
  EXPECT_LT(sent, 1'000);
  EXPECT_TRUE(waits_for_gone(server, keeper, 1));
  server.run([&] { keeper.open.clear(); });
}

TEST(HttpStream, StalledReaderIsDisconnected) {
  OpenExchanges keeper;
  TestServer server({.unsent_bytes = 64u << 20, .idle_wait_ms = 100}, keeper.handler());
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  server.run([&] { EXPECT_TRUE(keeper.open[0]->send(std::string(30u << 20, 'x'))); });
  EXPECT_TRUE(waits_for_gone(server, keeper, 1));
  server.run([&] { keeper.open.clear(); });
}

TEST(HttpStream, LargeResponseReachesASlowReader) {
  const std::string body(20u << 20, 'y');
  TestServer server({.unsent_bytes = 1'000},
                    [&](const HttpRequest&, const ExchangePtr& exchange) { exchange->respond({200, {}, body}); });
  TestClient client(server.port());
  client.put(std::string(kGet) + std::string(kGet));
  EXPECT_TRUE(client.answer().body == body);
  EXPECT_TRUE(client.answer().body == body);
}

TEST(HttpStream, AbortsWhenDroppedHalfway) {
  OpenExchanges keeper;
  TestServer server({}, keeper.handler());
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  server.run([&] { keeper.open.clear(); });
  EXPECT_THAT(client.rest(), testing::Not(HasSubstr("0\r\n\r\n")));
  EXPECT_EQ(keeper.gone, 0);
}

TEST(HttpStream, HeadGetsNoPieces) {
  TestServer server({}, [](const HttpRequest&, const ExchangePtr& exchange) {
    exchange->begin(200, {{"X", "y"}});
    EXPECT_TRUE(exchange->send("unseen"));
    exchange->end();
  });
  TestClient client(server.port());
  client.put("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.rest(), testing::EndsWith("X: y\r\nConnection: close\r\n\r\n"));
}

long resident_kb() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%ld %ld", &pages, &resident), 2);
  std::fclose(file);
  return resident * (::getpagesize() / 1024);
}

TEST(HttpStream, HoldsManyIdleStreams) {
  constexpr std::size_t kStreams = 1'100;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 2 * kStreams + 200) GTEST_SKIP() << "only " << limit.rlim_max << " files may be open";
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 8'192));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  OpenExchanges keeper;
  TestServer server({}, keeper.handler());
  const long before_kb = resident_kb();
  std::vector<TestClient> clients;
  for (std::size_t i = 0; i < kStreams; ++i) {
    clients.emplace_back(server.port());
    clients.back().put(kGet);
  }
  ASSERT_TRUE(waits_for_open(server, keeper, kStreams));
  RecordProperty("kb_per_stream", static_cast<int>((resident_kb() - before_kb) / static_cast<long>(kStreams)));
  server.run([&] {
    for (const ExchangePtr& exchange : keeper.open) EXPECT_TRUE(exchange->send("ping"));
  });
  for (TestClient& client : clients) {
    std::string piece;
    client.answer(true);
    ASSERT_TRUE(client.read_piece(piece));
    ASSERT_EQ(piece, "ping");
  }
  clients.clear();
  EXPECT_TRUE(waits_for_gone(server, keeper, kStreams));
  server.run([&] { keeper.open.clear(); });
  EXPECT_TRUE(server.wait_until([&] { return server.connections() == 0; }));
}

TEST(HttpStream, OutOfDescriptorsWaitsInsteadOfSpinning) {
  TestServer server({}, echo);
  rlimit before = {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  TestClient client(server.port());
  client.put(kGet);
  EXPECT_EQ(client.answer().status, 200);
  TestClient second(server.port());  // connected, but not yet accepted by the server
  second.put(kGet);
  EXPECT_EQ(second.answer().status, 200);
  rlimit none = before;
  none.rlim_cur = 3;  // no new descriptors; open ones stay
  const int reserved = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setrlimit(RLIMIT_NOFILE, &none);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(reserved, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  client.put(kGet);  // other connections are still served
  EXPECT_EQ(client.answer().status, 200);
  ::setrlimit(RLIMIT_NOFILE, &before);
  TestClient waited = TestClient::of(reserved);
  waited.put(kGet);
  EXPECT_EQ(waited.answer().status, 200);
}

TEST(HttpStream, CloseLetsOpenExchangesFinish) {
  OpenExchanges keeper;
  TestServer server({}, keeper.handler());
  TestClient idle(server.port()), busy(server.port());
  idle.put("\r\n");
  busy.put(std::string(kGet) + std::string(kGet));
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  ASSERT_TRUE(server.wait_until([&] { return server.connections() == 2; }));
  std::atomic<bool> is_closed = false;
  server.run([&] { server.listener().close(60'000, [&] { is_closed = true; }); });
  EXPECT_TRUE(idle.is_ended());
  EXPECT_TRUE(server.wait_until([&] { return server.connections() == 1; }));
  EXPECT_FALSE(is_closed);
  server.run([&] {
    keeper.open[0]->send("last");
    keeper.open[0]->end();
  });
  EXPECT_EQ(busy.answer().body, "last");
  ASSERT_TRUE(waits_for_open(server, keeper, 2));  // it was open before the close, and may finish too
  server.run([&] {
    keeper.open[1]->end();
    keeper.open.clear();
  });
  EXPECT_THAT(busy.answer().head, HasSubstr("Connection: close"));
  EXPECT_TRUE(server.wait_until([&] { return is_closed.load(); }));
}

TEST(HttpStream, CloseStopsWaitingAfterTheTimeout) {
  OpenExchanges keeper;
  TestServer server({}, keeper.handler());
  TestClient client(server.port());
  client.put(kGet);
  ASSERT_TRUE(waits_for_open(server, keeper, 1));
  std::atomic<int> closed = 0;
  server.run([&] { server.listener().close(30, [&] { ++closed; }); });
  EXPECT_TRUE(waits_for_gone(server, keeper, 1));
  EXPECT_TRUE(server.wait_until([&] { return closed == 1; }));
  server.run([&] { server.listener().close(30, [&] { ++closed; }); });
  EXPECT_TRUE(server.wait_until([&] { return closed == 2; }));
  server.run([&] { keeper.open.clear(); });
}

TEST(HttpStream, ExchangesMayOutliveTheirListener) {
  OpenExchanges keeper;
  {
    auto server = std::make_unique<TestServer>(HttpLimits{}, keeper.handler());
    TestClient client(server->port());
    client.put(kGet);
    ASSERT_TRUE(waits_for_open(*server, keeper, 1));
    server->drop_listener();
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 200 OK\r\n"));
    server->run([&] {
      EXPECT_FALSE(keeper.open[0]->send("unread"));
      keeper.open[0]->end();
      keeper.open.clear();
    });
  }
  EXPECT_EQ(keeper.gone, 0);
}

}  // namespace
}  // namespace sb::net

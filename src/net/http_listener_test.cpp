#include "net/http_listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_testing.hpp"

namespace sb::net {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string get(const std::string& path, const std::string& lines = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}

TEST(HttpListener, AnswersARequest) {
  TestServer server({}, echo);
  TestClient client(server.port());
  client.put("POST /a%20b?x=%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello");
  EXPECT_EQ(client.answer().body, "POST [/a b] [x=%20] Host=h Content-Length=5 X-One=1 [hello] 127.0.0.1 local");
}

TEST(HttpListener, FindsHeadersIgnoringCase) {
  const HttpRequest request{.method = "GET",
                            .path = "/",
                            .query = {},
                            .headers = {{"Origin", "a"}, {"HOST", "h"}, {"origin", "b"}},
                            .body = {},
                            .peer = {},
                            .is_loopback = true};
  EXPECT_EQ(request.header("ORIGIN"), "a");
  EXPECT_EQ(request.count("Origin"), 2u);
  EXPECT_EQ(request.header("none"), std::nullopt);
  EXPECT_EQ(request.count("none"), 0u);
}

TEST(HttpListener, KeepsPipelinedRequestsInOrder) {
  // The first gets its response long after the others have arrived.
  TestServer* running = nullptr;
  TestServer server({}, [&](const HttpRequest& request, const ExchangePtr& exchange) {
    running->loop().after(request.path == "/1" ? 50 : 0, [=] { echo(request, exchange); });
  });
  running = &server;
  TestClient client(server.port());
  const std::string chunked =
      "PUT /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nHost: trailer\r\n\r\n";
  client.put(get("/1") + chunked + "\r\n" + get("/3") + "HEAD /4 HTTP/1.1\r\nHost: h\r\n\r\n" +
             get("/5", "Connection: close\r\n"));
  EXPECT_THAT(client.answer().body, StartsWith("GET [/1]"));
  EXPECT_EQ(client.answer().body, "PUT [/2] [] Host=h Transfer-Encoding=chunked [abc0123456789] 127.0.0.1 local");
  EXPECT_THAT(client.answer().body, StartsWith("GET [/3]"));
  EXPECT_THAT(client.answer(true).head, HasSubstr("Content-Length: "));
  const TestResponse last = client.answer();
  EXPECT_THAT(last.body, StartsWith("GET [/5]"));
  EXPECT_THAT(last.head, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpListener, AcceptsBytesOneByOne) {
  TestServer server({}, echo);
  TestClient client(server.port());
  client.put_slowly(
      "\r\nPOST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nT: x\r\n\r\n");
  client.put_slowly("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nxyz");
  EXPECT_THAT(client.answer().body, HasSubstr("[hello]"));
  EXPECT_THAT(client.answer().body, HasSubstr("[xyz]"));
}

TEST(HttpListener, SupportsHttp10) {
  TestServer server({}, [](const HttpRequest& request, const ExchangePtr& exchange) {
    if (request.path != "/stream") return echo(request, exchange);
    exchange->begin(200, {});
    exchange->send("one ");
    exchange->send("two");
    exchange->end();
  });
  TestClient plain(server.port()), stream(server.port());
  plain.put("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(plain.answer().head, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(plain.is_ended());
  stream.put("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(stream.rest(), testing::EndsWith("Connection: close\r\n\r\none two"));
}

TEST(HttpListener, SupportsExpect100Continue) {
  TestServer server({.body_bytes = 100}, echo);
  TestClient client(server.port()), early(server.port()), large(server.port());
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: ";
  client.put(head + "5\r\n\r\n");
  EXPECT_EQ(client.answer().status, 100);
  client.put("hello");
  EXPECT_EQ(client.answer().status, 200);
  early.put(head + "5\r\n\r\nhello");
  EXPECT_EQ(early.answer().status, 200);  // it did not wait, so it gets no 100 Continue
  large.put(head + "101\r\n\r\n");
  EXPECT_EQ(large.answer().status, 413);
}

TEST(HttpListener, RejectsMalformedRequestsAndCloses) {
  TestServer server({.body_bytes = 1'000}, echo);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, int> table[] = {
      {"GET / HTTP/1.1\n\n", 400},
      {std::string("\0\0\0", 3), 400},
      {get("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {get("/", "A: b\r\n c\r\n"), 400},
      {get("/%00"), 400},
      {get("/" + std::string(9'000, 'x')), 414},
      {get("/", "A: " + std::string(40'000, 'x') + "\r\n"), 431},
      {get("/", "Content-Length: 1001\r\n"), 413},
      {get("/", "Connection: ,;,=\r\n"), 400},  // only Beast rejects this
      {chunked + "g\r\n", 400},
      {chunked + "-1\r\nx\r\n", 400},
      {chunked + "0x1\r\nx\r\n\r\n", 400},
      {chunked + " 1\r\nx\r\n", 400},
      {chunked + "1 \r\nx\r\n0\r\n\r\n", 400},
      {chunked + "1\nx\r\n0\r\n\r\n", 400},
      {chunked + "1;\rx\r\n", 400},
      {chunked + "1\r\nxy\r\n0\r\n\r\n", 400},
      {chunked + "1\r\nx0\r\n\r\n", 400},
      {chunked + "10000000000000000\r\n", 400},
      {chunked + "fffffffffffffff\r\n", 413},
      {chunked + "3e8\r\n" + std::string(1'000, 'x') + "\r\n1\r\n", 413},
      {chunked + "1;" + std::string(40'000, 'x'), 400},
      {chunked + "0\r\n" + std::string(40'000, 'x'), 400},
      {chunked + "0\r\nContent-Length: 5\r\n\r\n", 400},
      {chunked + "0\r\nbad trailer\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : table) {
    TestClient client(server.port());
    client.put(bytes);
    const TestResponse answer = client.answer();
    EXPECT_EQ(answer.status, status) << bytes.substr(0, 200);
    EXPECT_THAT(answer.head, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(client.is_ended()) << bytes.substr(0, 200);
  }
  TestClient edge(server.port());
  edge.put(chunked + "3e8\r\n" + std::string(1'000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(edge.answer().body, HasSubstr("[1000]"));
}

// The error must arrive although the client is still sending.
TEST(HttpListener, SendsTheErrorWhileTheClientStillSends) {
  TestServer server({.body_bytes = 1'000}, echo);
  TestClient client(server.port());
  client.put("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 30000000\r\n\r\n");
  const std::string block(1u << 20, 'x');
  for (int i = 0; i < 8; ++i) client.put(block);
  EXPECT_EQ(client.answer().status, 413);
}

TEST(HttpListener, AcceptsABodyOfExactlyTheLimit) {
  TestServer server({}, echo);
  TestClient client(server.port());
  client.put("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(limits::kMessageBytes) + "\r\n\r\n");
  client.put(std::string(limits::kMessageBytes, 'x'));
  EXPECT_THAT(client.answer().body, HasSubstr("[" + std::to_string(limits::kMessageBytes) + "]"));
  client.put("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(limits::kMessageBytes + 1) + "\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
}

TEST(HttpListener, LimitsAllBodiesTogether) {
  TestServer server({.body_bytes = 1'000, .all_body_bytes = 1'500}, echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n";
  TestClient first(server.port());
  first.put(head + "x");
  ASSERT_TRUE(server.wait_until([&] { return server.connections() == 1; }));
  TestClient second(server.port()), third(server.port());
  second.put("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n258\r\n" + std::string(600, 'x') +
             "\r\n0\r\n\r\n");
  EXPECT_EQ(second.answer().status, 503);
  first.put(std::string(999, 'x'));
  EXPECT_EQ(first.answer().status, 200);
  third.put(head + std::string(1'000, 'x'));
  EXPECT_EQ(third.answer().status, 200);
}

TEST(HttpListener, TimesOutSlowClients) {
  TestServer server({.header_wait_ms = 60, .body_wait_ms = 60, .idle_wait_ms = 60}, echo);
  TestClient silent(server.port()), slow_head(server.port()), slow_body(server.port()), idle(server.port());
  slow_head.put("GET / HTTP/1.1\r\n");
  slow_body.put("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
  idle.put(get("/"));
  EXPECT_EQ(slow_head.answer().status, 408);
  EXPECT_EQ(slow_body.answer().status, 408);
  EXPECT_EQ(idle.answer().status, 200);
  EXPECT_TRUE(idle.is_ended());  // nothing more to send
  EXPECT_TRUE(silent.is_ended());
}

// A byte now and then does not extend the deadline.
TEST(HttpListener, DripFedHeadersHaveOneDeadline) {
  TestServer server({.header_wait_ms = 100}, echo);
  TestClient client(server.port());
  client.put("GET / HTTP/1.1\r\nX: ");
  bool is_cut = false;
  for (int i = 0; i < 2'000 && !is_cut; ++i) {
    is_cut = !client.put("y");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(is_cut);
}

TEST(HttpListener, RejectsConnectionsOverTheLimit) {
  TestServer server({.connections = 2}, echo);
  TestClient first(server.port()), second(server.port());
  first.put(get("/"));
  second.put(get("/"));
  EXPECT_EQ(first.answer().status, 200);
  EXPECT_EQ(second.answer().status, 200);
  {
    TestClient third(server.port());
    third.put(get("/"));
    EXPECT_EQ(third.answer().status, 503);
    EXPECT_TRUE(third.is_ended());
  }
  first.close();
  ASSERT_TRUE(server.wait_until([&] { return server.connections() == 1; }));
  TestClient fourth(server.port());
  fourth.put(get("/"));
  EXPECT_EQ(fourth.answer().status, 200);
}

TEST(HttpListener, HandlersCannotBreakTheFraming) {
  TestServer server({}, [](const HttpRequest& request, const ExchangePtr& exchange) {
    if (request.path == "/empty") return exchange->respond({204, {}, "ignored"});
    exchange->respond({200, {{"X", "a\r\nY: b"}, {"Content-Length", "7"}, {"Transfer-Encoding", "chunked"}}, "body"});
    exchange->respond({200, {}, "twice"});
    exchange->begin(200, {});
    EXPECT_FALSE(exchange->send("thrice"));
    exchange->end();
  });
  TestClient client(server.port());
  client.put(get("/") + get("/empty") + get("/"));
  const TestResponse answer = client.answer();
  EXPECT_EQ(answer.body, "body");
  EXPECT_THAT(answer.head, HasSubstr("X: a  Y: b\r\n"));
  EXPECT_THAT(answer.head, Not(HasSubstr("chunked")));
  EXPECT_THAT(client.answer(true).head, Not(HasSubstr("Content-Length")));
  EXPECT_EQ(client.answer().body, "body");
}

TEST(HttpListener, RequestWithoutAResponseGets500) {
  TestServer server({}, [](const HttpRequest&, const ExchangePtr&) {});
  TestClient client(server.port());
  client.put(get("/") + get("/"));
  EXPECT_EQ(client.answer().status, 500);
  EXPECT_EQ(client.answer().status, 500);
}

TEST(HttpListener, HalfClosedClientsGetTheirResponses) {
  TestServer* running = nullptr;
  TestServer server({}, [&](const HttpRequest& request, const ExchangePtr& exchange) {
    running->loop().after(30, [=] { echo(request, exchange); });
  });
  running = &server;
  TestClient client(server.port());
  client.put(get("/1") + get("/2"));
  client.half_close();
  EXPECT_THAT(client.answer().body, StartsWith("GET [/1]"));
  EXPECT_THAT(client.answer().body, StartsWith("GET [/2]"));
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpListener, SurvivesClientsThatVanish) {
  TestServer server({}, echo);
  for (const std::string& bytes :
       {std::string(), get("/").substr(0, 9), get("/"), get("/", "Content-Length: 9\r\n") + "x"}) {
    TestClient ended(server.port()), reset(server.port());
    ended.put(bytes);
    reset.put(bytes);
    reset.reset();
  }
  EXPECT_TRUE(server.wait_until([&] { return server.connections() == 0; }));
}

TEST(HttpListener, ListensOnTheGivenAddress) {
  TestServer server({}, echo, "[::1]");
  EXPECT_TRUE(server.listener().is_loopback());
  TestClient client(server.port(), "::1");
  client.put(get("/"));
  EXPECT_THAT(client.answer().body, testing::EndsWith("[] ::1 local"));

  TestServer both({}, echo, "::");
  EXPECT_FALSE(both.listener().is_loopback());
  TestClient mapped(both.port(), "127.0.0.1");
  mapped.put(get("/"));
  EXPECT_THAT(mapped.answer().body, testing::EndsWith("[] 127.0.0.1 local"));

  EventLoop loop;
  const auto error_of = [&](std::string address, int port) {
    HttpListener listener(loop, {address, port, {}}, echo);
    const Status status = listener.open();
    return status ? ErrorCode::kInternal : status.error().code;
  };
  EXPECT_EQ(error_of("127.0.0.1", both.port()), ErrorCode::kConflict);
  EXPECT_EQ(error_of("localhost", 0), ErrorCode::kInvalid);
  EXPECT_EQ(error_of("", 0), ErrorCode::kInvalid);
  EXPECT_EQ(error_of("127.0.0.1", 65'536), ErrorCode::kInvalid);
  EXPECT_EQ(error_of("127.0.0.1", -1), ErrorCode::kInvalid);
  EXPECT_EQ(error_of("192.0.2.1", 0), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sb::net

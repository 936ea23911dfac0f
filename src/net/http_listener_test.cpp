#include "net/http_listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_testing.hpp"

namespace sb::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpListener, AnswersARequest) {
  TestServer server({}, echo);
  TestClient client(server.port());
  client.put("POST /a%20b?x=%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello");
  EXPECT_EQ(client.answer().body, "POST [/a b] [x=%20] Host=h Content-Length=5 X-One=1 [hello] 127.0.0.1 local");
}

TEST(HttpListener, StreamsAndEnds) {
  TestServer server({}, [](const HttpRequest&, ExchangePtr exchange) {
    exchange->begin(200, {{"Content-Type", "text/event-stream"}});
    EXPECT_TRUE(exchange->send("one\n"));
    EXPECT_TRUE(exchange->send("two\n"));
    exchange->end();
    EXPECT_FALSE(exchange->send("three\n"));
  });
  TestClient client(server.port());
  client.put("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const TestAnswer answer = client.answer();
  EXPECT_THAT(answer.head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(answer.body, "one\ntwo\n");
}

}  // namespace
}  // namespace sb::net

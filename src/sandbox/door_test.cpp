#include "sandbox/door.hpp"

#include <gtest/gtest.h>

#include "sandbox/settings.hpp"

namespace sb::sandbox {
namespace {

TEST(ProxyRequest, TunnelsNameAHostAndAPort) {
  EXPECT_EQ(read_proxy_request("CONNECT Example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n").endpoint, "example.com:443");
  for (const char* bad : {"CONNECT example.com HTTP/1.1\r\n\r\n", "CONNECT example.com:0 HTTP/1.1\r\n\r\n",
                          "CONNECT a b:1 HTTP/1.1\r\n\r\n", "CONNECT :443 HTTP/1.1\r\n\r\n", "CONNECT x:99999 HTTP/1.1",
                          "GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
                          "CONNECT user@example.com:443 HTTP/1.1\r\n\r\n", "CONNECT x:443 SSH-2.0\r\n\r\n"}) {
    EXPECT_EQ(read_proxy_request(bad).endpoint, "") << bad;
  }
}

TEST(ProxyRequest, PlainRequestsAreForwardedOneAConnection) {
  const ProxyRequest request = read_proxy_request(
      "GET http://example.com/a?b HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: x\r\nConnection: "
      "keep-alive\r\nAccept: */*\r\n\r\n");
  EXPECT_EQ(request.endpoint, "example.com:80");
  EXPECT_EQ(request.forwarded, "GET /a?b HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(read_proxy_request("GET http://x:8080 HTTP/1.1\r\n\r\n").forwarded,
            "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(read_proxy_request("GET https://x/ HTTP/1.1\r\n\r\n").endpoint, "");
}

TEST(Endpoint, IsAHostAndAPort) {
  EXPECT_EQ(read_endpoint("Registry.npmjs.org:443"), "registry.npmjs.org:443");
  EXPECT_EQ(read_endpoint("10.0.0.1:08080"), "10.0.0.1:8080");
  for (const char* bad : {"", ":1", "x", "x:", "x:0", "x:65536", "x:1a", "-x:1", ".x:1", "x/y:1", "x y:1", "*:1"}) {
    EXPECT_FALSE(read_endpoint(bad)) << bad;
  }
}

}  // namespace
}  // namespace sb::sandbox

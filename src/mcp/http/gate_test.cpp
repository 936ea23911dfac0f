#include "mcp/http/gate.hpp"

#include <gtest/gtest.h>

#include "mcp/http/testing.hpp"

namespace sb::mcp {
namespace {

std::optional<Caller> only_secret(std::string_view token) {
  return token == "secret" ? std::optional(Caller{.principal = "ada", .is_local_user = false}) : std::nullopt;
}

int site_status(const HttpGate& gate, net::Headers headers) {
  const auto refused = gate.check_site(http_request("POST", std::move(headers)));
  return refused ? refused->status : 200;
}

// The principal, or the status of the error.
std::string visitor(const HttpGate& gate, net::Headers headers) {
  const auto found = gate.check_token(http_request("POST", std::move(headers)));
  if (const auto* refused = std::get_if<net::HttpResponse>(&found)) return std::to_string(refused->status);
  return std::get<Caller>(found).principal;
}

TEST(Gate, AcceptsLoopbackNamesOnAnyPort) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  for (const char* host : {"localhost", "LocalHost:3917", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:80"}) {
    EXPECT_EQ(site_status(gate, {{"Host", host}}), 200) << host;
  }
}

TEST(Gate, RejectsOtherHosts) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  for (const char* host : {"evil.example.com", "localhost.evil.example", "evil.example:3917", "", "localhost:", "[::1",
                           "localhost:80:80", "localhost:x", "127.0.0.1.nip.io", "localhost@evil", "[::1]x"}) {
    EXPECT_EQ(site_status(gate, {{"Host", host}}), 403) << host;
  }
}

TEST(Gate, RequiresExactlyOneHost) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  EXPECT_EQ(site_status(gate, {}), 400);
  EXPECT_EQ(site_status(gate, {{"Host", "localhost"}, {"host", "localhost"}}), 400);
}

TEST(Gate, AcceptsConfiguredNames) {
  const HttpGate gate(false, "192.0.2.7", {"box.example", "fd00::1"}, only_secret);
  for (const char* host : {"192.0.2.7:3917", "BOX.example", "[fd00::1]:3917", "localhost"}) {
    EXPECT_EQ(site_status(gate, {{"Host", host}}), 200) << host;
  }
  EXPECT_EQ(site_status(gate, {{"Host", "other.example"}}), 403);
}

TEST(Gate, AcceptsAnyNumericAddressBeyondLoopback) {
  const HttpGate beyond(false, "0.0.0.0", {}, only_secret), here(true, "127.0.0.1", {}, {});
  for (const char* host : {"192.0.2.8", "192.0.2.8:3917", "[fd00::2]:3917"}) {
    EXPECT_EQ(site_status(beyond, {{"Host", host}}), 200) << host;
    EXPECT_EQ(site_status(here, {{"Host", host}}), 403) << host;
    const std::string origin = std::string("http://") + host;
    EXPECT_EQ(site_status(beyond, {{"Host", host}, {"Origin", origin}}), 403) << "the page may belong to anyone";
  }
  for (const char* host : {"192.0.2.example", "1.2.3", "[evil]", "[]"}) {
    EXPECT_EQ(site_status(beyond, {{"Host", host}}), 403) << host;
  }
}

TEST(Gate, ChecksTheOrigin) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  for (const char* origin : {"http://localhost:6274", "https://127.0.0.1", "http://[::1]:1"}) {
    EXPECT_EQ(site_status(gate, {{"Host", "localhost"}, {"Origin", origin}}), 200) << origin;
  }
  for (const char* origin : {"null", "http://evil.example", "", "localhost", "file://localhost",
                             "http://localhost.evil", "http://user@localhost.evil", "http://localhost/x"}) {
    EXPECT_EQ(site_status(gate, {{"Host", "localhost"}, {"Origin", origin}}), 403) << origin;
  }
  EXPECT_EQ(site_status(gate, {{"Host", "localhost"}, {"Origin", "http://localhost"}, {"Origin", "http://localhost"}}),
            400);
}

TEST(Gate, RequiresAToken) {
  for (const bool is_loopback : {true, false}) {
    const HttpGate gate(is_loopback, is_loopback ? "127.0.0.1" : "0.0.0.0", {}, only_secret, "Type this.");
    EXPECT_EQ(visitor(gate, {}), "401");
    EXPECT_EQ(visitor(gate, {{"Authorization", "bearer  secret "}}), "ada");
    for (const char* header : {"", "Bearer", "Bearer ", "Basic secret", "secret", "Bearer secretx", "Bearer secre"}) {
      EXPECT_EQ(visitor(gate, {{"Authorization", header}}), "401") << header;
    }
    EXPECT_EQ(visitor(gate, {{"Authorization", "Bearer secret"}, {"Authorization", "Bearer secret"}}), "400");
    const auto found = gate.check_token(http_request("POST"));
    const auto& refused = std::get<net::HttpResponse>(found);
    EXPECT_EQ(refused.headers.front().first, "WWW-Authenticate");
    EXPECT_NE(refused.body.find("A bearer token is required. Type this."), std::string::npos) << refused.body;
  }
}

TEST(Gate, OfATestServerRequiresNoToken) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  EXPECT_EQ(visitor(gate, {}), "local");
  EXPECT_EQ(visitor(gate, {{"Authorization", "Bearer any"}}), "local");
}

TEST(Gate, SendsNoCorsHeadersWithoutAnOrigin) {
  const HttpGate gate(true, "127.0.0.1", {}, {});
  EXPECT_TRUE(gate.cors_headers(http_request("POST")).empty());
  const auto request = http_request("OPTIONS", {{"Origin", "http://localhost:1"},
                                                {"Access-Control-Request-Method", "POST"},
                                                {"Access-Control-Request-Headers", "content-type, mcp-session-id"}});
  EXPECT_TRUE(gate.is_preflight(request));
  const auto answer = gate.preflight_response(request);
  EXPECT_EQ(answer.status, 204);
  const net::Headers wanted = {{"Access-Control-Allow-Origin", "http://localhost:1"}};
  EXPECT_EQ(answer.headers.front(), wanted.front());
}

}  // namespace
}  // namespace sb::mcp

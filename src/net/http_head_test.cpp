#include "net/http_head.hpp"

#include <gtest/gtest.h>

#include "net/limits.hpp"

namespace sb::net {
namespace {

// The status a head is rejected with, or 200.
int status_of(const std::string& bytes) {
  HeadScan scan;
  const auto end = scan.next(bytes);
  if (!end) return end.error().status;
  if (!*end) return 0;  // waits for more
  const auto head = check_head(std::string_view(bytes).substr(0, **end));
  if (!head) return head.error().status;
  const auto target = read_target(*head);
  return target ? 200 : target.error().status;
}

std::string get(const std::string& lines) {
  return "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}

TEST(HttpHead, RejectsAmbiguousHeads) {
  const std::pair<std::string, int> table[] = {
      {get(""), 200},
      {get("A:b\r\nC: \t d \r\nE:\r\nUtf: \xc3\xa4\r\n"), 200},
      {"GET / HTTP/1.0\r\n\r\n", 200},
      {"M-SEARCH / HTTP/1.1\r\nHost: \r\n\r\n", 200},
      // lines
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\r\nHost: h\r\n\r\n", 400},
      {get(std::string("A: b\0c\r\n", 8)), 400},
      {get("A: b\x01\r\n"), 400},
      {get("A: b\x7f\r\n"), 400},
      {get("A: b\r\n folded\r\n"), 400},
      {get("A: b\r\n\tfolded\r\n"), 400},
      {"GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {get("A : b\r\n"), 400},
      {get("A\t: b\r\n"), 400},
      {get(": b\r\n"), 400},
      {get("no colon\r\n"), 400},
      {get("N\xc3\xa4me: b\r\n"), 400},
      {get("A(b): c\r\n"), 400},
      {"\r\n\r\n", 400},
      {"\x16\x03\x01", 400},  // a TLS client
      {" GET / HTTP/1.1\r\n", 400},
      // the request line
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
      {"GET / x HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {std::string(33, 'G') + " / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\n\r\n", 505},
      // lengths
      {get("Content-Length: 5\r\n"), 200},
      {get("Content-Length: 5\r\nContent-Length: 5\r\n"), 400},
      {get("Content-Length: 5\r\ncontent-length: 6\r\n"), 400},
      {get("Content-Length: 5, 5\r\n"), 400},
      {get("Content-Length: +5\r\n"), 400},
      {get("Content-Length: -5\r\n"), 400},
      {get("Content-Length: 0x5\r\n"), 400},
      {get("Content-Length: 5 5\r\n"), 400},
      {get("Content-Length:\r\n"), 400},
      {get("Content-Length: 99999999999999999999\r\n"), 413},
      {get("Transfer-Encoding: chunked\r\n"), 200},
      {get("Transfer-Encoding: Chunked\r\n"), 200},
      {get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
      {get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {get("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {get("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {get("Transfer-Encoding: identity\r\n"), 501},
      {get("Transfer-Encoding: xchunked\r\n"), 501},
      {get("Transfer-Encoding: \x0b"
           "chunked\r\n"),
       400},
      {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      // host
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {get("Expect: 100-Continue\r\n"), 200},
      {get("Expect: the-unexpected\r\n"), 417},
      {get("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 417},
      // incomplete
      {"", 0},
      {"\r", 0},
      {"GET / HTTP/1.1\r\nHost: h\r\n", 0},
      {"GET / HTTP/1.1\r\nHost: h\r\n\r", 0},
  };
  for (const auto& [bytes, status] : table) EXPECT_EQ(status_of(bytes), status) << bytes;
}

TEST(HttpHead, ResultDoesNotDependOnHowTheBytesArrive) {
  const std::string whole = get("A: b\r\n") + "the next one";
  HeadScan scan;
  std::size_t size = 1;
  for (; size <= whole.size(); ++size) {
    const auto end = scan.next(std::string_view(whole).substr(0, size));
    ASSERT_TRUE(end);
    if (!*end) continue;
    EXPECT_EQ(**end, size);
    break;
  }
  EXPECT_EQ(whole.substr(size), "the next one");
}

TEST(HttpHead, EnforcesItsLimits) {
  const auto with_target = [](std::size_t bytes) {
    return "GET /" + std::string(bytes - 1, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n";
  };
  EXPECT_EQ(status_of(with_target(limits::kTargetBytes)), 200);
  EXPECT_EQ(status_of(with_target(limits::kTargetBytes + 1)), 414);
  EXPECT_EQ(status_of("GET /" + std::string(limits::kTargetBytes + 100, 'x')), 414);  // without waiting for its end

  const auto with_headers = [](std::size_t bytes) {
    const std::string begin = "Host: h\r\nLong: ";
    return "GET / HTTP/1.1\r\n" + begin + std::string(bytes - begin.size() - 2, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(with_headers(limits::kHeaderBytes)), 200);
  EXPECT_EQ(status_of(with_headers(limits::kHeaderBytes + 1)), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: " + std::string(limits::kHeaderBytes, 'x')), 431);
}

std::string target_of(const std::string& method, const std::string& target, const std::string& host = "h:80") {
  const std::string bytes = method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  const auto head = check_head(bytes);
  if (!head) return std::to_string(head.error().status);
  const auto read = read_target(*head);
  return read ? read->path + " " + read->query : std::to_string(read.error().status);
}

TEST(HttpHead, ReadsTargets) {
  EXPECT_EQ(target_of("GET", "/"), "/ ");
  EXPECT_EQ(target_of("GET", "/a%2Fb%c3%A4?c=%zz&d"), "/a/b\xc3\xa4 c=%zz&d");
  EXPECT_EQ(target_of("GET", "/a??b"), "/a ?b");
  EXPECT_EQ(target_of("GET", "//x/../y"), "//x/../y ");
  EXPECT_EQ(target_of("GET", "http://h:80/a?b"), "/a b");
  EXPECT_EQ(target_of("GET", "HTTP://H:80?b"), "/ b");
  EXPECT_EQ(target_of("GET", "http://h:80"), "/ ");
  EXPECT_EQ(target_of("OPTIONS", "*"), "* ");
  for (const char* bad : {"*", "a", "h:80", "ftp://h:80/", "http://other/", "http:///", "http://u@h:80/", "/a#b",
                          "/%00", "/%0a", "/%7f", "/%", "/%4", "/%4x", "/%x4", "/a%", "/%ff", "/%c3", "/\xc3\xa4"}) {
    EXPECT_EQ(target_of("GET", bad), "400") << bad;
  }
  EXPECT_EQ(target_of("CONNECT", "h:80"), "400");
}

}  // namespace
}  // namespace sb::net

// Checks the head of an HTTP/1.1 request byte by byte before a parser sees it. Pure.
//
// Beast parses heads and bodies well, but accepts input that other servers read differently: folded lines, bare line
// feeds inside values, several equal lengths. If two programs disagree about where a request ends, one request can be
// hidden inside another; so anything not strictly valid is rejected here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace sb::net {

bool is_token(std::string_view text);  // HTTP's token: method and header names

// The error response for a rejected request.
struct HttpRefusal {
  int status = 400;
  std::string_view reason;  // a literal, for people
};

// Finds the end of the head while its bytes arrive. Looks at each byte once.
class HeadScan {
 public:
  // The size of the head, or nothing if incomplete. `bytes` are the bytes of the previous call and possibly more.
  std::expected<std::optional<std::size_t>, HttpRefusal> next(std::string_view bytes);

 private:
  std::size_t scanned_ = 0;
  std::size_t line_end_ = 0;  // of the request line; 0: not seen yet
};

struct HttpHead {
  std::string_view method, target;  // views into the bytes
  std::string_view host;            // empty if absent
  bool is_http_11 = true;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  bool expects_continue = false;

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};
// Parses a complete head, including the empty line at its end.
std::expected<HttpHead, HttpRefusal> check_head(std::string_view head);

struct HttpTarget {
  std::string path;  // decoded
  std::string query;
};
// Accepts `/path?query`, `http://host/path?query` if the host matches the Host header, and `*` for OPTIONS.
std::expected<HttpTarget, HttpRefusal> read_target(const HttpHead& head);

}  // namespace sb::net

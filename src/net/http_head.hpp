// The head of an HTTP/1.1 request, looked at byte by byte before a parser believes it. Pure.
//
// Beast reads heads and bodies well, but takes what other servers read otherwise: folded lines, bare line feeds inside
// values, several lengths that agree. Where two programs may disagree about where a request ends, one can be hidden
// inside another; so what is not plainly right is refused here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace sb::net {

bool is_token(std::string_view text);  // as HTTP names methods and headers

// What a request is answered that gets no further.
struct HttpRefusal {
  int status = 400;
  std::string_view reason;  // a literal, for people
};

// Where the head ends, told as its bytes come in. Looks at each byte once.
class HeadScan {
 public:
  // How many bytes the head has, or nothing yet. `bytes` are those of before and more.
  std::expected<std::optional<std::size_t>, HttpRefusal> next(std::string_view bytes);

 private:
  std::size_t scanned_ = 0;
  std::size_t line_end_ = 0;  // of the request's line; 0: not seen yet
};

struct HttpHead {
  std::string_view method, target;  // into the bytes
  std::string_view host;            // empty where there is none
  bool is_http_11 = true;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  bool expects_continue = false;

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};
// A whole head, with the empty line at its end.
std::expected<HttpHead, HttpRefusal> check_head(std::string_view head);

struct HttpTarget {
  std::string path;  // decoded
  std::string query;
};
// `/path?query`, `http://host/path?query` where the host is that of the Host header, and `*` for OPTIONS.
std::expected<HttpTarget, HttpRefusal> read_target(const HttpHead& head);

}  // namespace sb::net

#include "net/http_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace sb::net {
namespace {

constexpr std::array kReasons{
    std::pair{200, "OK"},
    std::pair{201, "Created"},
    std::pair{202, "Accepted"},
    std::pair{204, "No Content"},
    std::pair{301, "Moved Permanently"},
    std::pair{302, "Found"},
    std::pair{303, "See Other"},
    std::pair{304, "Not Modified"},
    std::pair{307, "Temporary Redirect"},
    std::pair{308, "Permanent Redirect"},
    std::pair{400, "Bad Request"},
    std::pair{401, "Unauthorized"},
    std::pair{403, "Forbidden"},
    std::pair{404, "Not Found"},
    std::pair{405, "Method Not Allowed"},
    std::pair{406, "Not Acceptable"},
    std::pair{408, "Request Timeout"},
    std::pair{409, "Conflict"},
    std::pair{410, "Gone"},
    std::pair{413, "Content Too Large"},
    std::pair{414, "URI Too Long"},
    std::pair{415, "Unsupported Media Type"},
    std::pair{417, "Expectation Failed"},
    std::pair{421, "Misdirected Request"},
    std::pair{422, "Unprocessable Content"},
    std::pair{429, "Too Many Requests"},
    std::pair{431, "Request Header Fields Too Large"},
    std::pair{500, "Internal Server Error"},
    std::pair{501, "Not Implemented"},
    std::pair{502, "Bad Gateway"},
    std::pair{503, "Service Unavailable"},
    std::pair{504, "Gateway Timeout"},
    std::pair{505, "HTTP Version Not Supported"},
};

std::string_view reason_of(int status) {
  const auto* found = std::ranges::find(kReasons, status, &std::pair<int, const char*>::first);
  return found == kReasons.end() ? "" : found->second;
}

// We set these headers ourselves.
bool is_framing(std::string_view name) {
  return equals_ignoring_case(name, "content-length") || equals_ignoring_case(name, "transfer-encoding") ||
         equals_ignoring_case(name, "connection");
}

void append_clean(std::string& out, std::string_view text) {
  std::ranges::transform(text, std::back_inserter(out), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? ' ' : c;
  });
}

std::string start(int status, const Headers& headers, const ResponseFraming& shape) {
  SB_ASSERT(status >= 200 && status <= 599);
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_of(status));
  for (const auto& [name, value] : headers) {
    if (is_framing(name)) continue;
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
  }
  if (!shape.is_keep_alive) out += "Connection: close\r\n";
  return out;
}

bool has_chunks(const ResponseFraming& shape) {
  return shape.is_http_11 && !shape.is_head_request;
}

}  // namespace

std::string response_text(HttpResponse answer, const ResponseFraming& shape) {
  std::string out = start(answer.status, answer.headers, shape);
  const bool has_body = answer.status != 204 && answer.status != 304;
  if (has_body) out += fmt::format("Content-Length: {}\r\n", answer.body.size());
  out += "\r\n";
  if (has_body && !shape.is_head_request) out += answer.body;
  return out;
}

std::string stream_head(int status, const Headers& headers, const ResponseFraming& shape) {
  std::string out = start(status, headers, shape);
  if (has_chunks(shape)) out += "Transfer-Encoding: chunked\r\n";
  out += "\r\n";
  return out;
}

void append_piece(std::string& out, std::string_view piece, const ResponseFraming& shape) {
  if (has_chunks(shape)) fmt::format_to(std::back_inserter(out), "{:x}\r\n", piece.size());
  out += piece;
  if (has_chunks(shape)) out += "\r\n";
}

std::string_view stream_end(const ResponseFraming& shape) {
  return has_chunks(shape) ? "0\r\n\r\n" : "";
}

bool wants_close(const Headers& headers) {
  return std::ranges::any_of(headers, [](const auto& header) {
    return equals_ignoring_case(header.first, "connection") && equals_ignoring_case(header.second, "close");
  });
}

}  // namespace sb::net

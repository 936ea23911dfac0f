// Serializes an HTTP response. Pure. Internal to net/http_connection.
//
// Headers come from handlers, which may have echoed client input: a line break in a header is written as a space.
#pragma once

#include <string>
#include <string_view>

#include "net/http_listener.hpp"

namespace sb::net {

struct ResponseFraming {
  bool is_http_11 = true;
  bool is_head_request = false;
  bool is_keep_alive = true;  // whether the connection stays open for another request
};

std::string response_text(HttpResponse answer, const ResponseFraming& shape);
// A body in pieces: chunked, or for HTTP/1.0 until the connection closes.
std::string stream_head(int status, const Headers& headers, const ResponseFraming& shape);
void append_piece(std::string& out, std::string_view piece, const ResponseFraming& shape);
std::string_view stream_end(const ResponseFraming& shape);
// Whether the handler asked to close the connection.
bool wants_close(const Headers& headers);

}  // namespace sb::net

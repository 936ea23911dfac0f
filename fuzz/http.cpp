// Any bytes on a connection of the HTTP listener: it always ends, the responses are complete, and they are the same
// whether the bytes arrive together or in two pieces.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/assert.hpp"
#include "net/http_connection.hpp"

namespace {

using namespace sb::net;

void answer(const HttpRequest& request, const ExchangePtr& exchange) {
  SB_ASSERT(!request.path.empty() && !request.path.contains('\0') && request.body.size() <= 10'000);
  if (request.path == "/s") {
    exchange->begin(200, request.headers);
    exchange->send(request.body);
    exchange->end();
  } else if (request.path != "/d") {
    exchange->respond({200, request.headers, request.method + request.path + request.query + request.body});
  }
}

// The responses to the bytes, the second part of which arrives later.
std::string exchanged(std::string_view first, std::string_view second) {
  int ends[2] = {};
  SB_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  static EventLoop loop;
  static const auto host = std::make_shared<ListenerState>(ListenerState{loop, {.body_bytes = 10'000}, answer});
  host->on_empty = [] { loop.stop(); };
  start_http_connection(host, ends[0], "127.0.0.1", true, false);
  std::string out;
  const auto read_all = [&] {
    char buffer[65536];
    for (ssize_t got = 0; (got = ::read(ends[1], buffer, sizeof buffer)) > 0;)
      out.append(buffer, static_cast<std::size_t>(got));
  };
  const auto put = [&](std::string_view bytes) {
    if (!bytes.empty())
      SB_ASSERT(::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL) <= static_cast<ssize_t>(bytes.size()));
  };
  put(first);
  const auto later = loop.after(0, [&] {
    read_all();
    put(second);
    ::shutdown(ends[1], SHUT_WR);
  });
  const auto stuck = loop.after(5'000, [] { std::abort(); });
  loop.run();
  loop.cancel(stuck);
  loop.cancel(later);
  read_all();
  ::close(ends[1]);
  return out;
}

// Takes complete responses off the front until nothing is left. Ours have a length or chunks.
bool is_whole(std::string_view out) {
  while (!out.empty()) {
    if (!out.starts_with("HTTP/1.1 ")) return false;
    const auto head_end = out.find("\r\n\r\n");
    if (head_end == std::string_view::npos) return false;
    const std::string head(out.substr(0, head_end + 2));
    out.remove_prefix(head_end + 4);
    if (head.contains("\r\nConnection: close\r\n")) return true;  // ends with the connection
    if (const auto length = head.rfind("\r\nContent-Length: "); length != std::string::npos) {
      const std::size_t size = std::strtoull(head.c_str() + length + 18, nullptr, 10);
      const bool is_to_head = out.size() < size || out.starts_with("HTTP/1.1 ");
      if (!is_to_head) out.remove_prefix(size);
      if (is_to_head && !out.empty() && !out.starts_with("HTTP/1.1 ")) return false;
    } else if (head.contains("\r\nTransfer-Encoding: chunked\r\n")) {
      const auto end = out.find("0\r\n\r\n");
      if (end == std::string_view::npos) return false;
      return true;  // pieces may hold anything
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 60'000) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = bytes.empty() ? 0 : bytes.size() * data[0] / 256;
  const std::string at_once = exchanged(bytes, {});
  const std::string in_two = exchanged(bytes.substr(0, cut), bytes.substr(cut));
  SB_ASSERT(is_whole(at_once));
  SB_ASSERT(at_once == in_two || (at_once + in_two).contains("100 Continue"));
  return 0;
}

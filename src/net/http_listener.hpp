// An HTTP/1.1 server on one address: bytes to requests, answers to bytes, with every size, count and wait bounded.
//
//   HttpListener listener(loop, {.address = "127.0.0.1", .port = 0}, [&](HttpRequest request, ExchangePtr exchange) {
//     exchange->respond({.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = "hello\n"});
//   });
//   SB_TRY(listener.open());
//
// It answers by itself what is not worth a handler: a request that is malformed (400), whose headers (431), target
// (414) or body (413) are too large, that comes too slowly (408), smells of smuggling (Content-Length together with
// Transfer-Encoding, two lengths, a bad chunk: 400 and the connection closed), and connections beyond the limit (503).
// A request without Host or with two is 400; a target that names another host than Host does is too.
// Keep-alive and pipelining are kept in order. HEAD gets no body. `Expect: 100-continue` is answered.
//
// Threads: all on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "net/limits.hpp"
#include "net/loop.hpp"

namespace sb::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // as given: GET, POST, …
  std::string path;    // percent-decoded, without the query
  std::string query;   // raw, without `?`
  Headers headers;     // in order, names as given
  std::string body;
  std::string peer;  // address of the other side
  bool is_loopback = false;

  // The first of that name, compared without case.
  std::optional<std::string_view> header(std::string_view name) const;
  // How many there are: several Host, Origin or Authorization headers are suspect.
  std::size_t count(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// The answering half of one request. Whoever drops it unanswered has answered 500; dropped between begin() and end(),
// the connection breaks off, so that the other side sees that something is missing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  // One of the two, once.
  virtual void respond(HttpResponse answer) = 0;
  // Headers now, the body in pieces (chunked; for server-sent events). Nothing is buffered for long: pieces leave at
  // once.
  virtual void begin(int status, Headers headers) = 0;
  // False when the other side is gone, or so slow that more than the limit is waiting: the stream is then closed.
  virtual bool send(std::string_view piece) = 0;
  virtual void end() = 0;
  // The other side has gone (or was too slow). At most once, never after end() or respond(). A side that only stopped
  // sending looks the same, so a respond() after it is still tried.
  virtual void on_disconnect(std::function<void()> gone) = 0;
};
using ExchangePtr = std::shared_ptr<HttpExchange>;
using HttpHandler = std::function<void(HttpRequest, ExchangePtr)>;

// Smaller ones are for tests.
struct HttpLimits {
  std::size_t connections = limits::kConnections;
  std::size_t body_bytes = limits::kMessageBytes;
  std::size_t all_body_bytes = limits::kAllBodyBytes;
  std::size_t unsent_bytes = limits::kUnsentBytes;
  std::int64_t header_wait_ms = limits::kHeaderWaitMs;
  std::int64_t body_wait_ms = limits::kBodyWaitMs;
  std::int64_t idle_wait_ms = limits::kIdleWaitMs;
};

struct HttpSettings {
  std::string address = "127.0.0.1";
  int port = 0;  // 0: any free one
  HttpLimits bounds = {};
};

class HttpListener {
 public:
  HttpListener(EventLoop& loop, HttpSettings settings, HttpHandler handler);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;

  Status open();  // kConflict when the port is taken, kInvalid for an address that is none
  int port() const;
  bool is_loopback() const;
  std::size_t connections() const;
  // No new connections; open exchanges may end; calls back when the last one has, or after the wait.
  void close(std::int64_t wait_ms, std::function<void()> done);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::net

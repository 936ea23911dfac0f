// An HTTP/1.1 server on one address. Every size, count and wait is bounded.
//
//   HttpListener listener(loop, {.address = "127.0.0.1", .port = 0}, [&](HttpRequest request, ExchangePtr exchange) {
//     exchange->respond({.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = "hello\n"});
//   });
//   SB_TRY(listener.open());
//
// It handles these cases without calling the handler: a malformed request (400); headers (431), a target (414) or a
// body (413) that are too large; a request that arrives too slowly (408); suspected request smuggling (Content-Length
// together with Transfer-Encoding, two lengths, a bad chunk: 400, and the connection is closed); connections over the
// limit (503). A request without Host or with two is 400; so is a target whose host differs from Host. Keep-alive and
// pipelining preserve the order. HEAD gets no body. `Expect: 100-continue` is supported.
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
  std::string method;  // as sent: GET, POST, …
  std::string path;    // percent-decoded, without the query
  std::string query;   // raw, without `?`
  Headers headers;     // in order, names as sent
  std::string body;
  std::string peer;  // address of the client
  bool is_loopback = false;

  // The first with that name, ignoring case.
  std::optional<std::string_view> header(std::string_view name) const;
  // How many there are: several Host, Origin or Authorization headers are suspicious.
  std::size_t count(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// The response side of one request. Dropping it without a response sends a 500; dropping it between begin() and end()
// aborts the connection, so that the client sees that data is missing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  // Call one of the two, once.
  virtual void respond(HttpResponse answer) = 0;
  // Sends headers now and the body in pieces (chunked; for server-sent events). Pieces are sent immediately.
  virtual void begin(int status, Headers headers) = 0;
  // False if the client is gone, or so slow that more than the limit is waiting: the stream is then closed.
  virtual bool send(std::string_view piece) = 0;
  virtual void end() = 0;
  // The client is gone (or was too slow). Called at most once, never after end() or respond(). A client that only
  // stopped sending looks the same, so a respond() after it is still tried.
  virtual void on_disconnect(std::function<void()> gone) = 0;
};
using ExchangePtr = std::shared_ptr<HttpExchange>;
using HttpHandler = std::function<void(HttpRequest, ExchangePtr)>;

// Tests use smaller ones.
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

  Status open();  // kConflict if the port is in use, kInvalid for an invalid address
  int port() const;
  bool is_loopback() const;
  std::size_t connections() const;
  // Stops accepting connections; open exchanges may finish. Calls back after the last one, or after the wait.
  void close(std::int64_t wait_ms, std::function<void()> done);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::net

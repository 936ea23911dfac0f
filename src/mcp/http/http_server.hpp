// Streamable HTTP at one path, both eras, for any number of clients.
//
// Session era (2025-03-26 to 2025-11-25; also 2024-11-05 over this transport): POST with `Mcp-Session-Id` after
// `initialize`, GET for the stream of notifications, DELETE to end. The id is sealed and describes the session, so a
// restarted server restores the sessions of the previous process; a session that was ended, or idle for too long, is
// 404. The response to a request is JSON if the result is there immediately, or a stream of events if something else
// must be sent first or it takes long. Events of such streams have ids; a client that lost the connection reconnects
// with `Last-Event-ID`.
//
// Stateless era: each POST is independent; `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` must match the body.
// Closing the response cancels its call.
//
// Access: the Host must be a name of this server (loopback names when on loopback), and so must the Origin, if there is
// one; every client needs a bearer token. Multiple Host headers or tokens are rejected. Other paths go to `fallback`
// (404 without one), which checks tokens itself; GET /healthz returns {"name", "version"} to anyone who passed the Host
// check.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mcp/stdio_server.hpp"
#include "net/http_listener.hpp"

namespace sb::mcp {

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;
  std::string path = "/mcp";
  std::vector<std::string> hosts = {};  // additional names of the server
  // Whose token it is, or nothing. Without it every client is let in, which is refused beyond loopback.
  std::function<std::optional<Caller>(std::string_view token)> bearer = {};
  std::string token_advice = {};  // how to get a token, for the response to a client without one
  net::HttpHandler fallback = {};
};

class HttpServer {
 public:
  HttpServer(net::EventLoop& loop, ServerParts parts, HttpOptions options);
  ~HttpServer();

  Status open();
  int port() const;
  // Finishes running calls, ends streams; then calls `done`.
  void close(std::function<void()> done);
  // After close(): calls that did not end in time, whose threads still run. The destructor waits for them.
  bool has_work() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::mcp

// Streamable HTTP at one path, both eras, for any number of clients.
//
// Sessions' era (2025-03-26 to 2025-11-25; 2024-11-05 by this transport too): POST with `Mcp-Session-Id` from
// `initialize` on, GET for the stream of notifications, DELETE to end. The id is sealed and says what the session is,
// so a server started again takes up the sessions of the one before it; one that was ended, or lay idle too long, is
// 404. A request is answered by JSON when the result is there at once, by a stream of events as soon as something else
// must go first or it takes long. Events of such streams have ids; a client that lost one comes back with
// `Last-Event-ID`.
//
// Stateless era: each POST stands alone; `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` must agree with the body.
// A closed answer cancels its call.
//
// Who may come in: the Host must be this server's own name (loopback names when on loopback), an Origin where given
// must be too; beyond loopback a bearer token is demanded of everybody. Several Host headers, or several tokens, are
// refused. Other paths are given to `fallback` (404 without one); GET /healthz says {"name", "version"} to anybody who
// passed the Host check.
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
  std::vector<std::string> hosts = {};  // further names under which it may be called
  // Whom a token names, or nothing. Beyond loopback it must be there.
  std::function<std::optional<std::string>(std::string_view token)> bearer = {};
  // Also on loopback, at the path of the MCP server; others must look for themselves.
  bool needs_token = false;
  net::HttpHandler fallback = {};
};

class HttpServer {
 public:
  HttpServer(net::EventLoop& loop, ServerParts parts, HttpOptions options);
  ~HttpServer();

  Status open();
  int port() const;
  // RunningCall calls are answered, streams ended; then `done`.
  void close(std::function<void()> done);
  // After close(): calls that did not end in time, whose threads still run. Destroying this waits for them.
  bool has_work() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace sb::mcp

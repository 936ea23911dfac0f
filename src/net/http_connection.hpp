// One connection of an HttpListener: reads requests one after another, passes each to the handler, writes the response.
//
// Internal to net/http_listener. Threads: all on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "net/http_listener.hpp"

namespace sb::net {

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // The listener is closing: an idle connection ends now, one with a request ends after it.
  virtual void close_when_idle() = 0;
  // Immediately, whatever is in progress.
  virtual void abort() = 0;
};

// State shared by the connections of a listener.
struct ListenerState {
  EventLoop& loop;
  HttpLimits bounds;
  HttpHandler handler;
  std::unordered_set<HttpConnection*> connections = {};
  std::size_t body_bytes = 0;  // of request bodies in progress
  bool is_closing = false;
  bool is_over = false;                 // the listener is gone, and so are its callbacks
  std::function<void()> on_empty = {};  // the last connection closed
  std::vector<char> read_buffer = {};   // emptied after each read, so one is enough
};

// Takes over the socket. A connection over the limit only gets a 503.
void start_http_connection(std::shared_ptr<ListenerState> host, int socket, std::string peer, bool is_loopback,
                           bool is_too_many);

}  // namespace sb::net

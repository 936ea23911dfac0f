// One connection of an HttpListener: reads requests one after another, hands each to the handler, writes its answer.
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
  // The listener closes: a connection without a request ends, one with a request ends after it.
  virtual void close_when_idle() = 0;
  // At once, whatever is on the way.
  virtual void abort() = 0;
};

// What the connections of a listener share.
struct ListenerState {
  EventLoop& loop;
  HttpLimits bounds;
  HttpHandler handler;
  std::unordered_set<HttpConnection*> connections = {};
  std::size_t body_bytes = 0;  // of bodies that are coming in
  bool is_closing = false;
  bool is_over = false;                 // the listener is gone, and with it those who wait for calls
  std::function<void()> on_empty = {};  // the last connection has gone
  std::vector<char> read_buffer = {};   // nothing stays in it, so one is enough
};

// Takes the socket over. One that is too many is only told so.
void start_http_connection(std::shared_ptr<ListenerState> host, int socket, std::string peer, bool is_loopback,
                           bool is_too_many);

}  // namespace sb::net

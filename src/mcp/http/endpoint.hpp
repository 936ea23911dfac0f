// What stands behind the path of the MCP server: which request is of which era and session, and what becomes of it.
// Everything of http_server.hpp except sockets and the question who may come in.
//
// Threads: all on the loop's thread.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "mcp/http/client_sessions.hpp"
#include "mcp/http/headers.hpp"

namespace sb::mcp {

class HttpEndpoint {
 public:
  HttpEndpoint(PeerShared& shared, Seal seal, ParamHeaders param_headers);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;

  // `headers` go with every answer.
  void handle(net::HttpRequest request, net::ExchangePtr exchange, const std::string& principal, net::Headers headers);

  // The server goes down: nothing new is taken, streams end, questions are parked, running calls are answered.
  void end_of_input();
  // What still runs is cancelled.
  void close();

  bool has_work() const;
  std::size_t sessions() const { return sessions_.count(); }
  std::size_t listeners() const;

 private:
  struct IncomingRequest;   // a request on its way through here
  struct StatelessRequest;  // a stateless one that is being worked on

  void post(IncomingRequest incoming);
  void post_stateless(IncomingRequest incoming, const net::RpcRead& read);
  void post_initialize(IncomingRequest incoming, const net::RpcRead& read);
  void post_in_session(IncomingRequest incoming, const net::RpcRead& read);
  void get(IncomingRequest incoming);
  void resume(IncomingRequest incoming, HttpSession& session, const EventId& last);
  void erase(IncomingRequest incoming);
  HttpSessionPtr session_of(IncomingRequest& incoming, Value id);
  void tick();

  PeerShared& shared_;
  Ticks ticks_;
  BufferedBytes kept_;
  const StreamContext stream_context_;
  HttpSessions sessions_;
  const ParamHeaders param_headers_;
  std::set<std::shared_ptr<StatelessRequest>> running_;
  std::size_t listening_ = 0;
  net::Scheduler::Timer timer_ = 0;
  bool is_closing_ = false;
};

}  // namespace sb::mcp

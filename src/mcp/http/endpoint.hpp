// The endpoint at the path of the MCP server: assigns each request to an era and a session and handles it. All of
// http_server.hpp except sockets and access control.
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

  // `headers` are added to every response.
  void handle(net::HttpRequest request, net::ExchangePtr exchange, const Caller& caller, net::Headers headers);

  // The server is stopping: accepts nothing new, ends streams, parks questions, finishes running calls.
  void end_of_input();
  // Cancels what is still running.
  void close();

  bool has_work() const;
  std::size_t sessions() const { return sessions_.count(); }
  std::size_t listeners() const;

 private:
  struct IncomingRequest;   // a request being processed
  struct StatelessRequest;  // a stateless request being processed

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

// Forwards requests of an agent program to its model: `/model/v1/…` of the program's host.
//
// Accepts the requests of three APIs (agent/programs/proxy_wire.hpp) and nothing else, adds the real key, uses the
// model of the settings whatever the program named, streams the response back, and reports every exchange to the
// driver. A reply that may end a turn of the agent is withheld until it calls a tool or ends, because the driver may
// discard it; the model is then asked again with the same request. The program's own headers are dropped, except those
// that say how to read the request. If the upstream model is scripted, the response is made here.
//
// Rejected, in the format of the API: a wrong token, other paths, an invalid body, an exchange the driver does not
// allow.
//
// Threads: handle() on the loop's thread; its own threads process the requests. The destructor waits for them; stop()
// makes that short.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/programs/agent_host.hpp"
#include "agent/programs/proxy_wire.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"
#include "net/http_listener.hpp"
#include "net/workers.hpp"

namespace sb::host {

struct ProxyParts {
  Seams seams;
  net::HttpClient& http;
  agent::ProgramDriver& driver;
  agent::ModelSettings upstream;
  std::string token;  // what the program must send as its key
};

class ModelProxy {
 public:
  ModelProxy(net::EventLoop& loop, ProxyParts parts);
  void handle(net::HttpRequest request, const net::ExchangePtr& exchange);
  void stop() { is_stopped_ = true; }

 private:
  struct NoState {};
  struct Question {
    agent::Wire wire = agent::Wire::kMessages;
    std::string path, query, body;
    net::Headers headers;
    Value read = {};
    std::uint64_t number = 0;  // of its exchange
    bool has_begun = false;    // the head of a stream was sent
    TimestampMs sent_ms = 0;   // when something of the stream was last sent
    std::shared_ptr<std::atomic<bool>> is_gone = std::make_shared<std::atomic<bool>>(false);
  };
  // Exchanges belong to the loop's thread, so the other threads only know their numbers.
  using Waiting = std::map<std::uint64_t, net::ExchangePtr>;

  bool has_token(const net::HttpRequest& request) const;
  void work(Question& question);
  void answer(Question& question);
  // One request to the model. True: its reply was discarded, and nothing of it was sent.
  bool answer_scripted(Question& question, agent::ProxiedExchange& exchange);
  bool forward(Question& question, agent::ProxiedExchange& exchange);
  bool pass_on(Question& question, std::string_view piece, agent::ReplyMeter& meter, agent::ProxiedExchange& exchange,
               std::string& withheld);
  net::ClientRequest upstream_request(const Question& question) const;
  Result<std::string> upstream_body(const Question& question) const;
  void refuse(const Question& question, const agent::ModelError& error);
  void deliver(const Question& question, net::HttpResponse answer);
  void send(const Question& question, std::string piece, bool is_last);
  void respond(std::uint64_t number, net::HttpResponse answer);
  void on_exchange(std::uint64_t number, bool is_last, std::function<void(net::HttpExchange&)> act);

  net::EventLoop& loop_;
  const ProxyParts parts_;
  std::atomic<bool> is_stopped_ = false;
  std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  std::uint64_t last_ = 0;
  net::WorkerPool<NoState> workers_;
};

}  // namespace sb::host

// `POST /hook` of a server: the events of Claude Code, for hosts that send them over HTTP.
//
// The body is the event, the response is what a hook program would print (nothing: an empty body). A token is required
// on loopback too: an event can answer a planned question, and any page or program on the machine could send one.
//
// Threads: handle() on the loop's thread; `answer` on several others concurrently, which the destructor waits for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/seams.hpp"
#include "net/http_listener.hpp"
#include "net/workers.hpp"

namespace sb::host {

class HookEndpoint {
 public:
  using Bearer = std::function<bool(std::string_view token)>;  // whether it is valid
  using Answer = std::function<std::string(std::string event)>;
  HookEndpoint(net::EventLoop& loop, Bearer bearer, Answer answer);

  // Accepts any path; paths other than its own are 404.
  void handle(net::HttpRequest request, const net::ExchangePtr& exchange);

 private:
  struct NoState {};
  // Exchanges belong to the loop's thread, so workers only know their numbers.
  using Waiting = std::map<std::uint64_t, net::ExchangePtr>;

  net::EventLoop& loop_;
  Bearer bearer_;
  Answer answer_;
  std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  std::uint64_t last_ = 0;
  net::WorkerPool<NoState> workers_;
};

// Answers like `signalbox-hook`.
HookEndpoint::Answer answer_as_program(const Seams& seams);

}  // namespace sb::host

#include "mcp/stdio_server.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "mcp/limits.hpp"
#include "net/limits.hpp"
#include "net/line_stream.hpp"

namespace sb::mcp {

namespace {

class LinePath final : public ReplyPath {
 public:
  void set(net::LineStream* stream) { stream_ = stream; }
  void send(const Value& message) override {
    if (stream_ != nullptr) stream_->write(to_json(message));
  }
  void finish(const Value& response) override { send(response); }

 private:
  net::LineStream* stream_ = nullptr;
};

// One client on two descriptors, from its first line to the end of the last call.
class StdioServer {
 public:
  StdioServer(net::EventLoop& loop, PeerShared& shared, int input, int output, std::function<Caller()> caller)
      : loop_(loop),
        path_(std::make_shared<LinePath>()),
        peer_(std::make_shared<Peer>(shared, PeerOrigin{.current_caller = std::move(caller)})),
        stream_(loop, input, output, net::limits::kMessageBytes, net::limits::kUnsentBytes,
                {.line = [this](std::string_view line) { peer_->receive(net::read_rpc(line), path_); },
                 .too_long = [this](std::string_view) { refuse_long(); },
                 .ended = [this](net::LineStreamEnd end) { ended(end); }}) {
    path_->set(&stream_);
    peer_->set_general(path_);
    loop_.on_stop_signal([this] { shut_down(); });
  }
  ~StdioServer() { path_->set(nullptr); }
  StdioServer(const StdioServer&) = delete;

  bool has_work() const { return peer_->running() > 0; }

 private:
  void refuse_long() {
    const std::string message = fmt::format("The line is longer than {} bytes", net::limits::kMessageBytes);
    path_->send(net::rpc_error(Value(), {net::rpc::kInvalidRequest, message}));
  }

  void ended(net::LineStreamEnd end) {
    if (end != net::LineStreamEnd::kInputEnded) {
      path_->set(nullptr);
      peer_->close();
    }
    shut_down();
  }

  // Running calls may finish and respond; a question that can no longer be answered here is left to other channels.
  void shut_down() {
    if (std::exchange(is_winding_down_, true)) return;
    peer_->end_listening();
    peer_->end_of_input();
    loop_.after(limits::kLastCallsMs, [this] { stop(); });
    peer_->when_idle([this] { stop(); });
  }

  void stop() {
    if (std::exchange(is_stopping_, true)) return;
    peer_->close();
    loop_.after(limits::kLastCallsMs, [this] { loop_.stop(); });
    stream_.flush([this] { loop_.stop(); });
  }

  net::EventLoop& loop_;
  std::shared_ptr<LinePath> path_;
  std::shared_ptr<Peer> peer_;
  net::LineStream stream_;
  bool is_winding_down_ = false;
  bool is_stopping_ = false;
};

}  // namespace

int serve_stdio(ServerParts parts, int input, int output, std::function<Caller()> caller) {
  net::EventLoop loop;
  auto workers = std::make_unique<net::WorkerPool<Service>>(std::move(parts.make_service), limits::kWorkers,
                                                            limits::kWaitingCalls);
  RequestStates states(Seal(std::move(parts.seal_key)), parts.clock, parts.random, std::move(parts.is_first_use));
  ChangeWatcher watch(loop, *workers);
  PeerShared shared{parts.facts, loop, *workers, states, parts.random, parts.clock, watch, parts.hold_ms};
  StdioServer server(loop, shared, input, output, std::move(caller));
  loop.run();
  // A handler that is still running could delay the exit indefinitely; what it stores is atomic.
  if (server.has_work()) std::_Exit(EXIT_SUCCESS);
  workers.reset();  // change checks still use the rest
  return EXIT_SUCCESS;
}

}  // namespace sb::mcp

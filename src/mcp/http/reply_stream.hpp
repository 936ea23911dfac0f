// The answer to one POST, or the stream of a GET: JSON where one message is all there is, else server-sent events.
//
// EventStream is the sessions' era's. Its events are kept (within limits) and it outlives its connection: what is sent
// meanwhile waits for the client to come back with the id of the last event it saw.
// StatelessResponse is the stateless era's: no ids, nothing kept, and when the other side goes the call is cancelled.
//
// Threads: all on the loop's thread. Held by shared_ptr.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "mcp/http/sse.hpp"
#include "mcp/peer/peer.hpp"
#include "mcp/peer/revision.hpp"
#include "net/http_listener.hpp"

namespace sb::mcp {

// Bytes of events kept by all sessions of a server.
struct BufferedBytes {
  std::size_t all = 0;
};

// What silence is counted in, moved on by the server: no clock that can jump, and no timer a stream.
struct Ticks {
  static constexpr std::int64_t kStepMs = 5'000;
  std::uint64_t now = 0;

  bool have_passed(std::int64_t duration_ms, std::uint64_t since) const {
    return static_cast<std::int64_t>(now - since) * kStepMs >= duration_ms;
  }
};

// Codes of what the transport itself refuses, as the protocol's own libraries number them.
inline constexpr int kTransportError = -32000;
inline constexpr int kSessionNotFound = -32001;

net::HttpResponse json_response(int status, const Value& body, net::Headers headers = {});
net::HttpResponse refusal(int status, std::string message, net::Headers headers = {}, Value id = {},
                          int code = kTransportError);

class EventStream;
// What a stream tells the session it belongs to.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void on_streaming(std::shared_ptr<EventStream> stream) = 0;  // from now on a client may come back for it
  virtual void on_kept() = 0;                                          // it keeps more than before
};

struct StreamContext {
  net::Scheduler& scheduler;
  Ticks& ticks;
  BufferedBytes& kept;
};

class EventStream : public ReplyPath, public std::enable_shared_from_this<EventStream> {
 public:
  // Events are counted on from `first`. `has_priming`: the client's revision knows events without data.
  EventStream(StreamContext site, EventId first, bool has_priming, std::weak_ptr<StreamOwner> owner);
  ~EventStream() override;

  // A POST: JSON if the response comes first and soon, events otherwise. The headers go with either.
  void answer(net::ExchangePtr exchange, net::Headers headers);
  // A GET: events at once, beginning with those kept behind `after` (nothing: with those never sent). A connection it
  // still had is ended.
  void attach(net::ExchangePtr exchange, std::optional<std::uint64_t> after, net::Headers headers);

  void send(const Value& message) override;
  void finish(const Value& response) override;
  void finish_silently() override { end(); }
  // Ends the connection and goes on collecting; only where the client has an id to come back with.
  void close_stream() override;

  // No more events, the connection ended.
  void end();
  void keep_alive();

  std::uint64_t number() const { return next_.stream; }
  bool is_attached() const { return exchange_ != nullptr; }
  bool is_finished() const { return is_finished_; }
  bool has_unsent() const;
  // Finished, and a client that saw the event `after` has seen all.
  bool has_nothing_after(std::uint64_t after) const { return is_finished_ && after >= next_.number; }

  std::size_t kept_bytes() const { return kept_bytes_; }
  // One kept event less, the oldest that was sent before the oldest that was not; false when none is left (a response
  // that was never sent counts only when `even_response`).
  bool drop_oldest(bool even_response);

 private:
  struct BufferedEvent {
    std::uint64_t number;
    std::string text;
    bool is_sent;
    bool is_response;
  };
  void hold(net::ExchangePtr exchange, net::Headers headers);
  void begin_events(std::uint64_t behind);
  void add(const Value& message, bool is_response);
  void write(std::string_view text);
  void end_connection();
  void stop_timer();

  StreamContext stream_context_;
  EventId next_;
  const bool has_priming_;
  std::weak_ptr<StreamOwner> owner_;
  net::ExchangePtr exchange_;
  net::Headers headers_;
  std::deque<BufferedEvent> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t last_written_ = 0;  // tick
  net::Scheduler::Timer timer_ = 0;
  bool is_streaming_ = false;
  bool is_gone_ = false;
  bool is_finished_ = false;
};

class StatelessResponse : public ReplyPath, public std::enable_shared_from_this<StatelessResponse> {
 public:
  StatelessResponse(StreamContext site, net::ExchangePtr exchange, net::Headers headers);
  ~StatelessResponse() override;
  // Before anything is sent. `over` is called once: answered, or (true) the other side left before that.
  void start(std::function<void(bool is_gone)> over);

  void send(const Value& message) override;
  void finish(const Value& response) override;
  void finish_silently() override { end(); }
  void end();
  void keep_alive();
  bool is_open() const { return exchange_ != nullptr; }

 private:
  void begin_events();
  void finish_once(bool is_gone);

  StreamContext stream_context_;
  net::ExchangePtr exchange_;
  net::Headers headers_;
  std::function<void(bool)> over_;
  std::uint64_t last_written_ = 0;
  net::Scheduler::Timer timer_ = 0;
  bool is_streaming_ = false;
};

}  // namespace sb::mcp

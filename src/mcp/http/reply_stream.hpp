// The response to one POST, or the stream of a GET: JSON if it is a single message, otherwise server-sent events.
//
// EventStream is for the session era. Its events are kept (within limits) and it outlives its connection: events sent
// meanwhile wait until the client reconnects with the id of the last event it saw.
// StatelessResponse is for the stateless era: no ids, nothing kept, and if the client disconnects, the call is
// cancelled.
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

// Ticks for measuring silence, advanced by the server: no clock that can jump, and no timer per stream.
struct Ticks {
  static constexpr std::int64_t kStepMs = 5'000;
  std::uint64_t now = 0;

  bool have_passed(std::int64_t duration_ms, std::uint64_t since) const {
    return static_cast<std::int64_t>(now - since) * kStepMs >= duration_ms;
  }
};

// Error codes of the transport itself, numbered as in the protocol's own libraries.
inline constexpr int kTransportError = -32000;
inline constexpr int kSessionNotFound = -32001;

net::HttpResponse json_response(int status, const Value& body, net::Headers headers = {});
net::HttpResponse refusal(int status, std::string message, net::Headers headers = {}, Value id = {},
                          int code = kTransportError);

class EventStream;
// What a stream reports to its session.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void on_streaming(std::shared_ptr<EventStream> stream) = 0;  // from now on a client may reconnect to it
  virtual void on_kept() = 0;                                          // it keeps more bytes than before
};

struct StreamContext {
  net::Scheduler& scheduler;
  Ticks& ticks;
  BufferedBytes& kept;
};

class EventStream : public ReplyPath, public std::enable_shared_from_this<EventStream> {
 public:
  // Events are numbered from `first`. `has_priming`: the client's revision supports events without data.
  EventStream(StreamContext site, EventId first, bool has_priming, std::weak_ptr<StreamOwner> owner);
  ~EventStream() override;

  // A POST: JSON if the response comes first and soon, otherwise events. The headers are used for both.
  void answer(net::ExchangePtr exchange, net::Headers headers);
  // A GET: events immediately, starting with those kept after `after` (nothing: with those never sent). Closes a
  // previous connection.
  void attach(net::ExchangePtr exchange, std::optional<std::uint64_t> after, net::Headers headers);

  void send(const Value& message) override;
  void finish(const Value& response) override;
  void finish_silently() override { end(); }
  // Closes the connection and continues to collect events; only if the client has an id to reconnect with.
  void close_stream() override;

  // No more events; closes the connection.
  void end();
  void keep_alive();

  std::uint64_t number() const { return next_.stream; }
  bool is_attached() const { return exchange_ != nullptr; }
  bool is_finished() const { return is_finished_; }
  bool has_unsent() const;
  // Finished, and a client that saw the event `after` has seen everything.
  bool has_nothing_after(std::uint64_t after) const { return is_finished_ && after >= next_.number; }

  std::size_t kept_bytes() const { return kept_bytes_; }
  // Drops one kept event: the oldest sent one, otherwise the oldest unsent one; false if none is left (an unsent
  // response is dropped only with `even_response`).
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
  // Before anything is sent. `over` is called once: answered, or (true) the client disconnected before that.
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

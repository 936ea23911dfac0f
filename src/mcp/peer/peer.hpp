// One client, independent of the transport: messages in, messages out, both eras. No bytes and no sockets here.
//
// On stdio there is one Peer for the whole connection, and each message shows its era: `_meta` with a protocol version
// makes it stateless, anything else belongs to the session that `initialize` opened. Over HTTP a session of the session
// era is one Peer, and each stateless request has its own.
//
// It handles itself: initialize, ping, server/discover, logging/setLevel, resources/subscribe and unsubscribe,
// subscriptions/listen, the client's notifications (initialized, cancelled, progress, roots/list_changed), and the
// client's responses to our requests. Everything else goes to a worker (requests.hpp). It sends progress and log
// messages if the client wants them, asks what handlers ask (mcp/call.hpp), and passes late answers on.
//
// Rejected: ids already in use, batches if the revision has none, unknown methods and methods of the other era,
// unsupported versions, requests before `initialize`, too many concurrent calls. Unknown notifications are ignored.
//
// Threads: all on the loop's thread. Held by shared_ptr; work that outlives the connection keeps it alive until done.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mcp/limits.hpp"
#include "mcp/peer/change_watch.hpp"
#include "mcp/peer/seal.hpp"
#include "mcp/service.hpp"
#include "net/json_rpc.hpp"
#include "net/scheduler.hpp"
#include "net/workers.hpp"

namespace sb::mcp {

// Where messages about one request go: its response, and before that its notifications and requests. On stdio
// everything goes to the one output; over HTTP to the response to the request.
class ReplyPath {
 public:
  virtual ~ReplyPath() = default;
  virtual void send(const Value& message) = 0;  // a notification or request, before the response
  virtual void finish(const Value& response) = 0;
  // Instead of finish(): this request gets no response, because its client cancelled it.
  virtual void finish_silently() {}
  virtual void close_stream() {}
};
using ReplyPathPtr = std::shared_ptr<ReplyPath>;

// What all peers of a server share.
struct PeerShared {
  const ServerFacts& facts;
  net::Scheduler& scheduler;
  net::WorkerPool<Service>& workers;
  RequestStates& states;
  Random& random;
  // A monotonic clock would do; this is the one we have.
  Clock& clock;
  ChangeWatcher& watch;
  std::int64_t hold_ms = limits::kHoldMs;  // how long a call is kept open for a person
};

struct PeerOrigin {
  Caller caller = {};
  // Asked at every call, where the caller may change during the connection; otherwise empty.
  std::function<Caller()> current_caller = {};
  bool is_single_request = false;  // HTTP, stateless: ends with its request
};

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(PeerShared& shared, PeerOrigin origin);
  virtual ~Peer();

  // One message, or a batch. A response or notification in it needs no reply path and gets none. The path is finished
  // exactly once per request, in any order; for a batch once, with the array of responses.
  void receive(const net::RpcRead& read, ReplyPathPtr reply);
  // Where notifications go that belong to no request of the session era (list changes, updated resources): stdio's
  // output, the GET stream of HTTP. Null: nowhere at present.
  void set_general(ReplyPathPtr general);
  // No more messages will arrive, though output is still delivered: parks questions immediately and finishes their
  // calls.
  void end_of_input();
  // The server is stopping: ends streams opened by subscriptions/listen with their result.
  void end_listening();
  // The client is gone: cancels running calls, parks questions.
  void close();
  // Calls back once, as soon as no call is running; immediately if none is.
  void when_idle(std::function<void()> idle);
  // The path of that request is gone, though the client may still be there (stateless HTTP: closing the response
  // cancels the call).
  void cancel_all();

  bool is_initialized() const;
  Revision revision() const;  // of the session; before `initialize`, the newest of the session era
  std::size_t running() const;

  // For HTTP's session ids: the session's facts as a small value, and restoring a session from them, without
  // `initialize`.
  Value saved() const;
  bool restore(const Value& saved);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::mcp

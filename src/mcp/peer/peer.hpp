// One client, whatever it is connected by: messages in, messages out, both eras. No bytes and no sockets here.
//
// On stdio there is one Peer for the whole connection, and each message says by itself which era it is of: `_meta` with
// a protocol version makes it stateless, anything else belongs to the session that `initialize` opened. Over HTTP a
// session of the old era is one Peer, and a stateless request has one for itself.
//
// It answers by itself: initialize, ping, server/discover, logging/setLevel, resources/subscribe and unsubscribe,
// subscriptions/listen, the client's notifications (initialized, cancelled, progress, roots/list_changed), and the
// client's answers to our requests. All else goes to a worker (requests.hpp). It sends progress and log messages where
// the client wants them, asks what handlers ask (mcp/call.hpp), and puts late answers where they belong.
//
// Refused: ids in use already, batches where the revision has none, methods unknown or of the other era, versions we do
// not have, requests before `initialize`, too many calls at once. Unknown notifications are ignored.
//
// Threads: all on the loop's thread. Held by shared_ptr; work that outlives the connection keeps it until done.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mcp/peer/change_watch.hpp"
#include "mcp/peer/seal.hpp"
#include "mcp/service.hpp"
#include "net/json_rpc.hpp"
#include "net/scheduler.hpp"
#include "net/workers.hpp"

namespace sb::mcp {

// Where messages about one request go: its response, and notifications and requests that belong to it before that. On
// stdio all are the one output; over HTTP it is the request's own answer.
class ReplyPath {
 public:
  virtual ~ReplyPath() = default;
  virtual void send(const Value& message) = 0;  // a notification or request, before the response
  virtual void finish(const Value& response) = 0;
  // Instead of finish(): there is no response to this request, its client took it back.
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
  // A monotonic clock would do; this is the one there is.
  Clock& clock;
  ChangeWatcher& watch;
};

struct PeerOrigin {
  std::string principal = "local";
  bool is_single_request = false;  // HTTP, stateless: closes with its request
};

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(PeerShared& shared, PeerOrigin origin);
  virtual ~Peer();

  // One message, or a batch as it came. A response or notification in it needs no reply path and gets none. The path is
  // finished exactly once per request, in any order; for a batch once, with the array of responses.
  void receive(const net::RpcRead& read, ReplyPathPtr reply);
  // Where notifications go that belong to no request of the old era (list changes, updated resources): stdio's output,
  // the GET stream of HTTP. Null: nowhere now.
  void set_general(ReplyPathPtr general);
  // No message will come any more, though what is sent still arrives: questions are parked at once, the calls behind
  // them answered.
  void end_of_input();
  // The server goes down: streams opened by subscriptions/listen are ended with their result.
  void end_listening();
  // The client is gone: running calls are cancelled, questions parked.
  void close();
  // Calls back once, as soon as no call is running; at once when none is.
  void when_idle(std::function<void()> idle);
  // The path of that request is gone, though the client may not be (stateless HTTP: a closed answer is a cancelled
  // call).
  void cancel_all();

  bool is_initialized() const;
  Revision revision() const;  // of the session; the newest of its era before `initialize`
  std::size_t running() const;

  // For HTTP's session ids: the session's facts as a small value, and the session as they say, without `initialize`.
  Value saved() const;
  bool restore(const Value& saved);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sb::mcp

// The internals of a Peer, shared by its files: peer.cpp (incoming messages, and those it handles itself), calls.cpp
// (requests that run on a worker, and their results), asking.cpp (questions to the client), listening.cpp (change
// notifications). Not for use elsewhere.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/peer/peer.hpp"

namespace sb::mcp {

inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

// One request that a worker handles, from its arrival to its response; possibly with several rounds of questions.
struct RunningCall {
  std::uint64_t number = 0;
  std::shared_ptr<const net::RpcRequest> request;
  ReplyPathPtr reply;  // null: no response is wanted any more
  Call call;           // as each round starts; `inputs` grow
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  Value progress_token;  // null: no progress wanted
  std::optional<double> last_progress;
  std::optional<LogLevel> log_level;        // stateless era: the lowest level wanted
  std::optional<std::string> sealed_state;  // stateless era: as sent with the request

  // Session era, while the client is asked. `open` maps our request's id to the key in the InputRequired.
  std::optional<InputRequired> ask;
  std::map<std::string, std::string, std::less<>> open;
  std::size_t rounds = 0;
  bool has_waited_enough = false;
  net::Scheduler::Timer hold_timer = 0;
  net::Scheduler::Timer moot_timer = 0;
};
using RunningCallPtr = std::shared_ptr<RunningCall>;

// A question that its call gave up; what the handler needs if an answer arrives after all.
struct LateCall {
  std::shared_ptr<const net::RpcRequest> request;
  Call call;
  std::size_t bytes = 0;  // of the request
};
struct LateQuestion {
  std::string id;   // of our request
  std::string key;  // in the InputRequired
  TimestampMs asked = 0;
  std::shared_ptr<LateCall> call;
};

struct Listener {
  std::uint64_t number = 0;
  Value id;
  ReplyPathPtr reply;
  ChangeWatcher::Subscription subscription;
};

// The context of a request: its era and its sender.
struct Sender {
  Revision revision = Revision::k2025_11_25;
  ClientCapabilities capabilities;
  std::string client_name;
  std::optional<LogLevel> log_level;
};

struct Peer::Parts {
  Parts(Peer& peer, PeerShared& use_shared, PeerOrigin use_origin)
      : self(peer), shared(use_shared), origin(std::move(use_origin)) {}

  // peer.cpp
  void receive(const net::RpcMessage& message, const ReplyPathPtr& reply, bool is_in_batch);
  void request(const net::RpcRequest& request, const ReplyPathPtr& reply, bool is_in_batch);
  void notification(const net::RpcNotification& notification);
  std::optional<Value> initialize(const Value& params, RpcError& error);
  // Handles a method that is answered immediately; nothing if the method is not one of these.
  std::optional<std::variant<Value, RpcError>> answer_immediately(const net::RpcRequest& request, const Sender& sender,
                                                                  bool is_stateless_request);
  bool is_id_in_use(const Value& id) const;

  // calls.cpp
  class Sink;
  void start(const net::RpcRequest& request, Sender sender, const ReplyPathPtr& reply);
  void work(const RunningCallPtr& running);
  void on_worker_done(std::uint64_t number, HandlerResult outcome, Call call);
  void finish(const RunningCallPtr& running, const std::variant<Value, RpcError>& outcome);
  void show_input_required(const RunningCallPtr& running, InputRequired ask);
  void cancel(const RunningCallPtr& running);
  void progress(std::uint64_t number, double progress, std::optional<double> total, const std::string& message);
  void log(std::uint64_t number, LogLevel level, const std::string& logger, const Value& data);
  RunningCallPtr find(std::uint64_t number) const;
  void notify_idle();

  // asking.cpp
  void ask_client(const RunningCallPtr& running, InputRequired ask);
  void answer_from_client(const net::RpcResponse& response);
  void run_late(const std::shared_ptr<LateCall>& late);
  // What happens to the questions that the client has not answered: withdrawn ones it is asked to close; an answer to a
  // kept one is handled whenever it comes.
  enum class Unanswered { kKept, kWithdrawn, kKeptAndWithdrawn };
  void give_up(const RunningCallPtr& running, Unanswered questions);
  void resume(const RunningCallPtr& running);
  void start_hold_timer(const RunningCallPtr& running);
  void schedule_moot_check(const RunningCallPtr& running);
  void check_moot(const RunningCallPtr& running);
  void keep_late(const RunningCallPtr& running);
  void send_cancelled(const RunningCallPtr& running);

  // listening.cpp
  void subscribe(const net::RpcRequest& request, const ReplyPathPtr& reply);
  void unsubscribe(const net::RpcRequest& request, const ReplyPathPtr& reply);
  void listen(const net::RpcRequest& request, const ReplyPathPtr& reply);
  void acknowledge(std::uint64_t number, const Value& filter, ChangeWatcher::Fingerprints seen);
  void watch_lists();
  // Fingerprints of those that exist, taken on a worker, then calls `done` here; false if no worker is free.
  bool take_fingerprints(std::vector<std::string> what, std::function<void(Parts&, ChangeWatcher::Fingerprints)> done);

  Peer& self;
  PeerShared& shared;
  PeerOrigin origin;

  bool is_closed = false;
  bool can_ask = true;

  // The session, if there is one.
  bool is_initialized = false;
  Sender session;
  LogLevel session_level = LogLevel::kInfo;
  ReplyPathPtr general;
  ChangeWatcher::Subscription lists;
  bool is_watching_lists = false;
  std::map<std::string, ChangeWatcher::Subscription, std::less<>> subscriptions;  // by URI

  std::uint64_t last_number = 0;
  std::map<std::uint64_t, RunningCallPtr> running;
  std::map<std::string, std::uint64_t, std::less<>> by_id;  // the request's id as JSON, to its number
  std::size_t background_jobs = 0;                          // other work for this client, running or queued
  std::vector<std::function<void()>> idle;

  std::string question_prefix;  // random, so that answers to another server's questions never match
  std::uint64_t last_question = 0;
  std::map<std::string, std::uint64_t, std::less<>> asked;  // our request's id, to the call
  std::deque<LateQuestion> late;

  std::map<std::string, Listener, std::less<>> listeners;  // by the request's id as JSON
};

// `params` may have it or not; {} if it is not an object.
const Value& meta_of(const Value& params);
// What a worker does with a request: calls the handler, and again for questions this client does not support. Never
// throws.
HandlerResult run_handler(Service& service, const ServerFacts& facts, const net::RpcRequest& request, Call& call);
// The method's response, with the members the era adds.
void reply_result(const ReplyPathPtr& reply, const Value& id, Value result);
void reply_error(const ReplyPathPtr& reply, const Value& id, const RpcError& error);

}  // namespace sb::mcp
